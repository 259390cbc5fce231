"""Times and days of the format as Python's, which reach less far: what lies beyond is the nearest there
is."""

from __future__ import annotations

import datetime

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_FIRST = datetime.datetime.min.replace(tzinfo=datetime.timezone.utc)
_LAST = datetime.datetime.max.replace(tzinfo=datetime.timezone.utc)


def datetime_of(ms: int) -> datetime.datetime:
    """Milliseconds since 1970, in UTC."""
    try:
        return EPOCH + datetime.timedelta(milliseconds=ms)
    except OverflowError:
        return _FIRST if ms < 0 else _LAST


def date_of(day: int) -> datetime.date:
    """Days since 1970-01-01."""
    try:
        return EPOCH.date() + datetime.timedelta(days=day)
    except OverflowError:
        return datetime.date.min if day < 0 else datetime.date.max


def duration_of(ms: int) -> datetime.timedelta:
    try:
        return datetime.timedelta(milliseconds=ms)
    except OverflowError:
        return datetime.timedelta.max


def day_of(date: datetime.date) -> int:
    return date.toordinal() - EPOCH.toordinal()


def ms_of(moment: datetime.datetime) -> int:
    """ValueError for one without a time zone."""
    if moment.tzinfo is None:
        raise ValueError(f"{moment!r} has no time zone; take datetime.now(timezone.utc), for instance")
    return (moment - EPOCH) // datetime.timedelta(milliseconds=1)
