"""Finds the place of each column in the event, by the daemon's own configuration."""

import json
import re

FIELDS = (
    "user_id",
    "item_id",
    "items",
    "exposed_at",
    "scene",
    "position",
    "request_id",
    "kind",
    "item_created_at",
    "items_exposed_at",
)
TIMES = ("exposed_at", "item_created_at", "items_exposed_at")
NUMBERS = (*TIMES, "position")  # the other fields are texts
IN_ITEMS = ("item_id", "position", "item_created_at", "items_exposed_at")
COMMENTS = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)


class Unreadable(Exception):
    """An argument, a configuration or a file that can't be read: exit status 2."""


class Damaged(Exception):
    """A file that is cut off or broken after what was read."""


def missing(module):
    if module.startswith("_"):
        return (
            f"this Python was built without {module[1:]}. Remedy: use one with it, or unpack the files first"
        )
    return f"the Python package {module} is missing. Remedy: pip install 'seen-client[history]'"


def steps_of(pointer):
    """The steps of a JSON pointer. Source: RFC 6901."""
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])


class Mapping:
    """Where the fields of an event are, as input.fields of seend's configuration has them."""

    def __init__(self, fields=None):
        self.places, self.others, self.units = {}, {}, {}
        fields = fields or {}
        for name in FIELDS:
            if name == "items_exposed_at" and not fields.get(name):
                continue  # the only field that an event doesn't have by its name
            rule = fields.get(name) or f"/{name}"
            if isinstance(rule, dict):
                self.units[name] = rule.get("unit", "ms")
                rule = rule.get("at", f"/{name}")
            rules = rule if isinstance(rule, list) else [rule]  # of several, the first that is there counts
            self.places[name] = steps_of(rules[0])
            self.others[name] = [steps_of(each) for each in rules[1:]]
        if fields.get("items") or "items_exposed_at" in self.places:
            for name in self.places.keys() & set(IN_ITEMS):
                self.places[name] = (*self.places["items"], "*", *self.places[name])

    @classmethod
    def read(cls, path):
        """The mapping of a configuration file, which may have comments."""
        try:
            with open(path, encoding="utf-8") as file:
                config = json.loads(COMMENTS.sub(lambda found: found[1] or " ", file.read()))
            return cls(config.get("input", {}).get("fields"))
        except (OSError, ValueError, AttributeError) as error:
            raise Unreadable(f"--config: {path}: {error}") from error

    def unit(self, field):
        return self.units.get(field, "ms")

    def place_of(self, column, columns):
        """The steps to the column's value, or None if the column has no name. A pointer goes there. A field's name goes to the field's place, if no
        other column is already there. Any other column keeps its name."""
        if not column:
            return None
        if column.startswith("/"):
            return steps_of(column)
        place = self.places.get(column)
        taken = (
            place is None or (place[0] in columns and place[0] != column) or "/" + "/".join(place) in columns
        )
        return (column,) if taken else place

    def field_at(self, place):
        """The field that the configuration reads at `place`, or None."""
        if place == (*self.places["items"], "*"):
            return "item_id"  # an element that is no object is an id
        return next(
            (name for name in self.places if self.places[name] == place or place in self.others[name]), None
        )

    def columns_of_ids(self, columns):
        """The indexes of the columns whose cells must be exact."""
        fields = [self.field_at(self.place_of(column, columns)) for column in columns]
        return {i for i, field in enumerate(fields) if field and field not in NUMBERS}

    def knows_user(self, columns):
        """Whether one of these columns is the user's."""
        columns = [column.strip().strip("\ufeff") for column in columns]
        return any(self.field_at(self.place_of(column, columns)) == "user_id" for column in columns)

    def columns_of_fields(self, columns):
        """The indexes of the columns that are fields of the event."""
        return [i for i, column in enumerate(columns) if self.field_at(self.place_of(column, columns))]

    def check(self, columns, places):
        """Raises Unreadable if no column can have the user or the item."""

        def found(field):
            wanted = [self.places[field], *self.others[field]]
            return any(each[: len(place)] == place for each in wanted for place in filter(None, places))

        for field, is_there in (
            ("user_id", found("user_id")),
            ("item_id", found("item_id") or found("items")),
        ):
            if is_there:
                continue
            raise Unreadable(
                f"a table without a column {field}; --config reads it at /{'/'.join(self.places[field])}. Remedy: give "
                "the configuration that reads these events from Kafka, or rename a column to the field's name or to "
                "a JSON pointer such as /data/uid"
            )


def pieces_of(places):
    """The event's JSON between its values, and the index of the value after each piece but the last. A place None
    isn't in the event."""
    event = {}
    for i, place in enumerate(places):
        if place is None:
            continue
        at, key = event, place[0]
        for step in place[1:]:
            if isinstance(at, list) and not at:
                at.append([] if step == "*" else {})
            elif isinstance(at, dict):
                at.setdefault(key, [] if step == "*" else {})
            at, key = at[key], 0 if step == "*" else step
            if not isinstance(at, (dict, list)):
                break
        if not isinstance(at, (dict, list)) or (key in at if isinstance(at, dict) else len(at) > 0):
            # Not their names: a first row that is no header may hold personal data.
            raise Unreadable(
                f"column {i + 1} and an earlier one have one place in the event. Rename one of them"
            )
        if isinstance(at, list):
            at.append(f"\x01{i}\x01")
        else:
            at[key] = f"\x01{i}\x01"
    parts = re.split(r'"\\u0001(\d+)\\u0001"', json.dumps(event, separators=(",", ":")))
    return [piece.encode() for piece in parts[::2]], [int(i) for i in parts[1::2]]
