"""The person's world on this machine: artifacts, profile, findings, actions, settings, and their store."""

from workspace.action import ACTIONS, RECIPIENTS, REFERENCES, TIMES, Action, Effect, Parameters
from workspace.artifact import Artifact, Change, Gone, Kind, Person, Put, Role, Trust
from workspace.connector import Batch, Connector, Cursor, SourceEmpty
from workspace.errors import UserError, WorkerBusy
from workspace.finding import Call, Dropped, Evidence, Finding, RoundCount, Run, State
from workspace.folders import Folders, expanded, write_private
from workspace.note import Commitment, Note
from workspace.profile import Organization, Persona, Profile, Relationship, WorldModel
from workspace.settings import Settings

__all__ = [
    "ACTIONS",
    "RECIPIENTS",
    "REFERENCES",
    "TIMES",
    "Action",
    "Artifact",
    "Batch",
    "Call",
    "Change",
    "Commitment",
    "Connector",
    "Cursor",
    "Dropped",
    "Effect",
    "Evidence",
    "Finding",
    "Folders",
    "Gone",
    "Kind",
    "Note",
    "Organization",
    "Parameters",
    "Person",
    "Persona",
    "Profile",
    "Put",
    "Relationship",
    "Role",
    "RoundCount",
    "Run",
    "Settings",
    "SourceEmpty",
    "State",
    "Trust",
    "UserError",
    "WorkerBusy",
    "WorldModel",
    "expanded",
    "write_private",
]
