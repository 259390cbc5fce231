#pragma once
// The rules that decide which events count as seen, as in docs/SEEN.md and docs/EVENTS.md. Turns records into
// events for an oracle by these rules, and counts what the daemon would dead-letter, skip or drop.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "decode/event_decoder.h"
#include "decode/event_plan.h"
#include "flow/log_port.h"
#include "model/day.h"

namespace seen {

/// A kind of events with a window of its own.
struct KindRule {
  EventKind kind = EventKind::kExposed;
  int32_t window_days = 30;
};

/// The rules of one filter. The names are the configuration's.
struct FilterRules {
  std::string name = "default";
  int32_t window_days = 30;
  bool by_creation = false;  // window_by: "item_created_at"
  uint32_t items_max = 10'000;
  uint32_t items_per_day_max = 50'000;
  uint32_t exposures_min = 1;
  std::optional<int32_t> cooldown_days = std::nullopt;
  std::optional<uint32_t> served_ttl_s = std::nullopt;  // nullopt: not given; then served items may count
  std::vector<KindRule> kinds = {};
  std::string snapshot_topic = {};  // empty: the filter publishes nothing
};

struct OracleRules {
  int32_t future_skew_s_max = 300;
  uint64_t event_bytes_max = 1'048'576;
  std::shared_ptr<const EventPlan> plan;  // nullptr: the default format, with event kinds
  std::vector<FilterRules> filters = {FilterRules{}};
};

/// kInvalidArgument: the configuration's event format is invalid.
Result<OracleRules> RulesOf(const Config& config);

/// One bit per filter, by its place in the rules; at most 16 filters.
using RuleBits = uint16_t;

struct JudgedItem {
  std::string_view id;
  Day created;           // the day of the event if the event says nothing else
  RuleBits filters = 0;  // that it concerns: they cover the event, and it isn't too old for them
};

/// Something that happened to a user. Views are valid as long as those of its record.
struct JudgedEvent {
  std::string_view user_id;
  EventKind kind = EventKind::kExposed;
  uint32_t second = 0;  // since the epoch, when it happened
  int16_t source = 0;   // events of one source are in the order of the log
  std::span<const JudgedItem> items = {};
};

struct OracleCounts {
  uint64_t records = 0;
  uint64_t exposures = 0;  // (user, item) pairs that count in some filter, repeats included
  uint64_t too_old = 0;    // (user, item) pairs that were too old on arrival, for all filters they concern
  uint64_t malformed = 0;  // records that the daemon dead-letters
  uint64_t skipped = 0;    // skipped by conditions and kinds
  uint64_t uncovered = 0;  // (user, item) pairs that no filter covers
  friend bool operator==(const OracleCounts&, const OracleCounts&) = default;
};

/// One thread.
class EventJudge {
 public:
  /// `rules` must outlive this object.
  explicit EventJudge(const OracleRules& rules);

  /// nullopt: the record is no event of a user. Counts such a record, unless it marks a replay's beginning or
  /// end. The result is valid until the next call. Of a record with several events, or with items of several
  /// times, call ReadAll.
  std::optional<JudgedEvent> Read(const Record& record, int16_t source = 0);

  using Visit = std::function<Status(const JudgedEvent& event)>;
  /// Visits each event of the record; items with another time than the event's are events of their own.
  Status ReadAll(const Record& record, int16_t source, const Visit& visit);

  const OracleCounts& counts() const { return counts_; }
  /// Why the first malformed record is one, and where it is; empty: there is none.
  const std::string& first_malformed() const { return first_malformed_; }
  /// By filter: (user, item) pairs that the filter covers, but that were too old for it on arrival.
  const std::vector<uint64_t>& too_old() const { return too_old_; }

 private:
  Status ReadOne(const Record& record, int16_t source, const Visit& visit);
  JudgedEvent Judge(const Event& event, TimeMs written_at, int16_t source);
  bool IsLate(const FilterRules& filter, const Event& event, Day created, TimeMs timestamp) const;
  RuleBits Concerned(const Event& event, Day created, TimeMs timestamp, RuleBits& late) const;
  Status Malformed(const Record& record, int16_t source, std::string_view why);

  const OracleRules& rules_;
  EventDecoder decoder_;
  OracleCounts counts_;
  std::string first_malformed_;
  std::vector<uint64_t> too_old_;
  std::vector<JudgedItem> items_;
  std::vector<std::string_view> events_;
  bool several_ = false;  // the record just read may hold several events
};

}  // namespace seen
