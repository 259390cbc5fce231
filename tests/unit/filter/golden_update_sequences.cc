// sequences.json: what a reader takes, and what it must answer then. Each answer is derived from
// schemas/update.md by hand; each sequence fails in a reader that lacks the rule in its name.

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>

#include "unit/filter/golden_bytes.h"
#include "unit/filter/golden_updates.h"

namespace seen::golden {
namespace {

constexpr int64_t kStart = 1763700000000;
constexpr int64_t kNow = kStart + 100'000;
using Ids = std::vector<std::string>;
using Number = std::optional<int64_t>;

/// A time: kStart and so many seconds.
constexpr int64_t At(int64_t second) { return kStart + 1000 * second; }

std::string JsonOf(const Number& number) { return number ? std::to_string(*number) : "null"; }

struct BeatOf {
  int partition = 0;
  Number generation = 1;
  Number published_to = {};
  Number snapshots_to = {};  // of `filter`
  std::string filter = "default";
  Number log = {};
  std::string topic = {};
  Number complete_since = {};  // second
};

struct UpdateOf {
  int partition = 0;
  int64_t generation = 1;
  int64_t from = 0, to = 0;
  uint8_t part = 0;
  Number as_of = {};  // second
  std::vector<GoldenSection> sections = {};
  Ids filters = {"default"};
};

struct SnapshotOf {
  int partition = 0;
  std::string user = "u1";
  Number generation = 1;  // nullopt: bit 1 of `flags` is clear
  int64_t offset = 0;
  Ids items = {};
  Ids near = {}, groups = {};  // of a second filter, if there are any
  bool complete_since = false;
};

struct PartitionIs {
  int partition = 0;
  Number as_of = {};  // second
  Number complete_to = {};
  bool must_restart = false;
  std::string moved_to = {};
  Number complete_since = {};  // second
};

struct UserIs {
  std::string user = "u1";
  Ids seen = {}, unseen = {};
  Ids near = {}, not_near = {};
  Ids groups = {}, not_groups = {};
  bool refused = false;
};

struct Expected {
  std::vector<PartitionIs> partitions;
  size_t additions = 0;
  std::vector<UserIs> users = {};
  int64_t now_ms = kNow;
};

GoldenSection Seen(const std::vector<std::pair<std::string, Ids>>& users, uint16_t mask = 1,
                   uint32_t until_s = 0) {
  GoldenSection section = {.mask = mask, .until_s = until_s, .entries = {}};
  for (const auto& [user, items] : users) section.entries.push_back(EntryOf(user, items));
  return section;
}
GoldenSection Seen(const std::string& user, const Ids& items, uint16_t mask = 1, uint32_t until_s = 0) {
  return Seen({{user, items}}, mask, until_s);
}

std::vector<Fingerprint> SimilarPrints(const Ids& near, const Ids& groups) {
  std::vector<Fingerprint> prints;
  for (const std::string& id : near) prints.push_back(NearFingerprintOf(FingerprintOf(id)));
  for (const std::string& id : groups) prints.push_back(GroupFingerprintOf(FingerprintOf(id)));
  return prints;
}
GoldenSection Similar(const std::string& user, const Ids& near, const Ids& groups) {
  return {.kind = AdditionKind::kSimilar, .entries = {{UpdateUserOf(user), SimilarPrints(near, groups)}}};
}

std::string Exact(std::vector<Fingerprint> prints) {
  std::sort(prints.begin(), prints.end());
  return FingerprintsPayload(28, prints);
}

std::string BytesOf(const SnapshotOf& its) {
  SnapshotMeta meta = UsualMeta(SnapshotFormat::kFingerprints, its.items.size());
  meta.partition = its.partition;
  meta.input_offset = its.offset;
  const bool has_similar = !its.near.empty() || !its.groups.empty();
  const std::string similar = Exact(SimilarPrints(its.near, its.groups));
  Fields more;
  if (has_similar) more.U32(similar.size()).U8(11).Zeros(3).U32(its.near.size() + its.groups.size()).Zeros(4);
  if (its.generation) more.U64(static_cast<uint64_t>(*its.generation));
  if (its.complete_since) more.U64(kStart);
  const std::string payload = Exact(PrintsOf(its.items)) + (has_similar ? similar : "");
  return Patched(Enveloped(meta, payload, std::string(more)), 7,
                 static_cast<uint8_t>((has_similar ? 1 : 0) | (its.generation ? 2 : 0)));
}

std::string BytesOf(const UpdateOf& its) {
  return WrittenByDaemon(
      {"",
       {its.partition, its.generation, its.from, its.to, {its.as_of ? At(*its.as_of) : -1}, its.part},
       its.filters,
       its.sections});
}

std::string TextOf(const BeatOf& its) {
  std::string text = R"({"version":1,"partition":)" + std::to_string(its.partition) +
                     R"(,"partition_time_ms":)" + std::to_string(kStart) +
                     R"(,"next_offset":1000,"lag_messages":0,"unpublished_users":0,"heartbeat_ms":)" +
                     std::to_string(kNow);
  if (its.generation) text += ",\"generation\":" + std::to_string(*its.generation);
  if (its.published_to) text += ",\"published_to\":" + std::to_string(*its.published_to);
  const auto add = [&](const std::string& member, const std::string& value) {
    text += "," + Quoted(member) + ":{" + Quoted(its.filter) + ":" + value + "}";
  };
  if (its.snapshots_to) add("snapshots_to", std::to_string(*its.snapshots_to));
  if (its.log) add("snapshots_log", std::to_string(*its.log));
  if (!its.topic.empty()) add("snapshots_topic", Quoted(its.topic));
  if (its.complete_since) add("complete_since_ms", std::to_string(At(*its.complete_since)));
  return text + "}";
}

class Sequence {
 public:
  explicit Sequence(std::string name, size_t additions_max = 1000, std::string filter = "default")
      : name_(std::move(name)), additions_max_(additions_max), filter_(std::move(filter)) {}

  /// The reader knows the name of its snapshot topic.
  Sequence& OfTopic(std::string topic) { return topic_ = std::move(topic), *this; }
  Sequence& Beat(const BeatOf& its) { return BeatText(std::to_string(its.partition), TextOf(its)); }
  Sequence& BeatText(const std::string& key, const std::string& value, bool refused = false) {
    return Step("\"beat\": {\"key\": " + Quoted(key) + ", \"value\": " + Quoted(value) + "}", refused);
  }
  Sequence& Update(const UpdateOf& its) { return UpdateBytes(BytesOf(its)); }
  Sequence& UpdateBytes(const std::string& bytes, bool refused = false) {
    return Step("\"update\": " + Quoted(Base64(bytes)), refused);
  }
  Sequence& Snapshot(const SnapshotOf& its) { return SnapshotBytes(its.partition, its.user, BytesOf(its)); }
  Sequence& SnapshotBytes(int partition, const std::string& user, const std::string& bytes,
                          bool refused = false) {
    return SnapshotValue(partition, user, Quoted(Base64(bytes)), refused);
  }
  Sequence& Tombstone(int partition, const std::string& user) {
    return SnapshotValue(partition, user, "null", false);
  }
  Sequence& End(int partition, int64_t position) {
    return Step("\"end\": {\"partition\": " + std::to_string(partition) +
                ", \"position\": " + std::to_string(position) + "}");
  }
  Sequence& Restart(int partition) { return Step("\"restart\": " + std::to_string(partition)); }
  Sequence& Expect(const Expected& its) {
    const auto partition = [](const PartitionIs& one) {
      return "{\"partition\": " + std::to_string(one.partition) +
             ", \"as_of_ms\": " + (one.as_of ? std::to_string(At(*one.as_of)) : "null") +
             ", \"complete_to\": " + JsonOf(one.complete_to) +
             (one.must_restart ? ", \"must_restart\": true" : "") +
             (one.moved_to.empty() ? "" : ", \"moved_to\": " + Quoted(one.moved_to)) +
             (one.complete_since ? ", \"complete_since_ms\": " + std::to_string(At(*one.complete_since))
                                 : "") +
             "}";
    };
    const auto user = [](const UserIs& one) {
      return "{\"user\": " + Quoted(one.user) + ", \"refused\": " + (one.refused ? "true" : "false") +
             ", \"seen\": " + List(one.seen) + ", \"unseen\": " + List(one.unseen) +
             ", \"near\": " + List(one.near) + ", \"not_near\": " + List(one.not_near) +
             ", \"groups\": " + List(one.groups) + ", \"not_groups\": " + List(one.not_groups) + "}";
    };
    return Step("\"expect\": {\"now_ms\": " + std::to_string(its.now_ms) + ",\n        \"partitions\": [" +
                Joined(its.partitions, ", ", partition) +
                "],\n        \"additions\": " + std::to_string(its.additions) + ",\n        \"users\": [" +
                Joined(its.users, ",\n          ", user) + "]}");
  }

  std::string Json() const {
    return "    {\"name\": " + Quoted(name_) + ",\n     \"filter\": " + Quoted(filter_) +
           (topic_.empty() ? "" : ", \"topic\": " + Quoted(topic_)) +
           ", \"additions_max\": " + std::to_string(additions_max_) + ",\n     \"steps\": [\n      " +
           Joined(steps_, ",\n      ", [](const std::string& step) { return step; }) + "\n     ]}";
  }

 private:
  Sequence& SnapshotValue(int partition, const std::string& user, const std::string& value, bool refused) {
    return Step("\"snapshot\": {\"partition\": " + std::to_string(partition) + ", \"user\": " + Quoted(user) +
                    ", \"value\": " + value + "}",
                refused);
  }
  Sequence& Step(const std::string& step, bool refused = false) {
    steps_.push_back("{" + step + (refused ? ", \"refused\": true" : "") + "}");
    return *this;
  }

  std::string name_;
  size_t additions_max_;
  std::string filter_;
  std::string topic_ = {};
  std::vector<std::string> steps_;
};

/// Stands at 5 in the snapshots of partition 0, which hold all below 10. An empty update said as of second 1.
Sequence Fresh(std::string name, size_t additions_max = 1000) {
  Sequence sequence(std::move(name), additions_max);
  sequence.Beat({.published_to = 10, .snapshots_to = 5}).End(0, 5).Update({.from = 10, .to = 10, .as_of = 1});
  return sequence;
}

std::vector<Sequence> OfOneUpdate() {
  const UpdateOf update = {.from = 0, .to = 10, .as_of = 2, .sections = {Seen("u1", {"a"})}};
  const BeatOf beat = {.published_to = 0, .snapshots_to = 0};
  const Expected fresh = {
      {{0, 2, 10}},
      1,
      {{.user = "u1", .seen = {"a"}, .unseen = {"b"}}, {.user = "u2", .unseen = {"a", "b"}}}};
  return {
      Sequence("nothing was read: nothing is known").Expect({{{0, {}, {}}}, 0, {{.unseen = {"a"}}}}),
      Sequence("an update makes an item seen")
          .Beat(beat)
          .Expect({{{0, {}, {}}}})
          .End(0, 0)
          .Expect({{{0, {}, 0}}})
          .Update(update)
          .Expect(fresh),
      Sequence("the update comes first, then the end, then the beat")
          .Update(update)
          .Expect({{{0, {}, {}}}, 1, {{.seen = {"a"}, .unseen = {"b"}}}})
          .End(0, 0)
          .Expect({{{0, {}, {}}}, 1, {{.seen = {"a"}, .unseen = {"b"}}}})
          .Beat(beat)
          .Expect(fresh),
      Sequence("the beat comes first, then the update, then the end")
          .Beat(beat)
          .Update(update)
          .Expect({{{0, {}, {}}}, 1, {{.seen = {"a"}, .unseen = {"b"}}}})
          .End(0, 0)
          .Expect(fresh),
      Sequence("users are told apart, and may have several entries")
          .Update({.from = 0,
                   .to = 10,
                   .sections = {Seen({{"u1", {"a", "b"}}, {"42", {"c"}}, {"u1", {"d"}}, {"\u00fc", {"e"}}})}})
          .Expect({{{0, {}, {}}},
                   5,
                   {{.user = "u1", .seen = {"a", "b", "d"}, .unseen = {"c", "e"}},
                    {.user = "42", .seen = {"c"}, .unseen = {"a", "d", "e"}},
                    {.user = "\u00fc", .seen = {"e"}, .unseen = {"a", "c", "d"}}}}),
      Fresh("an update that begins below what is complete, and ends beyond it")
          .Update({.from = 4, .to = 12, .as_of = 2, .sections = {Seen("u1", {"a"})}})
          .Update({.from = 7, .to = 15, .as_of = 3, .sections = {Seen("u1", {"a", "b"})}})
          .Expect({{{0, 3, 15}}, 3, {{.seen = {"a", "b"}}}}),
  };
}

std::vector<Sequence> OfSnapshots() {
  const UpdateOf update = {.from = 10, .to = 20, .as_of = 2, .sections = {Seen("u1", {"a"})}};
  const SnapshotOf newer = {.offset = 20, .items = {"b"}};
  const Expected hidden = {{{0, 2, 20}}, 1, {{.seen = {"b"}, .unseen = {"a"}}}};
  const Expected counts = {{{0, 2, 20}}, 1, {{.seen = {"a", "b"}}}};
  const SnapshotMeta meta = UsualMeta(SnapshotFormat::kFingerprints);
  const std::string exact = Exact({});
  return {
      Fresh("a snapshot after the update, with all that it held: the addition no longer counts")
          .Update(update)
          .Snapshot(newer)
          .Expect(hidden),
      Fresh("the same in the other order: the addition doesn't count")
          .Snapshot(newer)
          .Update(update)
          .Expect(hidden),
      Fresh("a snapshot that is a record too old: the addition counts")
          .Snapshot({.offset = 19, .items = {"b"}})
          .Update(update)
          .Expect(counts),
      Fresh("a snapshot of another user hides nothing")
          .Update(update)
          .Snapshot({.user = "u2", .offset = 20, .items = {"b"}})
          .Expect({{{0, 2, 20}},
                   1,
                   {{.user = "u1", .seen = {"a"}, .unseen = {"b"}},
                    {.user = "u2", .seen = {"b"}, .unseen = {"a"}}}}),
      Fresh("the newest snapshot of a user counts, also with a lower offset")
          .Update(update)
          .Snapshot(newer)
          .Snapshot({.offset = 5, .items = {"c"}})
          .Expect({{{0, 2, 20}}, 1, {{.seen = {"a", "c"}, .unseen = {"b"}}}}),
      Fresh("a tombstone drops no addition")
          .Update(update)
          .Snapshot({.offset = 15, .items = {"b"}})
          .Tombstone(0, "u1")
          .Expect({{{0, 2, 20}}, 1, {{.seen = {"a"}, .unseen = {"b"}}}})
          .Update({.from = 20, .to = 30, .as_of = 3, .sections = {Seen("u1", {"c"})}})
          .Expect({{{0, 3, 30}}, 2, {{.seen = {"a", "c"}, .unseen = {"b"}}}}),
      Fresh("a tombstone after a snapshot that hid an addition: no snapshot hides it")
          .Update(update)
          .Snapshot(newer)
          .Tombstone(0, "u1")
          .Expect({{{0, 2, 20}}, 1, {{.seen = {"a"}, .unseen = {"b"}}}}),
      Fresh("offsets of different generations are not compared")
          .Update(update)
          .Snapshot({.generation = 2, .offset = 100, .items = {"b"}})
          .Expect(counts)
          .Snapshot(newer)
          .Expect(hidden),
      Fresh("a snapshot of a filter without updates has no generation: it hides nothing")
          .Update(update)
          .Snapshot({.generation = {}, .offset = 100, .items = {"b"}})
          .Expect(counts),
      Fresh("offsets of different partitions are not compared")
          .Update(update)
          .Snapshot({.partition = 1, .offset = 100, .items = {"b"}})
          .Expect({{{0, 2, 20}, {1, {}, {}}}, 1, {{.seen = {"a", "b"}}}}),
      Fresh("behind the generation stands complete_since, and before it what is similar")
          .Update(update)
          .Snapshot({.offset = 19, .items = {"b"}, .complete_since = true})
          .Expect(counts)
          .Snapshot({.offset = 20, .items = {"b"}, .complete_since = true})
          .Expect(hidden)
          .Snapshot({.offset = 19, .items = {"b"}, .near = {"n1"}, .groups = {"g1"}, .complete_since = true})
          .Expect({{{0, 2, 20}},
                   1,
                   {{.seen = {"a", "b"},
                     .near = {"n1"},
                     .not_near = {"g1"},
                     .groups = {"g1"},
                     .not_groups = {"n1"}}}})
          .Snapshot({.offset = 20, .items = {"b"}, .near = {"n1"}, .groups = {"g1"}})
          .Expect({{{0, 2, 20}}, 1, {{.seen = {"b"}, .unseen = {"a"}, .near = {"n1"}, .groups = {"g1"}}}}),
      Fresh("a user whose snapshot was refused is not fresh until the next one")
          .Update(update)
          .SnapshotBytes(0, "u1", BytesOf(newer).substr(0, 60), true)
          .Expect({{{0, 2, 20}}, 1, {{.seen = {"a"}, .refused = true}, {.user = "u2", .unseen = {"a"}}}})
          .Snapshot(newer)
          .Expect(hidden)
          .SnapshotBytes(0, "u1", "", true)
          .Expect({{{0, 2, 20}}, 1, {{.refused = true}}})
          .Tombstone(0, "u1")
          .Expect({{{0, 2, 20}}, 1, {{.seen = {"a"}, .unseen = {"b"}}}}),
      Fresh("a snapshot with bit 1 of flags has a generation")
          .SnapshotBytes(0, "u1", Patched(Enveloped(meta, exact), 7, uint8_t{2}), true)
          .SnapshotBytes(0, "u2", BytesOf(SnapshotOf{.generation = 0}), true)
          .SnapshotBytes(0, "u3", BytesOf(SnapshotOf{.generation = -1}), true)
          .SnapshotBytes(0, "u4", Patched(BytesOf(newer), 7, uint8_t{6}), true)
          .SnapshotBytes(0, "u5",
                         Patched(Enveloped(meta, exact + exact,
                                           std::string(Fields().U32(exact.size()).U8(11).Zeros(11))),
                                 7, uint8_t{3}),
                         true)
          .Expect({{{0, 1, 10}},
                   0,
                   {{.user = "u1", .refused = true},
                    {.user = "u2", .refused = true},
                    {.user = "u3", .refused = true},
                    {.user = "u4", .refused = true},
                    {.user = "u5", .refused = true}}}),
  };
}

std::vector<Sequence> OfTheEnd() {
  const SnapshotOf snapshot = {.offset = 20, .items = {"a"}};
  return {
      Sequence("published_to counts only at the end of the snapshots, at snapshots_to or beyond")
          .Beat({.published_to = 20, .snapshots_to = 7})
          .Update({.from = 10, .to = 20, .as_of = 2, .sections = {Seen("u1", {"a"})}})
          .Update({.from = 20, .to = 30, .as_of = 3, .sections = {Seen("u1", {"b"})}})
          .Expect({{{0, {}, {}}}, 2, {{.seen = {"a", "b"}}}})
          .End(0, 6)
          .Expect({{{0, {}, {}}}, 2, {{.seen = {"a", "b"}}}})
          .Snapshot(snapshot)
          .Expect({{{0, {}, {}}}, 2, {{.seen = {"a", "b"}}}})
          .End(0, 7)
          .Expect({{{0, 3, 30}}, 1, {{.seen = {"a", "b"}}}}),
      Sequence("an end of another partition doesn't count")
          .Beat({.published_to = 20, .snapshots_to = 7})
          .End(1, 7)
          .Expect({{{0, {}, {}}, {1, {}, {}}}})
          .End(0, 7)
          .Expect({{{0, {}, 20}, {1, {}, {}}}}),
      Fresh("the newest end counts, also where it is lower")
          .End(0, 4)
          .Beat({.published_to = 20, .snapshots_to = 5})
          .Expect({{{0, 1, 10}}})
          .End(0, 5)
          .Expect({{{0, 1, 20}}}),
      Fresh("a later base needs the end beyond its snapshots_to")
          .Update({.from = 10, .to = 20, .as_of = 2, .sections = {Seen("u1", {"a"})}})
          .Beat({.published_to = 20, .snapshots_to = 6})
          .Expect({{{0, 2, 20}}, 1, {{.seen = {"a"}}}})
          .Snapshot(snapshot)
          .End(0, 6)
          .Expect({{{0, 2, 20}}, 0, {{.seen = {"a"}}}}),
  };
}

std::vector<Sequence> OfStartingOver() {
  const UpdateOf update = {.from = 10, .to = 20, .as_of = 2, .sections = {Seen("u1", {"a"})}};
  const UpdateOf next = {.from = 20, .to = 30, .as_of = 3, .sections = {Seen("u1", {"b"})}};
  const auto published = [](int64_t to) { return BeatOf{.published_to = to, .snapshots_to = 5}; };
  return {
      Fresh("a reader that starts over in the snapshots isn't fresh until it stands at their end again")
          .Update(update)
          .Restart(0)
          .Expect({{{0, {}, {}}}, 1, {{.seen = {"a"}}}})
          .Beat(published(20))
          .Expect({{{0, {}, {}}}, 1, {{.seen = {"a"}}}})
          .Update(next)
          .Expect({{{0, {}, {}}}, 2, {{.seen = {"a", "b"}}}})
          .Snapshot({.offset = 20, .items = {"a"}})
          .End(0, 4)
          .Expect({{{0, {}, {}}}, 2, {{.seen = {"a", "b"}}}})
          .End(0, 5)
          .Expect({{{0, 3, 30}}, 1, {{.seen = {"a", "b"}}}}),
      Fresh("published_to has gone back when the reader starts over: additions above it are gone")
          .Update(update)
          .Snapshot({.offset = 20, .items = {"a"}})
          .Beat(published(20))
          .Update(next)
          .Expect({{{0, 3, 30}}, 1, {{.seen = {"a", "b"}}}})
          .Restart(0)
          .Snapshot({.offset = 10, .items = {"c"}})
          .Beat(published(15))
          .End(0, 5)
          .Expect({{{0, {}, 15}}, 1, {{.seen = {"b", "c"}, .unseen = {"a"}}}})
          .Beat(published(19))
          .Expect({{{0, {}, 19}}, 1})
          .Snapshot({.offset = 20, .items = {"a", "c"}})
          .Beat(published(20))
          .Expect({{{0, 3, 30}}, 1, {{.seen = {"a", "b", "c"}}}}),
      Fresh("the same, and updates that come again have what was gone")
          .Update(update)
          .Beat(published(20))
          .Update(next)
          .Restart(0)
          .Beat(published(15))
          .End(0, 5)
          .Expect({{{0, {}, 15}}, 1, {{.seen = {"b"}, .unseen = {"a"}}}})
          .Update({.from = 15, .to = 20, .as_of = 2, .sections = {Seen("u1", {"a"})}})
          .Expect({{{0, 3, 30}}, 2, {{.seen = {"a", "b"}}}}),
      Fresh("the highest published_to that has settled counts, also where a lower one settled after it")
          .Update(update)
          .Beat(published(20))
          .Beat(published(12))
          .Update(next)
          .Expect({{{0, 3, 30}}, 1})
          .Restart(0)
          .End(0, 5)
          .Expect({{{0, {}, 12}}, 1, {{.seen = {"b"}, .unseen = {"a"}}}})
          .Beat(published(20))
          .Expect({{{0, 3, 30}}, 1}),
      Fresh("published_to is beyond the run: only a later record says how fresh the reader is")
          .Restart(0)
          .Beat(published(20))
          .End(0, 5)
          .Expect({{{0, {}, 20}}})
          .Update({.from = 20, .to = 20, .as_of = 4})
          .Expect({{{0, 4, 20}}}),
      Fresh("the run beyond a gap stays, and what was complete before the gap is no run")
          .Update(next)
          .Expect({{{0, 1, 10}}, 1})
          .Restart(0)
          .Expect({{{0, {}, {}}}, 1, {{.seen = {"b"}}}})
          .End(0, 5)
          .Expect({{{0, {}, 10}}, 1})
          .Beat(published(20))
          .Expect({{{0, 3, 30}}, 1, {{.seen = {"b"}}}}),
      Fresh("a reader that starts over again before it has settled")
          .Update(update)
          .Restart(0)
          .Restart(0)
          .Update(next)
          .Restart(0)
          .Expect({{{0, {}, {}}}, 2})
          .End(0, 5)
          .Expect({{{0, 3, 30}}, 2, {{.seen = {"a", "b"}}}}),
      Fresh("a reader that starts over again while its run waits")
          .Update(update)
          .Beat(published(20))
          .Update(next)
          .Restart(0)
          .Beat(published(15))
          .End(0, 5)
          .Update({.from = 15, .to = 17, .as_of = 2, .sections = {Seen("u1", {"c"})}})
          .Expect({{{0, 2, 17}}, 2, {{.seen = {"b", "c"}, .unseen = {"a"}}}})
          .Restart(0)
          .End(0, 5)
          .Expect({{{0, {}, 15}}, 2})
          .Beat(published(20))
          .Expect({{{0, 3, 30}}, 1}),
      Fresh("what had settled before the last time doesn't count")
          .Update(update)
          .Beat(published(20))
          .Restart(0)
          .Beat(published(15))
          .End(0, 5)
          .Update({.from = 15, .to = 25, .as_of = 4, .sections = {Seen("u1", {"a"})}})
          .Expect({{{0, 4, 25}}, 1})
          .Restart(0)
          .End(0, 5)
          .Expect({{{0, 4, 25}}, 1, {{.seen = {"a"}}}}),
      Sequence("a reader that starts over before anything is known")
          .Update({.from = 0, .to = 10, .as_of = 2, .sections = {Seen("u1", {"a"})}})
          .Restart(0)
          .Beat({.published_to = 0, .snapshots_to = 0})
          .Expect({{{0, {}, {}}}, 1})
          .End(0, 0)
          .Expect({{{0, 2, 10}}, 1, {{.seen = {"a"}}}}),
      Fresh("a reader starts over in one of its partitions")
          .Beat({.partition = 1, .generation = 7, .published_to = 100, .snapshots_to = 3})
          .End(1, 3)
          .Update({.partition = 1, .generation = 7, .from = 100, .to = 110, .as_of = 9})
          .Update(update)
          .Restart(1)
          .Expect({{{0, 2, 20}, {1, {}, {}}}, 1})
          .Beat(published(20))
          .Expect({{{0, 2, 20}, {1, {}, {}}}, 0})
          .End(1, 3)
          .Expect({{{0, 2, 20}, {1, 9, 110}}, 0}),
      Fresh("a past generation that a beat names again has started over as well")
          .Update(update)
          .Beat({.generation = 2})
          .Restart(0)
          .Beat(published(12))
          .Expect({{{0, {}, {}}}, 1, {{.seen = {"a"}}}})
          .End(0, 5)
          .Expect({{{0, 2, 20}}, 1, {{.seen = {"a"}}}}),
      Fresh("parts that came before the reader started over may be gone")
          .Update({.from = 10, .to = 10, .sections = {Seen("u1", {"a"})}})
          .Beat(published(11))
          .Expect({{{0, 1, 11}}, 0})
          .Restart(0)
          .Beat(published(10))
          .End(0, 5)
          .Expect({{{0, {}, 10}}, 0})
          .Update({.from = 10, .to = 12, .part = 1, .as_of = 2, .sections = {Seen("u1", {"last"})}})
          .Expect({{{0, {}, 10}}, 1, {{.seen = {"last"}, .unseen = {"a"}}}})
          .Beat(published(11))
          .Expect({{{0, 2, 12}}, 1}),
      Fresh("the limit drops a record that came before the reader started over, and one that came after", 2)
          .Update(update)
          .Beat(published(20))
          .Update(next)
          .Restart(0)
          .Beat(published(12))
          .Update({.from = 12, .to = 20, .as_of = 2, .sections = {Seen("u1", {"a"})}})
          .Update({.from = 30, .to = 40, .as_of = 4, .sections = {Seen("u1", {"c"})}})
          .Update({.from = 40, .to = 50, .as_of = 5, .sections = {Seen("u1", {"d"})}})
          .End(0, 5)
          .Expect({{{0, {}, 50}}, 2, {{.seen = {"c", "d"}, .unseen = {"a", "b"}}}})
          .Beat(published(30))
          .Expect({{{0, 5, 50}}, 2}),
  };
}

std::vector<Sequence> OfLogs() {
  const UpdateOf update = {.from = 10, .to = 20, .as_of = 2, .sections = {Seen("u1", {"a"})}};
  const auto of_log = [](Number log, int64_t to = 20) {
    return BeatOf{.published_to = to, .snapshots_to = 5, .log = log};
  };
  const PartitionIs must = {.as_of = 2, .complete_to = 20, .must_restart = true};
  const PartitionIs over = {.must_restart = true};
  return {
      Fresh("the topic was created again: the reader must start over, and nothing settles meanwhile")
          .Update(update)
          .Beat(of_log(1))
          .Expect({{must}, 1, {{.seen = {"a"}}}})
          .End(0, 9)
          .Expect({{must}, 1, {{.seen = {"a"}}}})
          .Restart(0)
          .Expect({{{0, {}, {}}}, 1, {{.seen = {"a"}}}})
          .End(0, 4)
          .Expect({{{0, {}, {}}}, 1})
          .Snapshot({.offset = 20, .items = {"a", "b"}})
          .End(0, 5)
          .Expect({{{0, 2, 20}}, 0, {{.seen = {"a", "b"}}}}),
      Sequence("a log that a beat lacks is 0, also where it is the first")
          .Beat({})
          .Beat(of_log(3, 10))
          .Expect({{{.must_restart = true}}})
          .Restart(0)
          .End(0, 5)
          .Expect({{{0, {}, 10}}})
          .Beat(of_log(3, 12))
          .Expect({{{0, {}, 12}}}),
      Sequence("a reader that begins in a later log needn't start over")
          .Beat(of_log(3, 10))
          .End(0, 5)
          .Expect({{{0, {}, 10}}})
          .Beat(of_log({}, 12))
          .Expect({{{0, {}, 10, true}}}),
      Fresh("the topic was created again once more while the reader started over")
          .Update(update)
          .Beat(of_log(1))
          .Restart(0)
          .Beat(of_log(2))
          .Expect({{over}, 1})
          .End(0, 9)
          .Expect({{over}, 1})
          .Restart(0)
          .End(0, 9)
          .Expect({{{0, 2, 20}}, 0}),
      Fresh("the log of before has come back: nothing to start over for")
          .Update(update)
          .Beat(of_log(1))
          .Expect({{must}, 1})
          .Beat(of_log(0))
          .Expect({{{0, 2, 20}}, 0}),
      Fresh("a log is one filter's, in one partition")
          .Update(update)
          .Beat({.published_to = 20, .snapshots_to = 5, .filter = "other", .log = 1})
          .Beat({.partition = 1, .published_to = 20, .snapshots_to = 5, .log = 4})
          .Expect({{{0, 2, 20}, {1, {}, {}}}, 1})
          .Beat({.partition = 1, .published_to = 20, .snapshots_to = 5, .log = 5})
          .Expect({{{0, 2, 20}, {1, {}, {}, true}}, 1}),
      Fresh("a beat without generation, and a tombstone, say nothing of the log")
          .Update(update)
          .Beat(of_log(1))
          .Beat({.generation = {}})
          .Expect({{over}, 1})
          .Beat(of_log(1))
          .Expect({{must}, 1})
          .Restart(0)
          .Beat({.generation = {}})
          .Expect({{{0, {}, {}}}, 1})
          .End(0, 5)
          .Beat(of_log(1))
          .Expect({{{0, 2, 20}}, 0}),
      Fresh("the filter's snapshots are in another topic now: nothing settles")
          .OfTopic("filters")
          .Beat({.published_to = 11, .snapshots_to = 5, .topic = "filters"})
          .Update(update)
          .Beat({.published_to = 20, .snapshots_to = 5, .topic = "others"})
          .Expect({{{.as_of = 2, .complete_to = 20, .moved_to = "others"}}, 1})
          .Beat({.published_to = 20, .snapshots_to = 5, .filter = "other", .topic = "others"})
          .Expect({{{0, 2, 20}}, 1})
          .Beat({.published_to = 20, .snapshots_to = 5, .topic = "filters"})
          .Expect({{{0, 2, 20}}, 0}),
      Fresh("a reader that doesn't know its topic has never moved")
          .Beat({.published_to = 12, .snapshots_to = 5, .topic = "others"})
          .Expect({{{0, 1, 12}}}),
      Fresh("what was shown before complete_since_ms may be missing, as the newest beat says")
          .Beat({.published_to = 10, .snapshots_to = 5, .complete_since = 7})
          .Beat({.partition = 1, .published_to = 10, .snapshots_to = 5, .complete_since = 9})
          .Expect(
              {{{.as_of = 1, .complete_to = 10, .complete_since = 7}, {.partition = 1, .complete_since = 9}}})
          .Beat({.published_to = 10, .snapshots_to = 5, .filter = "other", .complete_since = 7})
          .Beat({.partition = 1, .generation = {}, .complete_since = 9})
          .Expect({{{0, 1, 10}, {1, {}, {}}}}),
      Fresh("members by filter of another type, or out of range, are refused; null ones are absent")
          .BeatText("0", TextOf({.published_to = 30, .snapshots_to = 5, .log = -1}), true)
          .BeatText("0", "{\"snapshots_log\":7," + TextOf({.published_to = 30, .snapshots_to = 5}).substr(1),
                    true)
          .BeatText("0",
                    "{\"snapshots_log\":{\"other\":\"7\"}," +
                        TextOf({.published_to = 30, .snapshots_to = 5}).substr(1),
                    true)
          .BeatText("0",
                    "{\"snapshots_topic\":{\"default\":7}," +
                        TextOf({.published_to = 30, .snapshots_to = 5}).substr(1),
                    true)
          .BeatText("0",
                    "{\"complete_since_ms\":[7]," + TextOf({.published_to = 30, .snapshots_to = 5}).substr(1),
                    true)
          .Expect({{{0, 1, 10}}})
          .BeatText("0",
                    "{\"snapshots_log\":{\"default\":null},\"snapshots_topic\":null,"
                    "\"complete_since_ms\":{\"default\":null}," +
                        TextOf({.published_to = 15, .snapshots_to = 5}).substr(1))
          .Expect({{{0, 1, 15}}}),
  };
}

/// What no other sequence misses.
std::vector<Sequence> OfWhatStays() {
  const UpdateOf update = {.from = 10, .to = 20, .as_of = 2, .sections = {Seen("u1", {"a"})}};
  const UpdateOf next = {.from = 20, .to = 30, .as_of = 3, .sections = {Seen("u1", {"b"})}};
  const auto of_two = [](int64_t to) {
    return BeatOf{.generation = 2, .published_to = to, .snapshots_to = 5};
  };
  return {
      Fresh("what was known of a past generation is gone once another has settled, also if it comes back")
          .Update(update)
          .Beat(of_two(3))
          .Expect({{{0, {}, 3}}, 0, {{.unseen = {"a"}}}})
          .Beat({.snapshots_to = 5})
          .Expect({{{0, {}, {}}}, 0})
          .Update(next)
          .Expect({{{0, {}, {}}}, 1}),
      Fresh("what the limit dropped before the reader started over still counts", 1)
          .Update(update)
          .Update(next)
          .Expect({{{0, 1, 30}}, 1})
          .Restart(0)
          .End(0, 5)
          .Expect({{{0, 1, 30}}, 1})
          .Beat({.published_to = 20, .snapshots_to = 5})
          .Expect({{{0, 3, 30}}, 1}),
      Fresh("what the limit dropped of a generation before its first beat counts", 1)
          .Update({.generation = 2, .from = 0, .to = 10, .as_of = 2, .sections = {Seen("u1", {"a"})}})
          .Update({.generation = 2, .from = 10, .to = 20, .as_of = 3, .sections = {Seen("u1", {"b"})}})
          .Beat(of_two(5))
          .Expect({{{0, {}, 20}}, 1})
          .Beat(of_two(10))
          .Expect({{{0, 3, 20}}, 1}),
      Sequence("a user's snapshots in two partitions count both, and so does a refused one")
          .Snapshot({.partition = 0, .offset = 5, .items = {"a"}})
          .Snapshot({.partition = 1, .offset = 5, .items = {"b"}})
          .Expect({{{0, {}, {}}}, 0, {{.seen = {"a", "b"}, .unseen = {"c"}}}})
          .SnapshotBytes(0, "u1", "SEEN", true)
          .Snapshot({.partition = 1, .offset = 6, .items = {"c"}})
          .Expect({{{0, {}, {}}}, 0, {{.seen = {"a", "c"}, .unseen = {"b"}, .refused = true}}})
          .Tombstone(0, "u1")
          .Expect({{{0, {}, {}}}, 0, {{.seen = {"c"}, .unseen = {"a", "b"}}}}),
      Fresh("snapshots, and that one was refused, outlive the start over")
          .Snapshot({.offset = 10, .items = {"a"}})
          .SnapshotBytes(0, "u1", "SEEN", true)
          .Restart(0)
          .Expect({{{0, {}, {}}}, 0, {{.seen = {"a"}, .refused = true}}}),
      Fresh("a beat without generation says nothing of another topic")
          .OfTopic("filters")
          .Beat({.published_to = 12, .snapshots_to = 5, .topic = "others"})
          .Expect({{{.as_of = 1, .complete_to = 10, .moved_to = "others"}}})
          .Beat({.generation = {}, .topic = "others"})
          .Expect({{{0, {}, {}}}}),
  };
}

std::vector<Sequence> OfClocks() {
  return {
      Fresh("the newest as_of counts, not the greatest: a clock was ahead")
          .Update({.from = 10, .to = 20, .as_of = 500})
          .Expect({{{0, 500, 20}}})
          .Update({.from = 20, .to = 20, .as_of = 3})
          .Expect({{{0, 3, 20}}})
          .Update({.from = 20, .to = 30})
          .Expect({{{0, 3, 30}}})
          .Update({.from = 12, .to = 14, .as_of = 2})
          .Expect({{{0, 3, 30}}}),
      Fresh("the same beyond a gap")
          .Update({.from = 20, .to = 30, .as_of = 500})
          .Update({.from = 30, .to = 30, .as_of = 3})
          .Update({.from = 30, .to = 40})
          .Update({.from = 19, .to = 35, .as_of = 2})
          .Beat({.published_to = 19, .snapshots_to = 5})
          .Expect({{{0, 3, 40}}}),
      Fresh("the run's as_of replaces a greater one, unless it isn't known")
          .Update({.from = 10, .to = 12, .as_of = 500})
          .Update({.from = 20, .to = 30})
          .Beat({.published_to = 20, .snapshots_to = 5})
          .Expect({{{0, 500, 30}}})
          .Update({.from = 40, .to = 50, .as_of = 3})
          .Beat({.published_to = 40, .snapshots_to = 5})
          .Expect({{{0, 3, 50}}}),
  };
}

std::vector<Sequence> OfBeats() {
  const UpdateOf update = {.from = 10, .to = 20, .as_of = 2, .sections = {Seen("u1", {"a"})}};
  return {
      Sequence("a beat without published_to takes the base back")
          .Beat({.published_to = 10, .snapshots_to = 5})
          .Beat({})
          .End(0, 5)
          .Expect({{{0, {}, {}}}})
          .Beat({.published_to = 12, .snapshots_to = 5})
          .Expect({{{0, {}, 12}}}),
      Fresh("a beat without published_to drops nothing")
          .Update(update)
          .Beat({.published_to = 20, .snapshots_to = 6})
          .Beat({.snapshots_to = 5})
          .End(0, 6)
          .Expect({{{0, 2, 20}}, 1, {{.seen = {"a"}}}}),
      Fresh("a filter that snapshots_to lacks has no base")
          .Update(update)
          .Beat({.published_to = 20, .snapshots_to = 5, .filter = "other"})
          .Expect({{{0, 2, 20}}, 1, {{.seen = {"a"}}}})
          .Beat({.published_to = 20})
          .Expect({{{0, 2, 20}}, 1, {{.seen = {"a"}}}})
          .Beat({.published_to = 20, .snapshots_to = 5})
          .Expect({{{0, 2, 20}}}),
      Sequence("only the newest beat counts")
          .Beat({.published_to = 100, .snapshots_to = 5})
          .Beat({.published_to = 50, .snapshots_to = 5})
          .Update({.from = 60, .to = 70, .as_of = 2})
          .End(0, 5)
          .Expect({{{0, {}, 50}}}),
      Fresh("what is complete stays so if published_to goes back")
          .Update(update)
          .Beat({.published_to = 5, .snapshots_to = 0})
          .Expect({{{0, 2, 20}}, 1, {{.seen = {"a"}}}})
          .Update({.from = 20, .to = 30, .as_of = 3})
          .Expect({{{0, 3, 30}}, 1, {{.seen = {"a"}}}}),
      Fresh("a beat of a daemon without updates: the reader isn't fresh")
          .Update(update)
          .Beat({.generation = {}, .published_to = 20})
          .Expect({{{0, {}, {}}}, 1, {{.seen = {"a"}}}}),
      Fresh("a generation that comes back is not a past one")
          .Update(update)
          .Beat({.generation = {}})
          .Beat({.published_to = 12, .snapshots_to = 5})
          .Expect({{{0, 2, 20}}, 1, {{.seen = {"a"}}}})
          .Beat({.generation = 2})
          .Expect({{{0, {}, {}}}, 1, {{.seen = {"a"}}}})
          .Beat({.published_to = 15, .snapshots_to = 5})
          .Expect({{{0, 2, 20}}, 1, {{.seen = {"a"}}}}),
      Fresh("partitions have bases and generations of their own")
          .Beat({.partition = 1, .generation = 7, .published_to = 100, .snapshots_to = 3})
          .Update({.partition = 1, .generation = 7, .from = 100, .to = 110, .as_of = 9})
          .Update(update)
          .Expect({{{0, 2, 20}, {1, {}, {}}}, 1, {{.seen = {"a"}}}})
          .End(1, 3)
          .Expect({{{0, 2, 20}, {1, 9, 110}}, 1, {{.seen = {"a"}}}})
          .Beat({.partition = 1, .generation = 7, .published_to = 110, .snapshots_to = 3})
          .Expect({{{0, 2, 20}, {1, 9, 110}}, 1, {{.seen = {"a"}}}}),
      Fresh("a beat that is refused changes nothing")
          .BeatText("1", TextOf({.published_to = 30, .snapshots_to = 5}), true)
          .BeatText("0", "{\"version\":2}", true)
          .BeatText("x", TextOf({.generation = 2}), true)
          .Expect({{{0, 1, 10}}}),
      Fresh("a beat with a member of another type, or out of its range, is refused")
          .BeatText("0", TextOf({.published_to = -1, .snapshots_to = 5}), true)
          .BeatText("0", TextOf({.generation = 0, .published_to = 30, .snapshots_to = 5}), true)
          .BeatText("0", TextOf({.published_to = 30, .snapshots_to = -1}), true)
          .BeatText("0", "{\"updates_from\":\"17\"," + TextOf({.generation = 2}).substr(1), true)
          .BeatText("0", "{\"snapshots_to\":[5]," + TextOf({.published_to = 30}).substr(1), true)
          .Expect({{{0, 1, 10}}}),
      Fresh("a member of a beat that is null is absent")
          .BeatText("0",
                    "{\"updates_from\":null,\"published_to\":null," + TextOf({.snapshots_to = 5}).substr(1))
          .Expect({{{0, 1, 10}}})
          .BeatText("0", "{\"generation\":null," + TextOf({.generation = {}}).substr(1))
          .Expect({{{0, {}, {}}}}),
      Fresh("members of a beat that the reader doesn't know don't matter")
          .BeatText("0", "{\"updates_from\":17,\"later\":{\"generation\":9}," +
                             TextOf({.published_to = 15, .snapshots_to = 5}).substr(1))
          .Expect({{{0, 1, 15}}}),
  };
}

std::vector<Sequence> OfGaps() {
  const UpdateOf beyond = {.from = 20, .to = 30, .as_of = 3, .sections = {Seen("u1", {"b"})}};
  const Expected gap = {{{0, 1, 10}}, 1, {{.seen = {"b"}}}};
  const std::string lost = BytesOf({.from = 10, .to = 20, .as_of = 2, .sections = {Seen("u1", {"a"})}});
  return {
      Fresh("behind a gap the reader isn't complete, but has the additions").Update(beyond).Expect(gap),
      Fresh("a gap of one offset")
          .Update({.from = 11, .to = 30, .as_of = 3, .sections = {Seen("u1", {"b"})}})
          .Expect(gap),
      Fresh("what lies beyond a gap is kept as a run, and joined by published_to")
          .Update(beyond)
          .Update({.from = 30, .to = 40, .as_of = 4, .sections = {Seen("u1", {"c"})}})
          .Expect({{{0, 1, 10}}, 2, {{.seen = {"b", "c"}}}})
          .Beat({.published_to = 19, .snapshots_to = 5})
          .Expect({{{0, 1, 19}}, 2, {{.seen = {"b", "c"}}}})
          .Beat({.published_to = 20, .snapshots_to = 5})
          .Expect({{{0, 4, 40}}, 2, {{.seen = {"b", "c"}}}})
          .Update({.from = 40, .to = 50, .as_of = 5})
          .Expect({{{0, 5, 50}}, 2}),
      Fresh("a late record fills the gap and joins the run")
          .Update(beyond)
          .Update({.from = 10, .to = 20, .as_of = 2, .sections = {Seen("u1", {"a"})}})
          .Expect({{{0, 3, 30}}, 2, {{.seen = {"a", "b"}}}}),
      Fresh("a second gap: the newer run takes the place of the older one")
          .Update(beyond)
          .Update({.from = 40, .to = 50, .as_of = 5})
          .Beat({.published_to = 20, .snapshots_to = 5})
          .Expect({{{0, 1, 20}}, 1})
          .Beat({.published_to = 39, .snapshots_to = 5})
          .Expect({{{0, 1, 39}}})
          .Beat({.published_to = 40, .snapshots_to = 5})
          .Expect({{{0, 5, 50}}}),
      Fresh("an older record leaves the run as it is")
          .Update({.from = 40, .to = 50, .as_of = 5})
          .Update(beyond)
          .Beat({.published_to = 20, .snapshots_to = 5})
          .Expect({{{0, 1, 20}}, 1, {{.seen = {"b"}}}})
          .Beat({.published_to = 40, .snapshots_to = 5})
          .Expect({{{0, 5, 50}}}),
      Fresh("an older record that reaches the run makes it longer")
          .Update({.from = 30, .to = 40, .as_of = 4})
          .Update(beyond)
          .Beat({.published_to = 20, .snapshots_to = 5})
          .Expect({{{0, 4, 40}}, 1, {{.seen = {"b"}}}}),
      Fresh("a record within the run takes nothing from it")
          .Update({.from = 20, .to = 40, .as_of = 4})
          .Update({.from = 25, .to = 30, .as_of = 3})
          .Beat({.published_to = 20, .snapshots_to = 5})
          .Expect({{{0, 4, 40}}}),
      Fresh("a run that ends below published_to doesn't say how fresh the reader is")
          .Update(beyond)
          .Beat({.published_to = 40, .snapshots_to = 5})
          .Expect({{{0, 1, 40}}})
          .Update({.from = 35, .to = 45, .as_of = 5})
          .Expect({{{0, 5, 45}}}),
      Fresh("a record that ends below what is complete doesn't say how fresh the reader is")
          .Update({.from = 5, .to = 9, .as_of = 9, .sections = {Seen("u1", {"a"})}})
          .Expect({{{0, 1, 10}}, 0}),
      Fresh("a refused update is a gap")
          .UpdateBytes(Changed(lost, 20, uint8_t{1}), true)
          .UpdateBytes("", true)
          .Expect({{{0, 1, 10}}, 0, {{.unseen = {"a"}}}})
          .Update(beyond)
          .Expect(gap)
          .Beat({.published_to = 20, .snapshots_to = 5})
          .Expect({{{0, 3, 30}}, 1}),
      Fresh("a section that is refused takes the whole record with it")
          .UpdateBytes(SealedUpdate(lost + std::string(16, '\0')), true)
          .Expect({{{0, 1, 10}}, 0, {{.unseen = {"a"}}}}),
  };
}

std::vector<Sequence> OfEvents() {
  return {
      Fresh("an event in several records: all but the last end at its own offset")
          .Update({.from = 10, .to = 10, .as_of = 1, .sections = {Seen("u1", {"a"})}})
          .Update({.from = 10, .to = 10, .part = 1, .as_of = 1, .sections = {Seen("u1", {"b"})}})
          .Expect({{{0, 1, 10}}, 2, {{.seen = {"a", "b"}, .unseen = {"c"}}}})
          .Update({.from = 10, .to = 11, .part = 2, .as_of = 2, .sections = {Seen("u1", {"c"})}})
          .Expect({{{0, 2, 11}}, 3, {{.seen = {"a", "b", "c"}}}}),
      Fresh("the first records of an event count until a snapshot has the event: its offset + 1")
          .Update({.from = 10, .to = 10, .as_of = 1, .sections = {Seen("u1", {"a"})}})
          .Update({.from = 10, .to = 11, .part = 1, .as_of = 2, .sections = {Seen("u1", {"b"})}})
          .Snapshot({.offset = 10, .items = {"c"}})
          .Expect({{{0, 2, 11}}, 2, {{.seen = {"a", "b", "c"}}}})
          .Beat({.published_to = 10, .snapshots_to = 5})
          .Expect({{{0, 2, 11}}, 2, {{.seen = {"a", "b", "c"}}}})
          .Snapshot({.offset = 11, .items = {"c"}})
          .Expect({{{0, 2, 11}}, 2, {{.seen = {"c"}, .unseen = {"a", "b"}}}})
          .Beat({.published_to = 11, .snapshots_to = 5})
          .Expect({{{0, 2, 11}}, 0}),
      Fresh("empty updates say how fresh the reader is")
          .Expect({{{0, 1, 10}}})
          .Update({.from = 10, .to = 10, .as_of = 5})
          .Expect({{{0, 5, 10}}})
          .Update({.from = 10, .to = 10})
          .Expect({{{0, 5, 10}}})
          .Update({.from = 10, .to = 12})
          .Expect({{{0, 5, 12}}}),
      Sequence("published_to alone doesn't say how fresh the reader is")
          .Beat({.published_to = 10, .snapshots_to = 5})
          .End(0, 5)
          .Expect({{{0, {}, 10}}})
          .Update({.from = 10, .to = 10})
          .Expect({{{0, {}, 10}}})
          .Update({.from = 10, .to = 10, .as_of = 4})
          .Expect({{{0, 4, 10}}}),
      Fresh("items that count for a time")
          .Update({.from = 10,
                   .to = 20,
                   .as_of = 2,
                   .sections = {Seen("u1", {"a"}, 1, 1763700050), Seen("u1", {"b"}, 1, 1763700060),
                                Seen("u1", {"c"}, 1, 0xffffffff), Seen("u1", {"d"})}})
          .Expect({{{0, 2, 20}}, 4, {{.seen = {"a", "b", "c", "d"}}}, At(50) - 1})
          .Expect({{{0, 2, 20}}, 4, {{.seen = {"b", "c", "d"}, .unseen = {"a"}}}, At(50)})
          .Expect({{{0, 2, 20}}, 4, {{.seen = {"c", "d"}, .unseen = {"a", "b"}}}, At(60)}),
      Fresh("what is similar is asked apart from what was seen")
          .Update(
              {.from = 10,
               .to = 20,
               .as_of = 2,
               .sections = {Similar("u1", {"n1", "n2"}, {"g1"}),
                            Seen("u1", {"a"}),
                            // The items' own fingerprints as if they were similar ones, and the other way.
                            {.kind = AdditionKind::kSimilar, .entries = {EntryOf("u1", {"n3"})}},
                            {.entries = {{UpdateUserOf("u1"), SimilarPrints({"n4"}, {"g4"})}}}}})
          .Expect({{{0, 2, 20}},
                   7,
                   {{.seen = {"a"},
                     .unseen = {"n1", "n2", "n3", "n4"},
                     .near = {"n1", "n2"},
                     .not_near = {"a", "n3", "n4", "g1"},
                     .groups = {"g1"},
                     .not_groups = {"g4", "n1", "a"}},
                    {.user = "u2", .unseen = {"a"}, .not_near = {"n1"}, .not_groups = {"g1"}}}})
          .Snapshot({.offset = 20, .items = {"b"}, .near = {"n5"}, .groups = {"g5"}})
          .Expect({{{0, 2, 20}},
                   7,
                   {{.seen = {"b"},
                     .unseen = {"a"},
                     .near = {"n5"},
                     .not_near = {"n1", "n2"},
                     .groups = {"g5"},
                     .not_groups = {"g1"}}}})
          .Snapshot({.offset = 19, .items = {"b"}, .near = {"n5"}, .groups = {"g5"}})
          .Expect(
              {{{0, 2, 20}}, 7, {{.seen = {"a", "b"}, .near = {"n1", "n2", "n5"}, .groups = {"g1", "g5"}}}})
          .Beat({.published_to = 20, .snapshots_to = 5})
          .Expect({{{0, 2, 20}}, 0, {{.seen = {"b"}, .unseen = {"a"}, .near = {"n5"}, .not_near = {"n1"}}}}),
  };
}

/// A part of the event at `from` that isn't the last one.
UpdateOf PartOf(int64_t from, uint8_t part, const std::string& item) {
  return {.from = from, .to = from, .part = part, .sections = {Seen("u1", {item})}};
}
UpdateOf LastPart(int64_t from, int64_t to, uint8_t part, Number as_of) {
  return {.from = from, .to = to, .part = part, .as_of = as_of, .sections = {Seen("u1", {"last"})}};
}

std::vector<Sequence> OfMissingParts() {
  const UpdateOf first = PartOf(10, 0, "a"), second = PartOf(10, 1, "b"), last = LastPart(10, 12, 2, 2);
  const UpdateOf later = {.from = 12, .to = 20, .as_of = 3};
  const auto published = [](int64_t to) { return BeatOf{.published_to = to, .snapshots_to = 5}; };
  UpdateOf says_when = second;
  says_when.as_of = 9;
  UpdateOf of_other_generation = first;
  of_other_generation.generation = 2;
  UpdateOf of_other_filter = first;
  of_other_filter.filters = {"clicks", "default"};
  return {
      Fresh("the first part is missing: the event is a gap, and what comes behind it is a run")
          .Update(says_when)
          .Expect({{{0, 1, 10}}, 1, {{.seen = {"b"}}}})
          .Update(last)
          .Expect({{{0, 1, 10}}, 2, {{.seen = {"b", "last"}}}})
          .Update(later)
          .Beat(published(10))
          .Expect({{{0, 1, 10}}, 2})
          .Beat(published(11))
          .Expect({{{0, 3, 20}}, 1, {{.seen = {"last"}, .unseen = {"b"}}}}),
      Fresh("a part in the middle is missing")
          .Update(first)
          .Update(last)
          .Update(later)
          .Expect({{{0, 1, 10}}, 2, {{.seen = {"a", "last"}}}})
          .Beat(published(11))
          .Expect({{{0, 3, 20}}, 1}),
      Fresh("the last part is missing")
          .Update(first)
          .Update(second)
          .Update(later)
          .Expect({{{0, 1, 10}}, 2, {{.seen = {"a", "b"}}}})
          .Beat(published(11))
          .Expect({{{0, 1, 11}}})
          .Beat(published(12))
          .Expect({{{0, 3, 20}}}),
      Fresh("a refused part is missing until published_to has the event")
          .Update(first)
          .UpdateBytes(Changed(BytesOf(second), 5, uint8_t{2}), true)
          .Update(last)
          .Expect({{{0, 1, 10}}, 2, {{.seen = {"a", "last"}, .unseen = {"b"}}}})
          .Beat(published(10))
          .Expect({{{0, 1, 10}}, 2})
          .Beat(published(11))
          .Expect({{{0, 2, 12}}, 1}),
      Fresh("after a restart the event has fewer parts, and the first of them is missing")
          .Update(first)
          .Update(second)
          .Update(LastPart(10, 12, 1, 2))
          .Expect({{{0, 1, 10}}, 3, {{.seen = {"a", "b", "last"}}}}),
      Fresh("a part without those before it leaves the run as it is")
          .Update({.from = 15, .to = 20, .as_of = 2})
          .Update(PartOf(25, 1, "a"))
          .Beat(published(15))
          .Expect({{{0, 2, 20}}, 1, {{.seen = {"a"}}}}),
      Fresh("the last part ends with its event: nothing but its time lies behind the gap")
          .Update(LastPart(10, 11, 1, 2))
          .Expect({{{0, 1, 10}}, 1})
          .Beat(published(11))
          .Expect({{{0, 2, 11}}}),
      Fresh("an update without sections is no part")
          .Update({.from = 10, .to = 10, .as_of = 2})
          .Update(LastPart(10, 11, 1, 3))
          .Expect({{{0, 2, 10}}, 1}),
      Fresh("a part without sections of the filter is one")
          .Update(of_other_filter)
          .Update(LastPart(10, 11, 1, 2))
          .Expect({{{0, 2, 11}}, 1, {{.seen = {"last"}, .unseen = {"a"}}}}),
      Fresh("parts of another event don't count")
          .Update(PartOf(9, 0, "a"))
          .Update(LastPart(10, 12, 1, 2))
          .Expect({{{0, 1, 10}}, 1, {{.seen = {"last"}, .unseen = {"a"}}}}),
      Fresh("parts of another generation don't count")
          .Update(of_other_generation)
          .Update(LastPart(10, 12, 1, 2))
          .Expect({{{0, 1, 10}}, 2}),
      Fresh("parts of a generation that was dropped don't count once it comes back")
          .Update(first)
          .Beat({.generation = 2, .published_to = 0, .snapshots_to = 5})
          .Expect({{{0, {}, 0}}})
          .Beat(published(10))
          .Update(LastPart(10, 12, 1, 2))
          .Expect({{{0, {}, 10}}, 1}),
      Fresh("the greatest numbers of a part")
          .Update({.from = std::numeric_limits<int64_t>::max(),
                   .to = std::numeric_limits<int64_t>::max(),
                   .part = 255,
                   .as_of = 2,
                   .sections = {Seen("u1", {"a"})}})
          .Expect({{{0, 1, 10}}, 1, {{.seen = {"a"}}}})
          .Update(first)
          .Update(LastPart(10, 11, 255, 2))
          .Expect({{{0, 1, 10}}, 3}),
  };
}

std::vector<Sequence> OfKnownParts() {
  const UpdateOf first = PartOf(10, 0, "a"), second = PartOf(10, 1, "b"), last = LastPart(10, 12, 2, 2);
  const auto published = [](int64_t to) { return BeatOf{.published_to = to, .snapshots_to = 5}; };
  return {
      Fresh("a part comes twice")
          .Update(first)
          .Update(second)
          .Update(second)
          .Update(last)
          .Expect({{{0, 2, 12}}, 4, {{.seen = {"a", "b", "last"}}}}),
      Fresh("the parts come again from the first on, as after a restart")
          .Update(first)
          .Update(second)
          .Update(first)
          .Update(last)
          .Expect({{{0, 1, 10}}, 4})
          .Update(second)
          .Update(last)
          .Expect({{{0, 2, 12}}, 6}),
      Fresh("an update of other events comes between two parts")
          .Update(first)
          .Update({.from = 8, .to = 10, .as_of = 2, .sections = {Seen("u1", {"c"})}})
          .Update(second)
          .Update(last)
          .Expect({{{0, 2, 12}}, 3}),
      Fresh("parts beyond a gap belong to the run")
          .Update({.from = 15, .to = 20, .as_of = 2})
          .Update(PartOf(20, 0, "a"))
          .Update(PartOf(20, 1, "b"))
          .Update(LastPart(20, 30, 2, 3))
          .Expect({{{0, 1, 10}}, 3, {{.seen = {"a", "b", "last"}}}})
          .Beat(published(14))
          .Expect({{{0, 1, 14}}, 3})
          .Beat(published(15))
          .Expect({{{0, 3, 30}}, 3}),
      Fresh("a first part begins a run")
          .Update(PartOf(20, 0, "a"))
          .Update(LastPart(20, 30, 1, 3))
          .Beat(published(20))
          .Expect({{{0, 3, 30}}, 2, {{.seen = {"a", "last"}}}}),
      Fresh("a missing part within a run: the newer run begins behind the event")
          .Update({.from = 15, .to = 20, .as_of = 2})
          .Update(PartOf(20, 0, "a"))
          .Update(LastPart(20, 30, 2, 3))
          .Beat(published(15))
          .Expect({{{0, 1, 15}}, 2})
          .Beat(published(20))
          .Expect({{{0, 1, 20}}, 2})
          .Beat(published(21))
          .Expect({{{0, 3, 30}}, 1}),
      Fresh("published_to reaches the event between its parts")
          .Beat(published(9))
          .Update(first)
          .Beat(published(10))
          .Update(second)
          .Update(last)
          .Expect({{{0, 2, 12}}, 3, {{.seen = {"a", "b", "last"}}}}),
      Fresh("published_to passes the event between its parts: those before don't matter")
          .Update(second)
          .Beat(published(11))
          .Expect({{{0, 1, 11}}, 0})
          .Update(last)
          .Expect({{{0, 2, 12}}, 1}),
      Sequence("parts come before anything is known")
          .Update(first)
          .Update(second)
          .Update(last)
          .Beat(published(10))
          .End(0, 5)
          .Expect({{{0, 2, 12}}, 3, {{.seen = {"a", "b", "last"}}}}),
      Sequence("parts come before anything is known, and one is missing")
          .Update(first)
          .Update(last)
          .Beat(published(10))
          .End(0, 5)
          .Expect({{{0, {}, 10}}, 2})
          .Beat(published(11))
          .Expect({{{0, 2, 12}}, 1}),
  };
}

std::vector<Sequence> OfFilters() {
  const Ids both = {"clicks", "default"};
  Sequence second("the filter is the second name, so its bit is 2", 1000, "default");
  second.Beat({.published_to = 10, .snapshots_to = 5})
      .End(0, 5)
      .Update({.from = 10,
               .to = 20,
               .as_of = 2,
               .sections = {Seen("u1", {"a"}, 1), Seen("u1", {"b"}, 2), Seen("u1", {"c"}, 3)},
               .filters = both})
      .Expect({{{0, 2, 20}}, 2, {{.seen = {"b", "c"}, .unseen = {"a"}}}})
      .Update({.from = 20, .to = 30, .as_of = 3, .sections = {Seen("u1", {"a"}, 1)}, .filters = both})
      .Expect({{{0, 3, 30}}, 2, {{.unseen = {"a"}}}})
      .Update({.from = 30,
               .to = 40,
               .as_of = 4,
               .sections = {Seen("u1", {"d"}, 1), Seen("u1", {"e"}, 2)},
               .filters = {"default", "clicks"}})
      .Expect({{{0, 4, 40}}, 3, {{.seen = {"d"}, .unseen = {"a", "e"}}}});
  return {
      std::move(second),
      Fresh("an update that doesn't name the filter says nothing about it")
          .Update({.from = 10, .to = 20, .as_of = 2, .sections = {Seen("u1", {"a"})}, .filters = {"clicks"}})
          .Expect({{{0, 1, 10}}, 0, {{.unseen = {"a"}}}})
          .Update({.from = 20, .to = 30, .as_of = 3, .sections = {Seen("u1", {"b"})}})
          .Expect({{{0, 1, 10}}, 1, {{.seen = {"b"}}}}),
      Fresh("a name must be the same, byte by byte")
          .Update({.from = 10,
                   .to = 20,
                   .as_of = 2,
                   .sections = {Seen("u1", {"a"}, 3)},
                   .filters = {"Default", "default2"}})
          .Expect({{{0, 1, 10}}, 0, {{.unseen = {"a"}}}}),
  };
}

std::vector<Sequence> OfGenerations() {
  const UpdateOf unnamed = {
      .generation = 9, .from = 0, .to = 10, .as_of = 2, .sections = {Seen("u1", {"a"})}};
  const auto beats = [](Sequence& sequence, int count) {
    for (int i = 0; i < count; ++i) sequence.Beat({.published_to = 10, .snapshots_to = 5});
  };
  Sequence forgotten =
      Fresh("a generation that no beat named is forgotten after 60 beats without a record of it");
  forgotten.Update(unnamed).Expect({{{0, 1, 10}}, 1, {{.seen = {"a"}}}});
  beats(forgotten, 59);
  forgotten.Expect({{{0, 1, 10}}, 1, {{.seen = {"a"}}}});
  forgotten.Update({.generation = 9, .from = 10, .to = 20, .as_of = 3, .sections = {Seen("u1", {"b"})}});
  beats(forgotten, 59);
  forgotten.Expect({{{0, 1, 10}}, 2, {{.seen = {"a", "b"}}}});
  beats(forgotten, 1);
  forgotten.Expect({{{0, 1, 10}}, 0, {{.unseen = {"a", "b"}}}})
      .Beat({.generation = 9, .published_to = 0, .snapshots_to = 5})
      .Expect({{{0, {}, 0}}});
  Sequence named = Fresh("a beat of another partition doesn't count for the 60");
  named.Update(unnamed);
  beats(named, 59);
  named.Beat({.partition = 1}).Expect({{{0, 1, 10}, {1, {}, {}}}, 1, {{.seen = {"a"}}}});
  Sequence once_named = Fresh("a generation that a beat once named is not forgotten after 60 beats");
  once_named.Update({.from = 10, .to = 20, .as_of = 2, .sections = {Seen("u1", {"a"})}});
  for (int i = 0; i < 61; ++i) once_named.Beat({.generation = 2});
  once_named.Expect({{{0, {}, {}}}, 1, {{.seen = {"a"}}}});
  return {
      Fresh("a past generation is dropped once the new one has a base, and not before")
          .Update({.from = 10, .to = 20, .as_of = 2, .sections = {Seen("u1", {"a"})}})
          .Beat({.generation = 2})
          .Expect({{{0, {}, {}}}, 1, {{.seen = {"a"}}}})
          .Beat({.generation = 2, .published_to = 0, .snapshots_to = 6})
          .Update({.generation = 2, .from = 0, .to = 5, .as_of = 3, .sections = {Seen("u1", {"b"})}})
          .Expect({{{0, {}, {}}}, 2, {{.seen = {"a", "b"}}}})
          .End(0, 6)
          .Expect({{{0, 3, 5}}, 1, {{.seen = {"b"}, .unseen = {"a"}}}}),
      Fresh("published_to drops additions of its own generation only")
          .Update({.generation = 2, .from = 0, .to = 5, .as_of = 3, .sections = {Seen("u1", {"b"})}})
          .Beat({.published_to = 15, .snapshots_to = 5})
          .Expect({{{0, 1, 15}}, 1, {{.seen = {"b"}}}})
          .Beat({.generation = 2, .published_to = 0, .snapshots_to = 5})
          .Expect({{{0, 3, 5}}, 1, {{.seen = {"b"}}}}),
      Fresh("an update of another generation doesn't make this one complete")
          .Update({.generation = 2, .from = 10, .to = 20, .as_of = 3})
          .Expect({{{0, 1, 10}}}),
      Fresh("a record of a past generation is dropped when the reader settles, until a beat names it again")
          .Beat({.generation = 2, .published_to = 0, .snapshots_to = 5})
          .Update({.from = 10, .to = 20, .as_of = 2, .sections = {Seen("u1", {"a"})}})
          .Expect({{{0, {}, 0}}, 0, {{.unseen = {"a"}}}})
          .Beat({.published_to = 10, .snapshots_to = 5})
          .Update({.from = 10, .to = 20, .as_of = 2, .sections = {Seen("u1", {"a"})}})
          .Expect({{{0, 2, 20}}, 1, {{.seen = {"a"}}}}),
      std::move(once_named),
      std::move(forgotten),
      std::move(named),
  };
}

std::vector<Sequence> OfLimits() {
  return {
      Fresh("beyond the limit the oldest record goes, and the reader is as fresh as before it", 3)
          .Update(
              {.from = 10, .to = 20, .as_of = 2, .sections = {Seen("u1", {"a"}), Similar("u1", {"n1"}, {})}})
          .Update({.from = 20, .to = 30, .as_of = 3, .sections = {Seen("u1", {"b"})}})
          .Expect({{{0, 3, 30}}, 3, {{.seen = {"a", "b"}, .near = {"n1"}}}})
          .Update({.from = 30, .to = 40, .as_of = 4, .sections = {Seen("u1", {"c"})}})
          .Expect({{{0, 1, 40}}, 2, {{.seen = {"b", "c"}, .unseen = {"a"}, .not_near = {"n1"}}}})
          .Update({.from = 40, .to = 40, .as_of = 5})
          .Expect({{{0, 1, 40}}, 2})
          .Beat({.published_to = 19, .snapshots_to = 5})
          .Expect({{{0, 1, 40}}, 2})
          .Beat({.published_to = 20, .snapshots_to = 6})
          .Expect({{{0, 1, 40}}, 2})
          .Snapshot({.offset = 20, .items = {"a"}})
          .End(0, 6)
          .Expect({{{0, 5, 40}}, 2, {{.seen = {"a", "b", "c"}}}}),
      Fresh("after several dropped records, the oldest says how fresh, and the greatest `to` how long", 2)
          .Update({.from = 10, .to = 20, .as_of = 2, .sections = {Seen("u1", {"a", "b"})}})
          .Update({.from = 20, .to = 30, .as_of = 3, .sections = {Seen("u1", {"c", "d"})}})
          .Expect({{{0, 1, 30}}, 2, {{.seen = {"c", "d"}, .unseen = {"a", "b"}}}})
          .Update({.from = 30, .to = 40, .as_of = 4, .sections = {Seen("u1", {"e", "f"})}})
          .Expect({{{0, 1, 40}}, 2, {{.seen = {"e", "f"}, .unseen = {"c", "d"}}}})
          .Beat({.published_to = 20, .snapshots_to = 5})
          .Expect({{{0, 1, 40}}, 2})
          .Beat({.published_to = 30, .snapshots_to = 5})
          .Expect({{{0, 4, 40}}, 2}),
      Fresh("a record of more additions than the limit goes at once", 2)
          .Update({.from = 10, .to = 20, .as_of = 2, .sections = {Seen("u1", {"a", "b", "c"})}})
          .Expect({{{0, 1, 20}}, 0, {{.unseen = {"a", "b", "c"}}}})
          .Beat({.published_to = 20, .snapshots_to = 5})
          .Expect({{{0, 2, 20}}}),
      Fresh("the limit is of all partitions together, and so is the oldest record", 2)
          .Beat({.partition = 1, .generation = 7, .published_to = 100, .snapshots_to = 3})
          .End(1, 3)
          .Update({.partition = 1, .generation = 7, .from = 100, .to = 100, .as_of = 1})
          .Update({.partition = 1,
                   .generation = 7,
                   .from = 100,
                   .to = 110,
                   .as_of = 2,
                   .sections = {Seen("u1", {"a"})}})
          .Update({.from = 10, .to = 20, .as_of = 2, .sections = {Seen("u2", {"b"})}})
          .Expect(
              {{{0, 2, 20}, {1, 2, 110}}, 2, {{.user = "u1", .seen = {"a"}}, {.user = "u2", .seen = {"b"}}}})
          .Update({.from = 20, .to = 30, .as_of = 3, .sections = {Seen("u2", {"c"})}})
          .Expect({{{0, 3, 30}, {1, 1, 110}},
                   2,
                   {{.user = "u1", .unseen = {"a"}}, {.user = "u2", .seen = {"b", "c"}}}}),
      Sequence("a dropped record that came before the reader was complete: it can't say how fresh it is", 1)
          .Update({.from = 10, .to = 20, .as_of = 2, .sections = {Seen("u1", {"a"})}})
          .Update({.from = 20, .to = 30, .as_of = 3, .sections = {Seen("u1", {"b"})}})
          .Beat({.published_to = 10, .snapshots_to = 5})
          .End(0, 5)
          .Expect({{{0, {}, 30}}, 1, {{.seen = {"b"}, .unseen = {"a"}}}})
          .Beat({.published_to = 20, .snapshots_to = 5})
          .Expect({{{0, 3, 30}}, 1}),
      Fresh("what published_to drops doesn't count for the limit", 2)
          .Update({.from = 10, .to = 20, .as_of = 2, .sections = {Seen("u1", {"a", "b"})}})
          .Beat({.published_to = 20, .snapshots_to = 5})
          .Update({.from = 20, .to = 30, .as_of = 3, .sections = {Seen("u1", {"c", "d"})}})
          .Expect({{{0, 3, 30}}, 2, {{.seen = {"c", "d"}}}}),
  };
}

}  // namespace

std::string UpdateSequences() {
  std::string text;
  for (const auto& sequences : {OfOneUpdate(), OfSnapshots(), OfTheEnd(), OfStartingOver(), OfLogs(),
                                OfWhatStays(), OfClocks(), OfBeats(), OfGaps(), OfEvents(), OfMissingParts(),
                                OfKnownParts(), OfFilters(), OfGenerations(), OfLimits()}) {
    if (!text.empty()) text += ",\n";
    text += Joined(sequences, ",\n", [](const Sequence& one) { return one.Json(); });
  }
  return "{\n  \"sequences\": [\n" + text + "\n  ]\n}\n";
}

}  // namespace seen::golden
