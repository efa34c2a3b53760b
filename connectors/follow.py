"""What changed in a source since its cursor: the one algorithm behind every connector of local files.

A source is a listing of items (mail files, messages of an mbox, calendar files, documents), each with a
fingerprint that is cheap to take and changes when the item does. An item yields artifacts when it is read.
Several items may yield the same key, as the same mail in two folders does: the item whose name sorts first
holds it. So what the store holds at the end follows from the source alone, whatever order or interruption
led there.

New and changed items are read first. Keys that an item no longer yields stay in its state until all reading
is done, so that a moved file is never gone in between, and a killed sync forgets nothing.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from workspace import Artifact, Batch, Change, Cursor, Gone, Put, SourceEmpty, SourceProblem

ITEMS_PER_BATCH = 500
CHARACTERS_PER_BATCH = 8_000_000
RECORD = "/"  # cursor entries that are no items begin with it: no relative path does
_RETRY = "?"  # the fingerprint of what could not be read: no listing has it, so it is tried again


@dataclass(frozen=True, slots=True)
class Read:
    """What reading one item gave. `note` is kept in the cursor for the connector; `failed` means that the item
    could not be opened, so that it is tried again at the next sync."""

    item: str
    artifacts: tuple[Artifact, ...]
    note: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """What the cursor holds of an item: its fingerprint when it was read, the keys it yielded, and the keys it
    yielded before, whose fate is not yet settled."""

    fingerprint: str = ""
    note: str = ""
    keys: tuple[str, ...] = ()
    left: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> "State":
        fingerprint, _, rest = text.partition("\n")
        note, _, rest = rest.partition("\n")
        lines = rest.split("\n") if rest else []
        keys = tuple(line[1:] for line in lines if line.startswith("+"))
        return cls(fingerprint, note, keys, tuple(line[1:] for line in lines if line.startswith("-")))

    def __str__(self) -> str:
        lines = [self.fingerprint, self.note, *("+" + key for key in self.keys)]
        return "\n".join(lines + ["-" + key for key in self.left])


Reader = Callable[[list[str]], Iterable[Read]]


def follow(
    cursor: Cursor,
    listing: Mapping[str, str],
    read: Reader,
    *,
    records: Mapping[str, str | None] | None = None,
) -> Iterator[Batch]:
    """Yield the changes between the cursor and the listing (item -> fingerprint, in the order to be read).

    `read` is given items and yields a `Read` for each that is still there, in any order; if it raises a
    SourceProblem, what it had read goes out before that, and no key is gone. `records` are entries
    of the connector's own for the cursor, their names beginning with `/`; they go with the last batch. One
    item is never split over two batches.

    An item that is listed and no longer there when it is to be read may have moved to where nobody looked: then no
    key is gone before the next sync, and the records wait for it too.
    """
    changed = [item for item, mark in listing.items() if cursor.get(item, "").partition("\n")[0] != mark]
    vanished = [item for item in cursor if item not in listing and not item.startswith(RECORD)]
    unsettled = [item for item in listing if "\n-" in cursor.get(item, "")]
    news = {name: state for name, state in (records or {}).items() if cursor.get(name) != state}
    complete = True
    if changed or vanished or unsettled:
        following = _Following(cursor, listing, read, changed, vanished, unsettled)
        yield from following.batches()
        complete = not following.missed
    if news and complete:
        yield Batch((), news)


def refuse_empty(listing: Mapping[str, str], cursor: Cursor, place: str) -> None:
    """Raises: SourceEmpty if nothing is listed where the cursor has items."""
    if not listing and any(not item.startswith(RECORD) for item in cursor):
        raise SourceEmpty(
            f"{place} is suddenly empty. Nothing was removed; if that is right, allow it to be empty."
        )


@dataclass(slots=True)
class _Following:
    """One sync under way. `owners`: which items of the source yield a key, as far as is known by now; `put`:
    the item from which a key was put in this sync; `missed`: whether an item was gone when it was to be read."""

    cursor: Cursor
    listing: Mapping[str, str]
    read: Reader
    changed: list[str]
    vanished: list[str]
    unsettled: list[str]
    owners: dict[str, tuple[str, ...]] = field(default_factory=dict)
    put: dict[str, str] = field(default_factory=dict)
    states: dict[str, State] = field(default_factory=dict)
    missed: bool = False
    done: int = 0

    def batches(self) -> Iterator[Batch]:
        for item in self.listing:
            if item in self.cursor:
                for key in State.parse(self.cursor[item]).keys:
                    self.owners[key] = (*self.owners.get(key, ()), item)
        for batch in self._gathered(self._read_changed()):
            yield batch
        if self.missed:
            return
        for batch in self._gathered(self._settle()):
            yield batch

    def _gathered(self, steps: Iterable[tuple[list[Change], dict[str, str | None]]]) -> Iterator[Batch]:
        changes: list[Change] = []
        marks: dict[str, str | None] = {}
        items = size = 0
        total = len(self.changed) + len(self.vanished)
        trouble: SourceProblem | None = None
        try:
            for some, mark in steps:
                changes += some
                marks |= mark
                items += 1
                size += sum(len(p.artifact.text) + len(p.artifact.quoted) for p in some if isinstance(p, Put))
                if items >= ITEMS_PER_BATCH or size >= CHARACTERS_PER_BATCH:
                    if changes or marks:
                        yield Batch(tuple(changes), marks, min(self.done, total), total)
                    changes, marks, items, size = [], {}, 0, 0
        except SourceProblem as error:
            trouble = error  # what was read before it is good
        if changes or marks:
            yield Batch(tuple(changes), marks, min(self.done, total), total)
        if trouble is not None:
            raise trouble

    def _read_changed(self) -> Iterator[tuple[list[Change], dict[str, str | None]]]:
        missing = set(self.changed)
        for got in self.read(self.changed):
            missing.discard(got.item)
            self.done += 1
            before = State.parse(self.cursor.get(got.item, ""))
            if got.failed and before.keys and before.fingerprint != _RETRY:
                continue  # what was read once is kept while it can't be read
            artifacts = {artifact.key: artifact for artifact in reversed(got.artifacts)}
            for key in set(before.keys) - set(artifacts):
                self.owners[key] = tuple(owner for owner in self.owners.get(key, ()) if owner != got.item)
            for key in artifacts:
                self.owners[key] = tuple({*self.owners.get(key, ()), got.item})
            fingerprint = _RETRY if got.failed else self.listing[got.item]
            left = sorted({*before.keys, *before.left} - set(artifacts))
            state = State(fingerprint, got.note, tuple(artifact.key for artifact in _unique(got)), tuple(left))
            if str(state) == self.cursor.get(got.item):
                continue
            self.states[got.item] = state
            held = [one for one in _unique(got) if min(self.owners[one.key]) == got.item]
            self.put |= {one.key: got.item for one in held}
            yield [Put(one) for one in held], {got.item: str(state)}
        self.missed = bool(missing)

    def _settle(self) -> Iterator[tuple[list[Change], dict[str, str | None]]]:
        """Decide on the keys that items no longer yield: gone, or held by the next item that yields them.

        That item is read once more, unless it was in this sync. Both go with the end of the old holder's
        state, so that every batch brings the cursor on.
        """
        lost = self._lost()
        losers = Counter(key for keys in lost.values() for key in set(keys))
        for item, keys in lost.items():
            changes: list[Change] = []
            heirs: dict[str, set[str]] = {}
            for key in sorted(set(keys)):
                losers[key] -= 1
                owners = self.owners.get(key)
                if owners:
                    if item < min(owners) and self.put.get(key) != min(owners):
                        heirs.setdefault(min(owners), set()).add(key)
                elif not losers[key]:  # the last of the cursor's items that had it
                    changes.append(Gone(key))
            if heirs:
                for got in self.read(sorted(heirs)):
                    changes += [Put(one) for one in _unique(got) if one.key in heirs[got.item] and not got.failed]
            if item in self.listing:
                state = self.states.get(item) or State.parse(self.cursor[item])
                yield changes, {item: str(State(state.fingerprint, state.note, state.keys))}
            else:
                self.done += 1
                yield changes, {item: None}

    def _lost(self) -> dict[str, tuple[str, ...]]:
        """For each item that yields less than before: the keys that it no longer yields."""
        lost = {item: self.states[item].left for item in self.states if self.states[item].left}
        for item in self.unsettled:
            if item not in self.states:
                lost[item] = State.parse(self.cursor[item]).left
        for item in self.vanished:
            state = State.parse(self.cursor[item])
            lost[item] = (*state.keys, *state.left)
        return lost


def _unique(got: Read) -> list[Artifact]:
    """The artifacts of an item, the first of each key."""
    return list({artifact.key: artifact for artifact in reversed(got.artifacts)}.values())[::-1]
