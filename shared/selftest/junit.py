"""A result as JUnit XML, for the test reports of CI systems."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from shared.i18n import Language

from .result import ItemResult, Result

FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, 2.2


def write_junit(result: Result, path: Path, language: Language) -> None:
    """Write one test case an item. Raises OSError."""
    suite = ElementTree.Element(
        "testsuite",
        name=result.lab,
        tests=str(len(result.items)),
        failures=str(sum(item.status == "fail" for item in result.items)),
        errors=str(sum(_is_error(item) for item in result.items)),
        skipped=str(sum(item.status == "not_run" for item in result.items)),
        time=f"{result.duration_ms / 1000:.3f}",
    )
    properties = ElementTree.SubElement(suite, "properties")
    ElementTree.SubElement(properties, "property", name="seed", value=str(result.seed))
    for item in result.items:
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname=result.lab,
            name=f"{item.id}. {item.title.get(language)}",
            time=f"{item.duration_ms / 1000:.3f}",
        )
        if item.status == "pass":
            continue
        tag = {"fail": "failure", "not_run": "skipped"}.get(item.status, "error")
        attributes = {"message": _clean(item.message.get(language))}
        if tag != "skipped":
            attributes["type"] = item.diagnosis
        ElementTree.SubElement(case, tag, attributes)
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    path.write_bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True))


def _is_error(item: ItemResult) -> bool:
    return item.status in ("error", "timeout", "limit", "grader_fault")


def _clean(text: str) -> str:
    return FORBIDDEN.sub("�", text)
