"""Answers without what two servers cannot agree on; nothing else is taken away.

| what | becomes |
| --- | --- |
| uids | uid-1, uid-2.. in order of appearance |
| resource versions | how many of the sequence's objects' versions are not newer |
| times of this run (years of RUN_YEARS) | <time>, with the number of digits of the second's part |
| names the server completed (generateName) | by order of appearance |
| continue tokens, signed tokens | <continue>, <token> |
| cluster addresses and node ports that the server chose | by order of appearance |
| ages in tables | <age> |
| causes that were said before | left out: there metadata is looked at up to three times |
| the managers of a conflict | sorted: there they come out of a Go map |
| lists of discovery | maps by name |
| the order of managedFields | sorted: it depends on which second a write fell into |
"""

import re

UUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
RUN_YEARS = r"20(?:2[5-9]|3\d)"  # what the generator writes by itself is older or newer
TIME = re.compile(rf"\b{RUN_YEARS}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
ADDRESS = re.compile(r"\b10\.96\.\d+\.\d+\b")
VERSION_IN_TEXT = re.compile(r"(ResourceVersion in (?:the precondition|record) [^()]*\("
                             r"|resourceVersion\W{1,6})(\d+)")
AGE_COLUMNS = {"Age", "Last Seen", "First Seen", "Created At", "Born"}
DISCOVERY = {"APIGroupList": "groups", "APIResourceList": "resources"}
COMPLETED = re.compile(r"\b[abc]-[bcdfghjklmnpqrstvwxz2456789]{5}\b")  # what generateName gives
NODE_PORTS = range(30000, 32768)


class Normaliser:
    """Of one server and one sequence: show() every answer first, then ask normal() in order."""

    def __init__(self):
        self._versions: set[int] = set()
        self._order: list[int] = []
        self._made: dict[str, str] = {}  # text -> what stands for it
        self._counts: dict[str, int] = {}
        self._columns: list[dict] = []

    def show(self, value, collection: bool = False) -> None:
        """Collects the versions of objects."""
        if isinstance(value, list):
            for item in value:
                self.show(item)
        if not isinstance(value, dict):
            return
        collection = collection or "items" in value or "rows" in value
        metadata = value.get("metadata")
        if isinstance(metadata, dict):
            if not collection:
                self._show_object(metadata)
        bookmark = value.get("type") == "BOOKMARK"
        for key, item in value.items():
            if key != "metadata":
                self.show(item, collection=bookmark and key == "object")

    def _show_object(self, metadata: dict) -> None:
        version = str(metadata.get("resourceVersion", ""))
        if version.isdigit():
            self._versions.add(int(version))

    def _numbered(self, what: str) -> str:
        self._counts[what] = self._counts.get(what, 0) + 1
        return f"{what}-{self._counts[what]}"

    def rank(self, version: str) -> str:
        if not version.isdigit():
            return version
        return f"v{sum(1 for known in self._versions if known <= int(version))}"

    def normal(self, value, path: tuple = ()):
        if isinstance(value, dict):
            if value.get("kind") == "Table":
                value = self._without_ages(value)
            elif value.get("kind") in DISCOVERY:
                value = _by_name(value, DISCOVERY[value["kind"]])
            return {self._text(key, ()): self.normal(value[key], (*path, key))
                    for key in sorted(value)}
        if isinstance(value, list):
            items = [self.normal(item, path) for item in value]
            if path[-1:] == ("causes",):
                items = _conflicts_by_manager(_said_once(items))
            return sorted(items, key=_entry_order) if path[-1:] == ("managedFields",) else items
        if isinstance(value, str):
            return self._text(value, path)
        chosen = path[-1:] in (("nodePort",), ("healthCheckNodePort",))
        if chosen and isinstance(value, int) and value in NODE_PORTS:
            return self._stand_in(f"port {value}", "<port>")
        return value

    def _stand_in(self, text: str, what: str) -> str:
        if text not in self._made:
            self._made[text] = self._numbered(what)
        return self._made[text]

    def _text(self, text: str, path: tuple) -> str:
        if path[-1:] == ("resourceVersion",):  # also where a wrong body took it
            return self.rank(text)
        if path[-2:] == ("metadata", "continue"):
            return "<continue>" if text else text
        if path[-2:] == ("status", "token"):
            return "<token>" if text.count(".") == 2 or len(text) > 20 else text
        text = UUID.sub(lambda found: self._stand_in(found[0], "uid"), text)
        text = TIME.sub(lambda found: f"<time.{len(found[1]) - 1}>" if found[1] else "<time>", text)
        text = ADDRESS.sub(lambda found: self._stand_in(found[0], "<ip>"), text)
        text = VERSION_IN_TEXT.sub(lambda found: found[1] + self.rank(found[2]), text)
        if text.startswith("Apply failed with"):
            head, *blocks = text.split("conflicts with ")
            text = head + "".join(sorted(block.rstrip() + "\n" for block in blocks))
        return COMPLETED.sub(lambda found: self._stand_in(found[0], f"{found[0][:2]}made"), text)

    def _without_ages(self, table: dict) -> dict:
        # A watch names its columns once, in the first event.
        columns = table.get("columnDefinitions") or self._columns
        self._columns = columns
        ages = [at for at, column in enumerate(columns) if column.get("name") in AGE_COLUMNS]
        rows = []
        for row in table.get("rows") or []:
            cells = list(row.get("cells", []))
            for at in ages:
                if at < len(cells) and isinstance(cells[at], str) and cells[at][:1].isdigit():
                    cells[at] = "<age>"
            rows.append({**row, "cells": cells})
        return {**table, "rows": rows}


def _by_name(document: dict, member: str) -> dict:
    """Discovery lists as maps, so that an entry of one server alone does not move the others."""
    entries = document.get(member) or []
    return {**document, member: {entry.get("name", ""): entry for entry in entries}}


def _said_once(causes: list) -> list:
    return [cause for at, cause in enumerate(causes) if cause not in causes[:at]]


def _conflicts_by_manager(causes: list) -> list:
    if not all(isinstance(c, dict) and c.get("reason") == "FieldManagerConflict" for c in causes):
        return causes
    return sorted(causes, key=lambda cause: cause.get("message", ""))


def _entry_order(entry) -> tuple:
    if not isinstance(entry, dict):
        return (str(entry),)
    return tuple(str(entry.get(key, "")) for key in
                 ("operation", "manager", "subresource", "apiVersion", "time"))
