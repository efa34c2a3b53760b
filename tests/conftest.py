"""What all tests need."""

import signal

# A shell that starts the tests in the background has them ignore Ctrl-C, and what they start would too.
signal.signal(signal.SIGINT, signal.default_int_handler)
