"""Thought templates: classes of trouble as data, each distilled from solved cases kept beside them."""

from templates.case import SolvedCase, load_cases, read_case
from templates.pool import Pool, load_pool
from templates.solved import case_of
from templates.template import Template, load_templates, render

__all__ = [
    "Pool",
    "SolvedCase",
    "Template",
    "case_of",
    "load_cases",
    "load_pool",
    "load_templates",
    "read_case",
    "render",
]
