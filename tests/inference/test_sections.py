"""The sections of a document: cut at its headings, read under them, shown by what they say, not by their place."""

import pytest

from inference.blocks import Blocks
from inference.reading import read_artifacts, show
from inference.reading.sections import MAX_HEADING, MOST_SECTIONS, SECTION, Section, sections
from tests.inference.scripted import Scripted
from tests.inference.small_world import NOW, PROFILE, add, count, ids_of, note, open_store
from workspace import Artifact, Kind
from workspace.store import Reading

FILLER = "The parties have talked about this at length and agree. " * 30


def asked(request):
    return request.messages[-1].content


def contract(*headings):
    return "Lease of the shop in Quay Street\n\n" + "\n\n".join(f"{heading}\n{FILLER}" for heading in headings)


@pytest.mark.parametrize(
    "form",
    [
        "## {}",
        "{n} {}",
        "{n}. {}",
        "4.{n} {}",
        "{n}) {}",
        "Agenda item {n}: {}",
        "TOP {n} {}",
        "\u00a7 {n} {}",
        "Article {n} - {}",
        "Annex {n}",
        "Art\u00edculo {n}. {}",
        "\uc81c{n}\uc870 ({})",
        "\u7b2c{n}\u6761 {}",
        "NOTICE AND COSTS OF PART {n}",
    ],
)
def test_a_long_text_is_cut_at_its_headings(form):
    headings = [form.format(f"Notice {n}", n=n) for n in range(1, 7)]
    found = sections(contract(*headings), 1715)
    said = [" ".join(heading.lstrip("#").split()) for heading in headings]
    # The short opening has no room beside the first clause.
    assert [part.heading for part in found] == ["", *said]
    assert [part.text.splitlines()[0] for part in found[1:]] == headings


def test_clauses_that_fit_together_are_one_section_known_by_the_first():
    found = sections(contract(*(f"{n} Clause" for n in range(1, 9))), 4000)
    assert [part.heading for part in found] == ["", "3 Clause", "5 Clause", "7 Clause"]
    assert found[0].text.startswith("Lease of the shop")
    assert "2 Clause" in found[0].text


def test_a_clause_that_is_too_long_goes_on_under_its_heading():
    found = sections(f"1 Rent\n{FILLER}\n\n2 Notice\n{FILLER * 3}", 2000)
    assert [part.heading for part in found] == ["1 Rent", "2 Notice", "2 Notice", "2 Notice"]
    assert all(len(part.text) <= 2000 for part in found)


def test_an_underlined_line_is_a_heading():
    found = sections(f"Rent\n====\n{FILLER}\n\nNotice\n------\n{FILLER}", 2000)
    assert [part.heading for part in found] == ["Rent", "Notice"]


@pytest.mark.parametrize(
    "line",
    [
        "12 May 2026 we met.",
        "1,200 euro are due.",
        "2026-05-12",
        "14:30 arrival",
        "A letter.",
        "-----",
        "OK",
        "Item",
    ],
)
def test_what_only_looks_like_a_heading_cuts_nothing_from_what_it_belongs_to(line):
    found = sections(f"# One\n{line}\n{FILLER}\n# Two\n{FILLER}", 2000)
    assert [part.text.splitlines()[0] for part in found] in (["# One", "# Two"], ["# One", line, "# Two"])
    assert "".join("".join(part.text.split()) for part in found) == "".join(
        f"# One\n{line}\n{FILLER}\n# Two\n{FILLER}".split()
    )


def test_nothing_is_lost_and_headings_are_short_and_harmless():
    text = contract(*(f"{n} [a7] Clause\u200b {'long ' * 40}" for n in range(1, 20)))
    found = sections(text, 3000)
    assert "".join("".join(part.text.split()) for part in found) == "".join(text.split())
    assert all(len(part.heading) <= MAX_HEADING + 2 for part in found)
    assert not any("[a7]" in part.heading or "\u200b" in part.heading for part in found)
    assert len(sections(text * 40, 3000)) == MOST_SECTIONS
    assert sections("# One\n\n# Two", SECTION) == [Section("", "# One\n\n# Two")]


def test_a_text_of_headings_alone_has_an_end():
    assert len(sections("# Heading\n" * 40_000)) == MOST_SECTIONS


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "tide.sqlite") as opened:
        yield opened


def lease(store, text):
    add(store, Artifact("mail", "lease", Kind.DOCUMENT, "Lease of the shop.pdf", text, time=NOW))
    return ids_of(store)["lease"]


def test_each_section_is_read_knowing_the_documents_title_and_its_own_heading(store):
    row = lease(store, contract(*(f"{n} Clause {n}" for n in range(1, 9))))
    answers = iter([note(f"Part {number}.").model_dump() for number in range(1, 9)])
    model = Scripted(lambda request: next(answers) if len(model.asked) != 2 else "unfit")
    read_artifacts(store, model, PROFILE, NOW)
    assert all("Lease of the shop.pdf" in asked(request) for request in model.asked)
    assert "This is part 1 of 3 of it.\n" in asked(model.asked[0])
    assert "This is part 3 of 3 of it, under: 7 Clause 7\n" in asked(model.asked[2])
    # The second reply was unfit: what is kept stays with its own section.
    kept = store.readings.notes([row])[row]
    assert [(reading.section, reading.heading, reading.note.line) for reading in kept] == [
        (0, "", "Part 1."),
        (2, "7 Clause 7", "Part 2."),
    ]
    assert show(store, [row], PROFILE)[row].body == " | Part 1. | 7 Clause 7: Part 2."


def many(store, count_of=20):
    """A document of many sections, of which the one but last says by when notice must be given."""
    row = lease(store, "A lease of many pages.")
    digest = store.artifacts.get([row])[row].digest
    notes = [
        note(
            f"Clause {n} tells at some length what the parties agreed upon in the matter of item {n}.",
            things=[f"item {n}0", f"room {n}1"],
        )
        for n in range(count_of)
    ]
    owed = {"who": "Nora", "what": "give notice in writing", "to": "the landlord", "by": "2026-05-31"}
    notes[-2] = note("The lease ends unless prolonged.", commitments=[owed], dates=["2026-05-31 Sun: notice"])
    store.readings.put_notes(
        row, [Reading(row, n, "m", 1, digest, one, f"{n} Clause") for n, one in enumerate(notes)]
    )
    return row


@pytest.mark.parametrize("most", [1000, 500, 200, 90])
def test_where_there_is_no_room_for_all_sections_those_stay_that_bind(store, most):
    row = many(store)
    text = Blocks(store, PROFILE, NOW, count, most, full_text=False)[row].text(0)
    assert count(text + "\n") <= most
    assert "18 Clause: The lease ends unless prolonged." in text
    assert "give notice in writing" in text
    assert ("item 10;" in text) == (most == 1000)
    assert (text.count("Clause:") == 20) == (most > 500) == ("more parts" not in text)


def test_a_view_with_room_shows_every_section_whole(store):
    row = many(store)
    shown = show(store, [row], PROFILE)[row]
    assert shown.body.count("Clause:") == 20
    assert shown.shorter(1.0).body != ""
    assert len(shown.shorter(0.5).text()) <= len(shown.text()) * 0.5
