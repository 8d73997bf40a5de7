"""What a strength guarantees, and what it does not, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SIZES = {
    "scheduler": "any number of slots, jobs and queue places, and any urgency that is fixed at admission",
    "autoscale": "all whole numbers in the domain of the view",
    "worker": "any settings that the controller takes, any number of jobs, starts and ticks",
}
HOW = {
    "always": "It holds at the start and every action of the specification keeps it",
    "lemmas": "It holds at the start and every action of the specification keeps it",
    "steps": "Every action of the specification that it speaks of obeys it",
    "theorems": "It follows from what is true in every state",
    "outcomes": "It follows from what is true in every state",
    "assumed": "Every action keeps it once it holds; that it holds is assumed",
}
CODE = {
    "proved": (
        "The shipped function keeps it on every input of its domain, by symbolic execution.",
        "It does not say that callers pass what they should, or do what they are told.",
    ),
    "explored": (
        "The shipped code kept it in every state of the finite instances that are named.",
        "It is no proof for larger instances, or for kinds of events that an instance leaves out.",
    ),
    "tested": (
        "The shipped code kept it in the histories that are named.",
        "It says nothing of histories that were not drawn.",
    ),
    "undetermined": ("Nothing.", "The run that was to judge it came to no end, or ended at another fault."),
    "not run here": ("Nothing.", "There is no fresh evidence of the code in this report."),
    "refuted": ("Nothing: the code breaks it.", "The counterexample is shown."),
    "assumed": ("Nothing.", "Whoever uses the code owes it."),
    "spec only": (
        "It is a fact of the specification. The code takes its steps and no other as far as conformance says so.",
        "No engine asks the code for it by this name.",
    ),
}


def guarantees(machine: str, group: str, spec: Mapping[str, Any], code: Mapping[str, Any]) -> dict[str, list[str]]:
    """`guarantees` and `does_not`, of the specification first, then of the code."""
    of_spec = _of_spec(machine, group, spec["strength"])
    yes, no = CODE[code["strength"]]
    return {
        "guarantees": [*of_spec[:1], f"Code: {yes}"],
        "does_not": [*of_spec[1:], f"Code: {no}"],
    }


def _of_spec(machine: str, group: str, strength: str) -> list[str]:
    if group == "conformance":
        return []
    if strength == "proved":
        return [
            f"Specification: {HOW[group]}, for {SIZES[machine]}.",
            "Specification: it rests on the assumptions named below, and says nothing of the code by itself.",
        ]
    if strength == "assumed":
        return [
            "Specification: nothing by itself. It is assumed; where that is shown, every action keeps it.",
            "Specification: where it fails, whatever rests on it may fail.",
        ]
    if strength == "refuted":
        return ["Specification: nothing: it is refuted.", "Specification: a counterexample is shown."]
    return [
        "Specification: nothing.",
        "Specification: there is no fresh proof in this report."
        if strength == "not run here"
        else "Specification: the proof is not complete: a solver gave up, or a query or witness is missing.",
    ]
