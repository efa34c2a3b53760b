"""The person's world on this machine: artifacts, profile, findings, actions, settings, and their store."""

from workspace.accounts import Account, Accounts
from workspace.action import ACTIONS, RECIPIENTS, REFERENCES, TIMES, Action, Effect, Parameters
from workspace.artifact import Artifact, Change, Gone, Kind, Person, Put, Role, Trust
from workspace.connector import Batch, Connector, Cursor
from workspace.errors import (
    CertificateRefused,
    KeyringLocked,
    QuotaReached,
    SecretCommandFailed,
    SecretUnavailable,
    ServerAway,
    SignInFailed,
    SourceEmpty,
    SourceProblem,
    UserError,
    WorkerBusy,
)
from workspace.finding import Call, Dropped, Evidence, Finding, ProofCount, RoundCount, Run, Stakes, State
from workspace.folders import Folders, expanded, write_private
from workspace.note import Commitment, Note
from workspace.profile import Organization, Persona, Profile, Relationship, WorldModel
from workspace.secrets import Keyring, SecretStore
from workspace.settings import Settings

__all__ = [
    "ACTIONS",
    "RECIPIENTS",
    "REFERENCES",
    "TIMES",
    "Account",
    "Accounts",
    "Action",
    "Artifact",
    "Batch",
    "Call",
    "CertificateRefused",
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
    "Keyring",
    "KeyringLocked",
    "Kind",
    "Note",
    "Organization",
    "Parameters",
    "Person",
    "Persona",
    "Profile",
    "ProofCount",
    "Put",
    "QuotaReached",
    "Relationship",
    "Role",
    "RoundCount",
    "Run",
    "SecretCommandFailed",
    "SecretStore",
    "SecretUnavailable",
    "ServerAway",
    "Settings",
    "SignInFailed",
    "SourceEmpty",
    "SourceProblem",
    "Stakes",
    "State",
    "Trust",
    "UserError",
    "WorkerBusy",
    "WorldModel",
    "expanded",
    "write_private",
]
