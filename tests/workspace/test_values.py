"""Actions, profile, settings and folders: what is wrong in them is said with its place."""

import os
import stat
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from workspace import ACTIONS, Action, Artifact, Evidence, Finding, Folders, Kind, Profile, Settings, UserError

NAMES = [
    "send_email",
    "reply_email",
    "request_approval",
    "escalate",
    "delegate_task",
    "request_access",
    "share_document",
    "schedule_meeting",
    "reschedule_meeting",
    "cancel_meeting",
    "respond_to_invitation",
    "create_task",
    "update_task",
    "create_document",
    "update_document",
    "set_agenda",
]


def finding(template="t", artifacts=(1, 2), description="d"):
    action = Action(function_name="create_task", parameters={"title": "x", "due": "2026-03-20", "notes": ""})
    evidence = tuple(Evidence(artifact=artifact, quote="q") for artifact in artifacts)
    return Finding(
        template=template, description=description, why="w", evidence=evidence, action=action, confidence=1
    )


def test_the_catalogue_has_its_sixteen_actions():
    assert list(ACTIONS) == NAMES


@pytest.mark.parametrize(
    ("parameters", "place"),
    [
        ({"title": "Pay", "due": "soon", "notes": ""}, "due"),
        ({"title": "", "due": "2026-03-20", "notes": ""}, "title"),
        ({"title": "Pay", "due": "2026-03-20"}, "notes"),
        ({"title": "Pay", "due": "2026-03-20", "notes": "", "run": "rm"}, "run"),
    ],
)
def test_a_wrong_parameter_is_named(parameters, place):
    with pytest.raises(UserError, match=f"create_task: {place}: "):
        Action(function_name="create_task", parameters=parameters).typed()


def test_there_is_no_action_outside_the_catalogue():
    with pytest.raises(UserError, match="no action 'delete_everything'"):
        Action(function_name="delete_everything", parameters={}).typed()


def test_a_finding_is_about_its_template_and_artifacts_whatever_its_words():
    assert finding().about == finding(artifacts=(2, 1), description="Said otherwise.").about
    assert finding().about != finding(template="u").about
    assert finding().about != finding(artifacts=(1, 3)).about


def test_the_digest_of_an_artifact_follows_its_content_and_not_its_place_or_zone():
    noon = datetime(2026, 3, 16, 12, tzinfo=UTC)
    one = Artifact("s", "k", Kind.EVENT, title="Call", time=noon, origin="file:///a")
    same = Artifact("t", "l", Kind.EVENT, title="Call", time=noon.astimezone(ZoneInfo("Asia/Seoul")), id=9)
    assert one.digest == same.digest
    assert one.digest != Artifact("s", "k", Kind.EVENT, title="Call", time=noon, cancelled=True).digest


def test_a_profile_is_read_back_as_it_was_written_for_the_owner_alone(tmp_path):
    path = tmp_path / "profile.toml"
    profile = Profile.model_validate(
        {
            "timezone": "Europe/Lisbon",
            "persona": {"name": "Anna Bell", "emails": ["Anna@Example.org"]},
            "world_model": {
                "relationships": [{"name": "Ben", "email": "BEN@example.org"}],
                "priorities": ["the roof"],
            },
        }
    )
    profile.save(path)
    assert Profile.load(path) == profile
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert profile.persona.emails == ("anna@example.org",)
    assert profile.known == {"ben@example.org"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("timezone = x\n", "line 1"),
        ('timezone = "Mars/Olympus"', "timezone"),
        ("[persona]\nage = 4", "persona.age"),
        ('[[world_model.relationships]]\nname = "Ben"', r"world_model.relationships.0.email"),
    ],
)
def test_a_broken_profile_is_refused_with_file_and_place(tmp_path, text, said):
    path = tmp_path / "profile.toml"
    path.write_text(text)
    with pytest.raises(UserError, match=f"profile.toml: .*{said}"):
        Profile.load(path)


def test_settings_have_defaults_and_bounds(tmp_path):
    assert Settings.load(tmp_path / "settings.toml") == Settings()
    (tmp_path / "settings.toml").write_text("rounds = 0")
    with pytest.raises(UserError, match="rounds"):
        Settings.load(tmp_path / "settings.toml")
    (tmp_path / "settings.toml").write_text("# Mine.\nrounds = 4  # enough\n")
    changed = Settings(rounds=3, model="embedded", disabled_templates=("a-b",))
    changed.save(tmp_path / "settings.toml")
    assert Settings.load(tmp_path / "settings.toml") == changed
    assert (tmp_path / "settings.toml").read_text().startswith("# Mine.\nrounds = 3  # enough\n")


def test_tide_home_holds_everything(tmp_path, monkeypatch):
    monkeypatch.setenv("TIDE_HOME", str(tmp_path / "home"))
    folders = Folders.find()
    for folder in (folders.config, folders.data, folders.cache, folders.logs):
        assert folder.is_relative_to(tmp_path / "home")
        assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700


def test_without_it_the_xdg_folders_are_used(tmp_path, monkeypatch):
    monkeypatch.delenv("TIDE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CONFIG", "DATA", "CACHE", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    folders = Folders.find()
    assert folders.settings == tmp_path / "config" / "tide" / "settings.toml"
    assert folders.store == tmp_path / "data" / "tide" / "tide.sqlite"


def test_a_domain_at_which_anybody_has_an_address_makes_no_colleagues():
    persona = {"emails": ["anna@bell-roofs.example", "anna@gmail.com"]}
    assert Profile.model_validate({"persona": persona}).domains == {"bell-roofs.example"}
