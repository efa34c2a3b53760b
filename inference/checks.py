"""The checks by program that every candidate passes before it is shown, whoever proposed it.

They decide nothing about meaning. They make sure that what is claimed is there: the artifacts, the words, an
action of the catalogue that refers to real things, people and times, and something that is not yet known.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from inference.addresses import written_in
from workspace import (
    RECIPIENTS,
    REFERENCES,
    TIMES,
    Artifact,
    Evidence,
    Finding,
    Kind,
    Parameters,
    Profile,
    Role,
    State,
    Trust,
    UserError,
)

MIN_WORDS = 3
MIN_IDEOGRAPHS = 6
MAX_QUOTE = 400
SAME_MATTER = 0.5
HORIZON = timedelta(days=731)


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a candidate is not shown: the check that it failed, and what exactly was wrong."""

    check: str
    detail: str


def check(
    finding: Finding,
    artifacts: Mapping[int, Artifact],
    profile: Profile,
    now: datetime,
    known_addresses: frozenset[str],
    known: Sequence[Finding],
    templates: frozenset[str],
) -> Rejection | None:
    """The first check that the candidate fails, in a fixed order, or None where it passes all.

    `artifacts` holds at least those that the candidate names, by row id. `known_addresses` are the addresses
    that may be written to, in lower case (see `addresses`); those of cited artifacts are added. `known` are
    all earlier findings in every state. `templates` are the ids that exist.
    """
    case = _Case(finding, artifacts, profile, now, known_addresses, known, templates)
    for name, examine in _CHECKS:
        detail = examine(case)
        if detail:
            return Rejection(name, detail)
    return None


def addresses(artifacts: Iterable[Artifact], profile: Profile) -> frozenset[str]:
    """All addresses that the core knows: the people of those of the artifacts that are trusted, the addresses that
    stand in their texts, and the people of the profile. Whom strangers alone name is nobody known."""
    found = profile.known | set(profile.persona.emails)
    for artifact in artifacts:
        if artifact.trust is not Trust.UNKNOWN:
            found |= {person.email for person in artifact.people if person.email} | written_in(artifact)
    return frozenset(found)


def quote_fault(evidence: Evidence, artifact: Artifact, zone: ZoneInfo) -> str:
    """What is wrong with a quote of this artifact; "" where it stands there word for word.

    Runs of white space, the forms of quotation marks and dashes, compatibility forms (NFKC) and invisible
    characters make no difference. A quote has at least three words (six characters in a script without
    spaces) or is the whole field, so that "the" proves nothing, and at most 400 characters. A fact of the
    structure, such as `start`, is quoted whole.
    """
    quote = _fold(evidence.quote)
    if not quote:
        return "the quote is empty"
    if len(quote) > MAX_QUOTE:
        return f"the quote has {len(quote)} characters, more than {MAX_QUOTE}"
    if evidence.where in _PROSE:
        field = _fold(str(getattr(artifact, evidence.where)))
        if quote == field:
            return ""
        if len(quote.split()) < MIN_WORDS and len(_IDEOGRAPH.findall(quote)) < MIN_IDEOGRAPHS:
            return f"the quote {evidence.quote!r} is too short to prove anything"
        return "" if _stands(quote, field) else f"{evidence.quote!r} does not stand in the {evidence.where}"
    facts = _facts(artifact, evidence.where, zone)
    if facts is None:
        return f"artifacts have no part {evidence.where!r}"
    if quote in {_fold(fact) for fact in facts}:
        return ""
    return f"{evidence.quote!r} is not the {evidence.where}"


def address_of(recipient: str) -> str:
    """The address in `Name <address>` or in a bare address, in lower case; "" where there is not exactly one."""
    parts = _ANGLED.findall(recipient)
    if len(parts) > 1 or _CONTROL.search(recipient):
        return ""
    address = (parts[0] if parts else recipient).strip().lower()
    return address if _ADDRESS.fullmatch(address) else ""


def target(finding: Finding) -> tuple[str, str] | None:
    """The action and the artifact that it is done to, None for an action without one."""
    for name in REFERENCES:
        if name in finding.action.parameters:
            return finding.action.function_name, str(finding.action.parameters[name])
    return None


def matter(row: int, artifacts: Mapping[int, Artifact], *, threads: bool) -> object:
    """What an artifact is of: its UID, with `threads` its thread, else the artifact itself."""
    artifact = artifacts.get(row)
    if artifact is None:
        return row
    return artifact.uid or (artifact.thread if threads else "") or row


def jaccard(a: frozenset[object], b: frozenset[object]) -> float:
    """How much two sets share, 0 to 1."""
    return len(a & b) / len(a | b) if a or b else 0.0


@dataclass(frozen=True, slots=True)
class _Case:
    finding: Finding
    artifacts: Mapping[int, Artifact]
    profile: Profile
    now: datetime
    known_addresses: frozenset[str]
    known: Sequence[Finding]
    templates: frozenset[str]

    @property
    def parameters(self) -> Parameters:
        return self.finding.action.typed()

    @property
    def cited(self) -> list[Artifact]:
        return [self.artifacts[row] for row in sorted(self.finding.artifacts)]


def _template(case: _Case) -> str:
    if case.finding.template in case.templates:
        return ""
    return f"there is no template {case.finding.template!r}"


def _evidence(case: _Case) -> str:
    said = [(item.artifact, _fold(item.quote)) for item in case.finding.evidence]
    if not said:
        return "nothing is cited"
    return "the same words are cited twice" if len(set(said)) < len(said) else ""


def _artifacts(case: _Case) -> str:
    missing = sorted(row for row in case.finding.artifacts if row not in case.artifacts)
    return f"no artifact a{missing[0]}" if missing else ""


def _quotes(case: _Case) -> str:
    for item in case.finding.evidence:
        fault = quote_fault(item, case.artifacts[item.artifact], case.profile.zone)
        if fault:
            return f"a{item.artifact}: {fault}"
    return ""


def _action(case: _Case) -> str:
    try:
        parameters = case.finding.action.typed()
    except UserError as error:
        return str(error)
    path = getattr(parameters, "path", "")
    if _OUTSIDE.match(path) or ".." in re.split(r"[/\\]", path):
        return f"the path {path!r} leads out of the folder"
    return ""


def _references(case: _Case) -> str:
    for name, kind in REFERENCES.items():
        label = getattr(case.parameters, name, None)
        if label is None:
            continue
        artifact = case.artifacts.get(int(label[1:]))
        if artifact is None:
            return f"{name}: no artifact {label}"
        if artifact.kind != kind:
            return f"{name}: {label} is a {artifact.kind}, not a {kind}"
        if not any(_belongs(artifact, cited) for cited in case.cited):
            return f"{name}: {label} has nothing to do with what is cited"
    return ""


def _recipients(case: _Case) -> str:
    allowed = case.known_addresses | addresses(case.cited, case.profile)
    for name in RECIPIENTS:
        value = getattr(case.parameters, name, None)
        if value is None:
            continue
        people = [value] if isinstance(value, str) else value
        if not people and name in _NEEDED:
            return f"{name}: nobody is named"
        for person in people:
            address = address_of(person)
            if not address:
                return f"{name}: {person!r} is not one address"
            if address not in allowed:
                return f"{name}: {address} is nobody known"
    return _answered_fault(case, allowed)


def _answered_fault(case: _Case, allowed: frozenset[str]) -> str:
    """What is wrong with whom an answer goes to, which is who wrote the mail or invites by it."""
    for name in _ANSWERED:
        label = getattr(case.parameters, name, None)
        artifact = None if label is None else case.artifacts[int(label[1:])]
        if artifact is None or not (artifact.kind is Kind.EMAIL or artifact.is_invitation):
            continue
        if artifact.trust is Trust.UNKNOWN and not (artifact.sender and artifact.sender.email in allowed):
            return f"{name}: who wrote {label} is nobody known"
    return ""


def _times(case: _Case) -> str:
    settled = getattr(case.parameters, "status", "") == "done"
    for name in TIMES:
        value = getattr(case.parameters, name, None)
        if value is not None:
            fault = _time_fault(value, case.profile.zone, case.now, past_allowed=settled)
            if fault:
                return f"{name}: {value} {fault}"
    return ""


def _passage(case: _Case) -> str:
    find = getattr(case.parameters, "find", None)
    if find is None:
        return ""
    if find == getattr(case.parameters, "replace", ""):
        return "the passage is replaced by itself"
    label = getattr(case.parameters, "document", "a0")
    times = case.artifacts[int(label[1:])].text.count(find)
    return "" if times == 1 else f"the passage stands {times} times in {label}, not once"


def _novelty(case: _Case) -> str:
    finding = case.finding
    for other in case.known:
        lapsed = other.state is State.LAPSED
        # What was computed is observed no more once it has lapsed: another trouble may befall the same things.
        if finding.artifacts == other.artifacts and not (lapsed and finding.observed and other.observed):
            return f"the same artifacts as finding {other.id} ({other.state})"
        if not lapsed and target(finding) is not None and target(finding) == target(other):
            return f"the same action as finding {other.id} ({other.state})"
        if finding.template == other.template:
            mine, theirs = _matters(finding, other, case.artifacts)
            if jaccard(mine, theirs) >= SAME_MATTER:
                return f"the same matter as finding {other.id} ({other.state})"
    return ""


_CHECKS = (
    ("template", _template),
    ("artifacts", _artifacts),
    ("evidence", _evidence),
    ("quote", _quotes),
    ("action", _action),
    ("references", _references),
    ("recipients", _recipients),
    ("times", _times),
    ("passage", _passage),
    ("known", _novelty),
)
CHECKS = tuple(name for name, _ in _CHECKS)

_PROSE = ("title", "text", "quoted", "location")
_NEEDED = ("to", "recipients")
_ANSWERED = ("message", "event")
_ANGLED = re.compile(r"<([^<>]*)>")
_ADDRESS = re.compile(r"[^\s<>@\",;:()\[\]\\]+@[^\s<>@\",;:()\[\]\\]+")
_OUTSIDE = re.compile(r"[/\\~]|[A-Za-z]:")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_INVISIBLE = re.compile("[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]")
_IDEOGRAPH = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
_ALIKE = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u0060\u00b4", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
    }
)


def _fold(text: str) -> str:
    """Text in the form in which quotes are compared."""
    # Before and after: NFKC turns an acute accent that stands alone into a space and a combining mark.
    plain = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text).translate(_ALIKE)).translate(_ALIKE)
    return " ".join(plain.split())


def _stands(quote: str, field: str) -> bool:
    """Whether the quote stands in the field from the beginning of a word to the end of one."""
    at = field.find(quote)
    while at >= 0:
        end = at + len(quote)
        before, after = field[at - 1 : at], field[end : end + 1]
        if not (_joined(before, quote[0]) or _joined(quote[-1], after)):
            return True
        at = field.find(quote, at + 1)
    return False


def _joined(left: str, right: str) -> bool:
    """Whether two characters are inside one word. Korean particles and scripts without spaces never are."""
    return left.isalnum() and right.isalnum() and not _IDEOGRAPH.search(left + right)


def _facts(artifact: Artifact, where: str, zone: ZoneInfo) -> list[str] | None:
    """The forms in which a fact of the structure may be quoted; None where there is no such fact."""
    if where in ("status", "recurrence"):
        return [getattr(artifact, where)]
    if where == "cancelled":
        return ["yes"] if artifact.cancelled else []
    moments = {
        **dict.fromkeys(("start", "sent", "modified"), artifact.time),
        "end": artifact.end,
        "due": artifact.due,
    }
    if where in moments:
        moment = moments[where]
        if moment is None:
            return []
        local = artifact.local(moment, zone)
        return [local.strftime(form) for form in ("%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%d")]
    if where in set(Role):
        people = [person for person in artifact.people if person.role == where]
        return [form for person in people for form in (str(person), person.email, f"{person}: {person.status}")]
    return None


def _belongs(artifact: Artifact, cited: Artifact) -> bool:
    """Whether an artifact is cited, or is of the thread, the series or the mail of a cited one."""
    return (
        artifact.id == cited.id
        or bool(artifact.thread and artifact.thread == cited.thread)
        or bool(artifact.uid and artifact.uid == cited.uid)
        or (artifact.source == cited.source and artifact.key == cited.parent)
        or (artifact.source == cited.source and artifact.parent == cited.key)
    )


def _time_fault(value: str, zone: ZoneInfo, now: datetime, *, past_allowed: bool) -> str:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return "is no date of the calendar"
    today = now.astimezone(zone).date()
    if "T" not in value:
        return _day_fault(moment.date(), today, past_allowed=past_allowed)
    aware = moment.replace(tzinfo=zone)
    # In the hour that is skipped in spring, a local time does not come back from UTC as the same.
    if aware.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != moment:
        return f"does not exist in {zone.key}, where the clock skips it"
    if aware <= now:
        return "is past"
    return _day_fault(moment.date(), today, past_allowed=False)


def _day_fault(day: date, today: date, *, past_allowed: bool) -> str:
    if day < today and not past_allowed:
        return "is past"
    return "is more than two years ahead" if day - today > HORIZON else ""


def _matters(
    finding: Finding, other: Finding, artifacts: Mapping[int, Artifact]
) -> tuple[frozenset[object], frozenset[object]]:
    """What two findings are about, the later one first.

    Occurrences of one series, like copies of one event and invitations to it, are one matter as long as the
    earlier finding is open or was dismissed; what was done or has lapsed settled one of them only. A dismissal
    holds for the whole thread as well, as long as nobody takes part who did not before.
    """
    if other.state in (State.DONE, State.LAPSED):
        return frozenset(finding.artifacts), frozenset(other.artifacts)
    threads = other.state is State.DISMISSED and _people(finding, artifacts) <= _people(other, artifacts)
    mine, theirs = (
        frozenset(matter(row, artifacts, threads=threads) for row in one.artifacts) for one in (finding, other)
    )
    return mine, theirs


def _people(finding: Finding, artifacts: Mapping[int, Artifact]) -> frozenset[str]:
    return frozenset(
        person.email for row in finding.artifacts if row in artifacts for person in artifacts[row].people
    )
