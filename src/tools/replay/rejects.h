#pragma once
// Which lines of a history become records of the topic. Counts the lines that can't be sent, by reason, and
// keeps some as examples. A file, if there is one, gets all such lines. Too many such lines end the run.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "decode/event_decoder.h"
#include "model/event.h"
#include "tools/replay/history_source.h"
#include "tools/replay/target_topic.h"

namespace seen {

/// One thread.
class Rejects {
 public:
  static constexpr size_t kExamplesMax = 3;  // per reason

  struct Example {
    std::string where;    // a JSON object: file and line, or topic, partition and offset
    std::string message;  // for people
    std::string text;     // the beginning of the line
  };
  struct Reason {
    uint64_t count = 0;
    std::vector<Example> examples;
  };

  /// `share_max`: 0 to 1.
  explicit Rejects(double share_max) : share_max_(share_max) {}
  ~Rejects();
  Rejects(const Rejects&) = delete;
  Rejects& operator=(const Rejects&) = delete;

  /// From now on, appends each reject to this file, one JSON object per line.
  Status OpenFile(const std::string& path);
  Status Add(std::string_view reason, std::string_view message, const std::string& where,
             std::string_view text);
  Status Sync();
  /// kInvalidArgument: `source` reads the file of OpenFile.
  Status CheckNotReadBy(const HistorySource& source) const;

  uint64_t total() const { return total_; }
  const std::map<std::string, Reason, std::less<>>& reasons() const { return reasons_; }

  /// kMalformed: more than the allowed share of `lines` was rejected, or all of a file of `source`, whatever
  /// the share. The message has the most frequent reason, an example, and the remedy for this reason.
  Status CheckShare(uint64_t rejected, uint64_t lines, const HistorySource& source) const;

 private:
  Error Broken() const;
  std::string MostText() const;
  double share_max_;
  std::string path_;
  int file_ = -1;
  uint64_t total_ = 0;
  std::map<std::string, Reason, std::less<>> reasons_;
};

/// Decides of each entry of a history whether a replay sends it. One thread.
class EntryJudge {
 public:
  struct Rules {
    const Config& config;
    const TargetTopic* target = nullptr;  // nullptr: not looked at, so nothing is rejected on its account
    bool stamps_exposure = true;          // records carry the time of their exposure, otherwise of sending
    HistoryTimes times;                   // limits of exposed_at; events outside are skipped
  };
  /// `rules.config`, its target, `source` and `rejects` must outlive this object. kInvalidArgument: the
  /// configuration's event format is invalid.
  static Result<EntryJudge> Make(const Rules& rules, HistorySource& source, Rejects& rejects);

  /// The event to send, valid until the next call. nullopt: the source has the entry as skipped or rejected.
  Result<std::optional<Event>> Judge(const HistoryEntry& entry);
  Status Reject(const HistoryEntry& entry, std::string_view reason, std::string_view message);
  /// The time by which events are judged. At first the present time.
  void SetNow(TimeMs now) { now_ = now; }
  TimeMs now() const { return now_; }
  /// The events that were judged, and how many of them no window reaches.
  const BuildCounts& counts() const { return counts_; }

 private:
  EntryJudge(const Rules& rules, const std::shared_ptr<const EventPlan>& plan, HistorySource& source,
             Rejects& rejects);

  const Rules rules_;
  HistorySource& source_;
  Rejects& rejects_;
  EventDecoder decoder_;
  TimeMs now_;
  const int32_t window_days_;  // of the filter that keeps events for longest
  BuildCounts counts_;
};

/// "5 of 7 events are older than every window ...", with a guess at the cause; empty: none is.
std::string BeyondWindowsText(const BuildCounts& counts);

/// "1%", "0.5%", "100%" -> 0.01, ... kInvalidArgument: another form.
Result<double> ParseShare(std::string_view option, std::string_view text);

}  // namespace seen
