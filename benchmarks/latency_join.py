"""Event to published, joined afterwards from the two topics, as any reader outside would have seen it."""

import bisect

from confluent_kafka import Consumer, TopicPartition

from oracle_sample import each_message

QUIET_MS = 2_500


def percentiles(values_ms):
    values_ms.sort()

    def at(share):
        return values_ms[min(len(values_ms) - 1, int(share * len(values_ms)))] if values_ms else None

    return {
        "count": len(values_ms),
        "p50_ms": at(0.50),
        "p90_ms": at(0.90),
        "p99_ms": at(0.99),
        "max_ms": values_ms[-1] if values_ms else None,
    }


def offsets_at(topics, topic, partitions, time_ms):
    """{partition: the offset of the first record from `time_ms` on}, or the end."""
    consumer = Consumer({"bootstrap.servers": topics.bootstrap, "group.id": "bench-latency"})
    try:
        found = consumer.offsets_for_times(
            [TopicPartition(topic, partition, time_ms) for partition in partitions], timeout=30
        )
    finally:
        consumer.close()
    ends = topics.ends(topic)
    return {one.partition: one.offset if one.offset >= 0 else ends[one.partition][1] for one in found}


def published(topics, output, covered, begins=None):
    """{user: ([offset held], [append time, ms])} in the order of publication, and the number of records."""
    by_user, count = {}, 0
    for message in each_message(topics, output, begins=begins):
        count += 1
        if message.value() is None:
            continue
        _, offset = covered(message)
        held, at = by_user.setdefault(message.key(), ([], []))
        if held and offset < held[-1]:
            offset = held[-1]  # sent again after a restart: a reader already had the newer one
        held.append(offset)
        at.append(message.timestamp()[1])
    return by_user, count


def join(
    topics,
    topic,
    output,
    covered,
    from_ms,
    until_ms,
    quiet_ms=QUIET_MS,
    unpublished_ms=0,
    begins=(None, None),
):
    """Percentiles of the events produced in [from_ms, until_ms): of all, and of `leading` ones, whose user
    had no event in the quiet_ms before, no publication in the unpublished_ms before, and no event that was
    still unpublished. `waiting`: how many events are like leading ones but for the last. `begins`: for each
    topic, offsets by partition to read from; other partitions are left out. The offsets must be from before
    from_ms - quiet_ms."""
    by_user, records = published(topics, output, covered, begins[1])
    everything, leading, unpublished, leading_unpublished, waiting, last = [], [], 0, 0, 0, {}
    for message in each_message(topics, topic, begins=begins[0]):
        user, at = message.key(), message.timestamp()[1]
        before, last[user] = last.get(user), (at, message.offset())
        if not from_ms <= at < until_ms:
            continue
        held, times = by_user.get(user, ((), ()))
        sent = bisect.bisect_right(times, at)
        is_leading = (before is None or at - before[0] > quiet_ms) and (
            sent == 0 or at - times[sent - 1] >= unpublished_ms
        )
        if is_leading and before is not None and not (sent and held[sent - 1] >= before[1]):
            is_leading = False
            waiting += 1
        index = bisect.bisect_left(held, message.offset())
        if index == len(held):
            unpublished += 1
            leading_unpublished += is_leading
            continue
        waited = times[index] - at
        everything.append(waited)
        if is_leading:
            leading.append(waited)
    return {
        "all": percentiles(everything),
        "leading": percentiles(leading),
        "unpublished": unpublished,
        "leading_unpublished": leading_unpublished,
        "waiting": waiting,
        "records_published": records,
        "users_published": len(by_user),
    }
