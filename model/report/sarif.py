"""What speaks against a property, in SARIF 2.1.0: at the line that states it, and at the shipped code where that is
known. https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "HOUSE"
"""The base of all paths: the folder that holds spec, impl and model."""
README = {"file": "spec/README.md", "line": 1}
"""Where something stands that no formula states."""
KINDS = {"refuted": ("fail", "error"), "undetermined": ("open", "none")}
"""An undetermined result is open: neither a pass nor a failure."""


def sarif(told: Mapping[str, Any]) -> dict[str, Any]:
    """The log of one run, made from the evidence of a report. Every property is a rule."""
    rules = [_rule(each) for each in told["properties"]]
    index = {rule["id"]: place for place, rule in enumerate(rules)}
    driver = {"name": "slotproof", "rules": rules}
    run: dict[str, Any] = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"description": {"text": "The folder that holds spec, impl and model."}}},
        "results": [_result(each, index) for each in told["violations"]],
        "invocations": [
            {
                "executionSuccessful": True,
                "exitCode": told["exit"],
                "toolExecutionNotifications": [
                    {"level": "warning", "message": {"text": each}} for each in told["complaints"]
                ],
            }
        ],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(each: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": each["id"],
        "name": each["name"],
        "shortDescription": {"text": each["claim"]},
        "fullDescription": {"text": each["claim"]},
        "help": {"text": "Again by: " + "; ".join(each["commands"])},
        "properties": {"specification": each["spec"]["strength"], "code": each["code"]["strength"]},
    }


def _result(each: Mapping[str, Any], index: Mapping[str, int]) -> dict[str, Any]:
    rule = f"{each['machine']}.{each['property']}"
    kind, level = KINDS[each["verdict"]]
    said = [text for text in (each["sentence"], each["detail"]) if text]
    said += [f"{number}. {line}" for number, line in enumerate(each["history"], 1)]
    result: dict[str, Any] = {
        "ruleId": rule if rule in index else f"step.{each['step']}",
        "kind": kind,
        "level": level,
        "message": {"text": "\n".join(said)},
        "locations": [_location(each["source"] or README)],
    }
    if rule in index:
        result["ruleIndex"] = index[rule]
    if each["code"]:
        result["relatedLocations"] = [_location(each["code"]) | {"message": {"text": "The shipped code."}}]
    return result


def _location(place: Mapping[str, Any]) -> dict[str, Any]:
    artifact = {"uri": place["file"], "uriBaseId": ROOT}
    return {"physicalLocation": {"artifactLocation": artifact, "region": {"startLine": place["line"]}}}
