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
]
