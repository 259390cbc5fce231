#pragma once
// Stale, or just quiet? What the topic of watermarks says about how far the stream has come.
// schemas/snapshot.md.

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "seen/internal/json_integers.h"
#include "seen/result.h"
#include "seen/snapshot.h"
#include "seen/time.h"

namespace seen::client {

/// `now` minus `as_of`, but not below 0; the greatest duration where it would not fit.
inline TimeMs::duration StaleBy(TimeMs as_of, TimeMs now) {
  if (now <= as_of) return TimeMs::duration::zero();
  const std::int64_t from = as_of.time_since_epoch().count();
  const std::int64_t to = now.time_since_epoch().count();
  if (from < 0 && to > std::numeric_limits<std::int64_t>::max() + from) return TimeMs::duration::max();
  return TimeMs::duration(to - from);
}

/// One record of the topic, about one partition of the input. With updates (schemas/update.md) it is the beat
/// that they go by.
struct Watermark {
  std::int32_t partition = 0;
  TimeMs partition_time{};             // the greatest Kafka timestamp read from it
  std::int64_t next_offset = 0;        // every record below it has been read
  std::int64_t lag_messages = 0;       // to read
  std::int64_t unpublished_users = 0;  // whose snapshot is still to be sent, or acknowledged
  TimeMs heartbeat{};                  // when it was written

  // Of a daemon that writes updates; a member that is null is absent. `updates_error`: one of them isn't what
  // it must be, so a reader of updates refuses the record.
  std::optional<Error> updates_error;
  std::optional<std::int64_t> generation;    // 1 or more
  std::optional<std::int64_t> published_to;  // 0 or more; so are all below
  std::optional<std::int64_t> updates_from;
  template <typename T>
  using ByFilter = std::map<std::string, T, std::less<>>;
  ByFilter<std::int64_t> snapshots_to, snapshots_log;
  ByFilter<std::string> snapshots_topic;
  ByFilter<TimeMs> complete_since;  // of incomplete filters

  /// From the record's value. Whoever has a JSON library of their own may fill the members instead.
  static Parsed<Watermark> Parse(std::string_view json);
  /// From the record's key: the partition's number in decimal, as it is written and in no other way.
  static Parsed<std::int32_t> PartitionOf(std::string_view key);
  /// From both, which must be of one partition.
  static Parsed<Watermark> Parse(std::string_view key, std::string_view json);

  /// The partition has been read up to there.
  TimeMs AsOf() const { return lag_messages == 0 ? heartbeat : std::min(partition_time, heartbeat); }
  TimeMs::duration StaleBy(TimeMs now) const { return client::StaleBy(AsOf(), now); }

 private:
  /// The member, if it is one that is an object by filter.
  void TakeByFilter(std::string_view member, std::string_view json) {
    if (member == "snapshots_topic") return TakeTopics(json);
    if (member == "snapshots_to") {
      TakeIntegers(member, json, [&](const auto& name, std::int64_t value) { snapshots_to[name] = value; });
    } else if (member == "snapshots_log") {
      TakeIntegers(member, json, [&](const auto& name, std::int64_t value) { snapshots_log[name] = value; });
    } else if (member == "complete_since_ms") {
      TakeIntegers(member, json, [&](const auto& name, std::int64_t value) {
        complete_since[name] = TimeMs(TimeMs::duration(value));
      });
    }
  }
  template <typename Take>
  void TakeIntegers(std::string_view member, std::string_view json, Take take) {
    bool right = true;
    const bool object = internal::JsonIntegers(json).ForEach(
        [&](std::string_view name, std::int64_t value) {
          right = right && value >= 0;
          take(std::string(name), value);
        },
        [&](std::string_view, std::string_view text) { right = right && text == "null"; });
    if (!object || !right) RefuseForUpdates(member, "an object of integers, 0 or more");
  }
  void TakeTopics(std::string_view json) {
    bool right = true;
    const bool object =
        internal::JsonIntegers(json).ForEach([&](std::string_view, std::int64_t) { right = false; },
                                             [&](std::string_view name, std::string_view text) {
                                               if (text == "null") return;
                                               const auto topic = internal::JsonIntegers::StringOf(text);
                                               right = right && topic;
                                               if (topic) snapshots_topic[std::string(name)] = *topic;
                                             });
    if (!object || !right) RefuseForUpdates("snapshots_topic", "an object of strings");
  }
  void RefuseForUpdates(std::string_view member, std::string_view rule) {
    updates_error = Error{ErrorCode::kBadWatermark,
                          "watermark: " + std::string(member) + " must be " + std::string(rule)};
  }
};

inline Parsed<std::int32_t> Watermark::PartitionOf(std::string_view key) {
  std::int32_t partition = -1;
  const auto error = std::from_chars(key.data(), key.data() + key.size(), partition).ec;
  if (error != std::errc() || partition < 0 || key != std::to_string(partition)) {
    return {ErrorCode::kBadWatermark,
            "watermark: the key is \"" + std::string(key.substr(0, 40)) + "\", must be a partition's number"};
  }
  return partition;
}

inline Parsed<Watermark> Watermark::Parse(std::string_view json) {
  constexpr std::size_t kBytesMax = 65'536;
  if (json.size() > kBytesMax) {
    return {ErrorCode::kBadWatermark,
            "watermark: " + std::to_string(json.size()) + " bytes, at most " + std::to_string(kBytesMax)};
  }
  struct Field {
    std::string_view name;
    bool found;
    std::int64_t value;
  };
  constexpr std::size_t kRequired = 7;
  Field fields[] = {{"version", false, 0},      {"partition", false, 0},    {"partition_time_ms", false, 0},
                    {"next_offset", false, 0},  {"lag_messages", false, 0}, {"unpublished_users", false, 0},
                    {"heartbeat_ms", false, 0}, {"generation", false, 0},   {"published_to", false, 0},
                    {"updates_from", false, 0}};
  Watermark watermark;
  const auto set = [&fields](std::string_view name, bool found, std::int64_t value) {
    for (Field& field : fields) {
      if (field.name == name) field = {field.name, found, value};
    }
  };
  const bool object = internal::JsonIntegers(json).ForEach(
      [&](std::string_view name, std::int64_t value) {
        set(name, true, value);
        watermark.TakeByFilter(name, "");
      },
      [&](std::string_view name, std::string_view text) {
        set(name, false, 0);
        if (text == "null") return;
        watermark.TakeByFilter(name, text);
        for (std::size_t i = kRequired; i < std::size(fields); ++i) {
          if (fields[i].name == name) watermark.RefuseForUpdates(name, "an integer of 64 bits");
        }
      });
  if (!object) return {ErrorCode::kBadWatermark, "watermark: not a JSON object"};
  if (fields[0].found && fields[0].value != 1) {
    return {ErrorCode::kUnknownVersion, "watermark: version is " + std::to_string(fields[0].value) +
                                            ", this reader knows 1: update the reader"};
  }
  for (std::size_t i = 0; i < kRequired; ++i) {
    const Field& field = fields[i];
    if (field.found) continue;
    return {ErrorCode::kBadWatermark,
            "watermark: " + std::string(field.name) + " is missing or no 64-bit integer"};
  }
  const std::int64_t partition = fields[1].value;
  if (partition < 0 || partition > std::numeric_limits<std::int32_t>::max()) {
    return {ErrorCode::kBadWatermark,
            "watermark: partition is " + std::to_string(partition) + ", must be from 0 to 2^31 - 1"};
  }
  const auto time = [](const Field& field) { return TimeMs(TimeMs::duration(field.value)); };
  const auto at_least = [&watermark](const Field& field, std::int64_t least) -> std::optional<std::int64_t> {
    if (!field.found) return std::nullopt;
    if (field.value < least) watermark.RefuseForUpdates(field.name, std::to_string(least) + " or more");
    return field.value;
  };
  watermark.partition = static_cast<std::int32_t>(partition);
  watermark.partition_time = time(fields[2]);
  watermark.next_offset = fields[3].value;
  watermark.lag_messages = fields[4].value;
  watermark.unpublished_users = fields[5].value;
  watermark.heartbeat = time(fields[6]);
  watermark.generation = at_least(fields[7], 1);
  watermark.published_to = at_least(fields[8], 0);
  watermark.updates_from = at_least(fields[9], 0);
  return watermark;
}

inline Parsed<Watermark> Watermark::Parse(std::string_view key, std::string_view json) {
  const auto partition = PartitionOf(key);
  if (!partition) return partition.error();
  auto watermark = Parse(json);
  if (watermark && watermark->partition != *partition) {
    return {ErrorCode::kBadWatermark, "watermark: partition is " + std::to_string(watermark->partition) +
                                          ", the key is " + std::to_string(*partition)};
  }
  return watermark;
}

/// The last watermark of each partition. What it says of a snapshot holds for a reader that has taken the
/// snapshots published before the watermark: give it one only once the partition of snapshots has been read
/// to its end since. One thread at a time.
class Watermarks {
 public:
  /// Takes a record of the topic; a null value (nullopt) forgets the partition. An error: the record is
  /// refused, and nothing has changed.
  std::optional<Error> Apply(std::optional<std::string_view> key, std::optional<std::string_view> value) {
    if (!value) {
      const auto partition = Watermark::PartitionOf(key.value_or(""));
      if (!partition) return partition.error();
      Forget(*partition);
      return std::nullopt;
    }
    const auto watermark = Watermark::Parse(key.value_or(""), *value);
    if (!watermark) return watermark.error();
    Set(*watermark);
    return std::nullopt;
  }
  void Set(const Watermark& watermark) { last_[watermark.partition] = watermark; }
  void Forget(std::int32_t partition) { last_.erase(partition); }
  std::size_t size() const { return last_.size(); }

  const Watermark* Of(std::int32_t partition) const {
    const auto found = last_.find(partition);
    return found == last_.end() ? nullptr : &found->second;
  }

  /// A snapshot is as fresh as the later of its own time and its partition's last watermark.
  TimeMs AsOf(const Snapshot& snapshot) const {
    const Watermark* last = Of(snapshot.partition());
    return last == nullptr ? snapshot.as_of() : std::max(last->AsOf(), snapshot.as_of());
  }
  TimeMs::duration StaleBy(const Snapshot& snapshot, TimeMs now) const {
    return client::StaleBy(AsOf(snapshot), now);
  }

  /// How fresh "no snapshot of this user: nothing seen" is, where the user's partition isn't known: as the
  /// stalest of the `partitions` of the input. nullopt: not all of them have a watermark.
  std::optional<TimeMs> AsOfAll(std::int32_t partitions) const {
    std::optional<TimeMs> stalest;
    for (std::int32_t partition = 0; partition < partitions; ++partition) {
      const Watermark* last = Of(partition);
      if (last == nullptr) return std::nullopt;
      stalest = stalest ? std::min(*stalest, last->AsOf()) : last->AsOf();
    }
    return stalest;
  }

 private:
  std::map<std::int32_t, Watermark> last_;
};

}  // namespace seen::client
