"""What the person sees and uses: the `tide` command, and later the window."""
