"""Thought templates: classes of trouble as data, each distilled from solved cases kept beside them."""

from templates.case import SolvedCase, load_cases
from templates.template import Template, load_templates, render

__all__ = ["SolvedCase", "Template", "load_cases", "load_templates", "render"]
