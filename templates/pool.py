"""The templates on offer: those that come with Tide, and the person's own.

A personal template of the id of one that comes with Tide takes its place. A personal file that is wrong is left
out and told in one line, so that the others can still be used.
"""

from dataclasses import dataclass
from pathlib import Path

from templates.case import SolvedCase, load_cases, read_case
from templates.template import Template, load_templates, read_template
from workspace import UserError


@dataclass(frozen=True, slots=True)
class Pool:
    """All templates by id; which of them are `personal` and which `disabled`; and what was left out and why.

    `cases` are the solved cases of both pools, by id.
    """

    templates: dict[str, Template]
    cases: dict[str, SolvedCase]
    personal: frozenset[str]
    disabled: frozenset[str]
    faults: tuple[str, ...]

    @property
    def enabled(self) -> tuple[Template, ...]:
        """Those that discovery goes by, sorted by id."""
        return tuple(self.templates[name] for name in sorted(self.templates) if name not in self.disabled)

    def get(self, template: str) -> Template:
        """One template.

        Raises:
            UserError: if there is none of this id, or its file is wrong.
        """
        if template not in self.templates:
            for fault in self.faults:
                if f"/{template}.toml:" in fault:
                    raise UserError(fault)
            raise UserError(f"There is no template {template!r}. `tide templates list` lists them.")
        return self.templates[template]


def load_pool(personal: Path, disabled: frozenset[str] = frozenset()) -> Pool:
    """The pool of Tide with that in the folder `personal` (see `load_templates`), which need not exist."""
    faults: list[str] = []
    cases = {case.id: case for case in load_cases()}
    for path in sorted((personal / "cases").glob("*.json")):
        try:
            cases[path.stem] = read_case(path)
        except UserError as error:
            faults.append(str(error))
    templates = {template.id: template for template in load_templates()}
    own: set[str] = set()
    for path in sorted((personal / "workspace").glob("*.toml")):
        others = {one.name.casefold(): f"{name}.toml" for name, one in templates.items() if name != path.stem}
        try:
            templates[path.stem] = read_template(path, frozenset(cases), others)
            own.add(path.stem)
        except UserError as error:
            faults.append(str(error))
    return Pool(templates, cases, frozenset(own), disabled & templates.keys(), tuple(faults))
