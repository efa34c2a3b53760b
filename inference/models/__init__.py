"""Language models behind one contract: a server that Tide starts, one that the person runs, or in-process."""

from inference.models.contract import (
    Cancelled,
    Finish,
    LanguageModel,
    Message,
    OnReply,
    PromptTooLong,
    Reply,
    Request,
    Role,
)
from inference.models.hardware import find_hardware
from inference.models.opening import open_model
from inference.models.profiles import choose, fetch, find_profile, fits, load_profiles, weights
from inference.models.trace import Trace, traced

__all__ = [
    "Cancelled",
    "Finish",
    "LanguageModel",
    "Message",
    "OnReply",
    "PromptTooLong",
    "Reply",
    "Request",
    "Role",
    "Trace",
    "choose",
    "fetch",
    "find_hardware",
    "find_profile",
    "fits",
    "load_profiles",
    "open_model",
    "traced",
    "weights",
]
