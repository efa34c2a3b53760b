"""What the person wrote in profile.toml stays when Tide adds to it."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workspace import Organization, Persona, Profile, Relationship, UserError, WorldModel
from workspace.profile_text import TEMPLATE, with_changes

BEN = Relationship(name="Ben Ortiz", email="ben@example.org", relation="manager")
MINE = """\
# mine
timezone = "Europe/Lisbon"   # home

[persona]
emails = [
    "Ann@Example.org", # work
]
name = 'Ann' # short

[[world_model.relationships]]
name = "Cy"
email = "cy@example.org"
# the end
"""


def with_more(profile: Profile) -> Profile:
    persona = profile.persona.model_copy(
        update={"emails": (*profile.persona.emails, "ann@home.example"), "occupation": "c"}
    )
    world = profile.world_model.model_copy(
        update={
            "relationships": (*profile.world_model.relationships, BEN),
            "organization": Organization(name="Museum"),
        }
    )
    return profile.model_copy(update={"persona": persona, "world_model": world})


def test_comments_order_and_spelling_stay(tmp_path: Path) -> None:
    path = tmp_path / "profile.toml"
    path.write_text(MINE)
    wanted = with_more(Profile.load(path))
    wanted.save(path)
    assert Profile.load(path) == wanted
    text = path.read_text()
    assert text.endswith('relation = "manager"\n\n[world_model.organization]\nname = "Museum"\n')
    for line in ("# mine", "   # home", '    "Ann@Example.org", # work', "name = 'Ann' # short", "# the end"):
        assert line in text
    assert text.index("timezone") < text.index("[persona]") < text.index('"Cy"') < text.index('"Ben Ortiz"')


def test_a_new_file_tells_what_each_key_is_for(tmp_path: Path) -> None:
    path = tmp_path / "profile.toml"
    wanted = with_more(Profile(timezone="Europe/Lisbon", persona=Persona(name="Ann")))
    wanted.save(path)
    assert Profile.load(path) == wanted
    text = path.read_text()
    assert [line for line in TEMPLATE.split("\n") if line.startswith("#")] == [
        line for line in text.split("\n") if line.startswith("#")
    ]
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_link_to_the_file_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.toml").write_text(MINE)
    (tmp_path / "profile.toml").symlink_to(tmp_path / "real.toml")
    with_more(Profile.load(tmp_path / "profile.toml")).save(tmp_path / "profile.toml")
    assert (tmp_path / "profile.toml").is_symlink()
    assert "# mine" in (tmp_path / "real.toml").read_text()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# only a remark",
        'persona.name = "Ann"\npersona.emails = ["a@b.example"]\n',
        'persona = {name = "Ann", emails = []}\nworld_model = {relationships = [{name = "Cy", email = "c@x"}]}\n',
        "[world_model.organization]\nname = 'X'\n[persona]\n",
        "[world_model]\n[persona]\n[[world_model.relationships]]\nname='a'\nemail='b'\n[world_model.organization]\n",
        MINE.replace("\n", "\r\n"),
    ],
)
def test_every_way_of_writing_it_can_be_added_to(tmp_path: Path, text: str) -> None:
    path = tmp_path / "profile.toml"
    path.write_bytes(text.encode())
    wanted = with_more(Profile.load(path))
    wanted.save(path)
    assert Profile.load(path) == wanted


def test_where_it_can_not_be_changed_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "profile.toml"
    path.write_text(MINE)
    wanted = with_more(Profile.load(path))
    monkeypatch.setattr("workspace.profile.with_changes", lambda text, before, after: text)
    with pytest.raises(UserError, match="Put the change in yourself: tide profile --edit"):
        wanted.save(path)
    assert path.read_text() == MINE


WORDS = st.text(st.characters(codec="utf-8"), max_size=8)
PROFILES = st.builds(
    Profile,
    persona=st.builds(Persona, name=WORDS, emails=st.lists(WORDS, max_size=3).map(tuple), about=WORDS),
    world_model=st.builds(
        WorldModel,
        organization=st.builds(Organization, name=WORDS, reports_to=WORDS),
        relationships=st.lists(st.builds(Relationship, name=WORDS, email=WORDS, context=WORDS), max_size=3).map(
            tuple
        ),
        priorities=st.lists(WORDS, max_size=3).map(tuple),
    ),
)


@settings(max_examples=40, deadline=None)
@given(before=PROFILES, after=PROFILES)
def test_any_profile_is_changed_into_any_other(before: Profile, after: Profile) -> None:
    text = TEMPLATE
    said = Profile.model_validate(tomllib.loads(text))
    for profile in (before, after):
        text = with_changes(text, said.model_dump(mode="json"), profile.model_dump(mode="json"))
        said = Profile.model_validate(tomllib.loads(text))
        assert said == profile
