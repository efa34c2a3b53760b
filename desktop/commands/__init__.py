"""The parts of the `tide` command, by topic. Each registers its commands; none imports anything heavy at once."""
