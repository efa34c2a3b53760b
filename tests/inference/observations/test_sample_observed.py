"""On the sample workspace, as connectors read it, what can be computed is found, and nothing else is."""

from dataclasses import replace
from email.utils import parseaddr
from pathlib import Path

import workspace
from connectors import open_connector
from connectors.export import export_files
from connectors.surroundings import Surroundings
from inference.checks import addresses
from inference.observations import observe
from inference.observed import findings_from
from workspace import Artifact, Persona, Profile, Put, Relationship, WorldModel
from workspace.file import WorkspaceFile, read_workspace

SAMPLE = Path(workspace.__file__).parent / "sample.json"
TEMPLATES = frozenset(
    {
        *("overlapping-commitments", "meeting-without-audience", "question-left-unanswered", "reply-never-came"),
        *("task-past-due", "due-during-absence", "invitation-unanswered"),
    }
)


def profile_of(file: WorkspaceFile) -> Profile:
    relationships = tuple(
        Relationship(name=known.name, email=parseaddr(known.email)[1]) for known in file.world_model.relationships
    )
    return Profile(
        timezone=file.timezone,
        persona=Persona(name=file.persona.name, emails=(file.persona.email,)),
        world_model=WorldModel(relationships=relationships),
    )


def read(file: WorkspaceFile, profile: Profile, folder: Path) -> list[Artifact]:
    """The mails, events, tasks and files of the exported file, numbered as a store would."""
    export_files(file, folder)
    found = []
    places = {"maildir": "mail", "calendar": "calendar/calendar.ics", "folder": "documents"}
    for kind, place in ((kind, folder / where) for kind, where in places.items()):
        surroundings = Surroundings(
            own=frozenset(profile.persona.emails),
            known=profile.known,
            zone=profile.zone,
            now=lambda: file.now.replace(tzinfo=file.zone),
            past_days=365,
            future_days=365,
        )
        connector = open_connector(kind, kind, str(place), surroundings)
        changes = [change for batch in connector.sync({}) for change in batch.changes]
        found += [change.artifact for change in changes if isinstance(change, Put)]
    return [replace(artifact, id=row) for row, artifact in enumerate(found, start=1)]


def test_what_can_be_computed_of_the_sample_is_found_and_nothing_else(tmp_path):
    file = read_workspace(SAMPLE)
    profile = profile_of(file)
    artifacts = read(file, profile, tmp_path / "export")
    now = file.now.replace(tzinfo=file.zone)
    rows = {artifact.id: artifact for artifact in artifacts}
    shown, dropped = findings_from(
        observe(artifacts, profile, now), rows, profile, now, addresses(artifacts, profile), [], TEMPLATES
    )
    assert dropped == []
    gold = {problem.id: set(problem.evidence) for problem in file.problems}
    solved = {}
    for finding in shown:
        cited = {rows[row].key.partition("@")[0] for row in finding.artifacts}
        fitting = [problem for problem, evidence in gold.items() if cited <= evidence]
        assert fitting, f"found, and no problem of the sample: {finding.description}"
        solved[fitting[0]] = finding.action.function_name
    assert solved == {"p1": "reschedule_meeting", "p2": "reply_email", "p3": "update_task"}


def test_what_a_model_is_told_of_the_sample_beside_is_little_and_true(tmp_path):
    file = read_workspace(SAMPLE)
    profile = profile_of(file)
    artifacts = read(file, profile, tmp_path / "export")
    rows = {artifact.id: artifact for artifact in artifacts}
    seen = observe(artifacts, profile, file.now.replace(tzinfo=file.zone))
    doubtful = {item.kind: item for item in seen if not item.certain}
    assert sorted(doubtful) == ["asked-in-vain", "renewal-near", "versions-differ"]
    assert "But Helen Tierney is away from Sat 16 May 2026 to Mon 1 June" in doubtful["asked-in-vain"].sentence
    assert "is Sun 31 May 2026 before the end of the term on Fri 31 July 2026" in doubtful["renewal-near"].sentence
    titles = [rows[item.artifact].title for item in doubtful["renewal-near"].evidence]
    assert titles == ["Building/Clairon service agreement.pdf", "Write to Clairon, end the hire"]
    assert "The older one went to Paula Gately on Tue 21 April 2026" in doubtful["versions-differ"].sentence
