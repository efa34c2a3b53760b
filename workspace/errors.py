"""The error that is for the person: everything else that is raised is a fault of ours."""


class UserError(Exception):
    """One line that says what is wrong and what to do next; shown without a traceback."""


class WorkerBusy(UserError):
    """Another process syncs, reads, indexes or discovers at the moment."""
