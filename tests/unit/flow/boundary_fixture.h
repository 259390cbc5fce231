#pragma once
// A row of a table: events, and the answers expected at given moments. The answers must not depend on how the
// state came about.

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "unit/flow/flow_fixture.h"

namespace seen::test {

struct Sent {
  std::string kind;
  std::string item;
  int64_t at_ms;
  std::string more = {};                            // further members, each with a comma before it
  std::optional<int64_t> record_ms = std::nullopt;  // the record's timestamp; at_ms if not given
};

struct Asked {
  int64_t wall_ms;
  std::string item;
  bool seen;
};

struct Row {
  std::string name;  // letters and digits only
  std::function<void(FilterPolicy&)> policy;
  std::vector<Sent> sent;
  std::vector<Asked> asked;  // ascending by time
};
inline void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

inline std::string NameOf(const ::testing::TestParamInfo<Row>& info) { return info.param.name; }

class BoundaryTest : public TimedTest, public ::testing::WithParamInterface<Row> {
 protected:
  /// Checks the answers from the tail, from the store, after replays, after a restart and after expiry.
  void Run(const Row& row) {
    format.declared_kinds = {{"clicked", EventKind{kDeclaredKindFirst}},
                             {"purchased", EventKind{kDeclaredKindFirst + 1}}};
    options.kinds = {kDeclaredKindFirst, kDeclaredKindFirst + 1};
    row.policy(options.filters[0]);
    Open();
    const auto send = [&](size_t from) {
      for (size_t i = from; i < row.sent.size(); ++i) {
        const Sent& one = row.sent[i];
        const int64_t record_ms = one.record_ms.value_or(one.at_ms);
        clock.SetWall(record_ms);
        Send(Event(one.kind, one.item, one.at_ms, "u1", one.more), record_ms);
      }
    };
    send(0);
    Ask(row, "the tail");
    Checkpoint();
    Ask(row, "the store");
    send(0);
    Ask(row, "a replay in the tail");
    Checkpoint();
    Ask(row, "a replay in the store");
    for (size_t from = 1; from < row.sent.size(); ++from) {
      send(from);
      if (from % 2 == 0) Checkpoint();
      Ask(row, "a replay from event " + std::to_string(from));
    }
    Open();
    Ask(row, "a restart");
    // The wall clock and Kafka's time go on, and the user changes. So the store drops expired bytes.
    for (const Asked& asked : row.asked) {
      clock.SetWall(asked.wall_ms);
      Send(Event("exposed", "another", asked.wall_ms));
      Checkpoint();
      EXPECT_EQ(Seen(asked.item), asked.seen) << asked.item << ", once bytes had expired";
    }
  }

 private:
  void Ask(const Row& row, const std::string& where) {
    for (const Asked& asked : row.asked) {
      clock.SetWall(asked.wall_ms);
      EXPECT_EQ(Seen(asked.item), asked.seen) << asked.item << ", " << asked.wall_ms << " ms, from " << where;
    }
    clock.SetWall(row.sent.back().record_ms.value_or(row.sent.back().at_ms));
  }
};

/// After `before`, the item a is seen until the last moment before `end_ms`.
inline std::vector<Asked> SeenUntil(int64_t end_ms, std::vector<Asked> before = {}) {
  before.push_back({end_ms - 1, "a", true});
  before.push_back({end_ms, "a", false});
  return before;
}

inline constexpr int64_t kSecond = 1'000, kHour = 3'600'000, kDay = kMsPerDay;

}  // namespace seen::test
