#pragma once
// The source of replay's events: files, one after the other, or ranges of topics. A source numbers its
// entries. The manifest has the entries that are finished without a gap. The next run continues after them.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "bulk_load/state_builder.h"
#include "decode/event_format.h"
#include "flow/log_port.h"
#include "kafka/client_settings.h"
#include "tools/history/history_file.h"
#include "tools/replay/manifest.h"

namespace seen {

/// A ticket has the number of a file or partition, and in its low bits the number of the entry there.
inline constexpr int kSequenceBits = 40;

/// Why an entry can't become an event; empty: it can. Valid until `use` returns.
struct EntryProblem {
  std::string_view reason;  // as in the counts of rejects
  std::string_view message;
};

struct HistoryEntry {
  uint64_t ticket = 0;     // for Finish
  std::string_view text;   // as in the source; valid until `use` returns
  std::string_view event;  // not yet decoded; for a record, the same as `text`
  EntryProblem problem{};
  const Record* record = nullptr;  // a record of a topic, for its headers
};

/// Limits of record timestamps, or of exposed_at: `since` is inside, `until` isn't.
struct HistoryTimes {
  std::optional<TimeMs> since{}, until{};
  bool Has(TimeMs at) const { return (!since || at >= *since) && (!until || at < *until); }
};

/// One thread.
class HistorySource {
 public:
  using Use = std::function<Status(const HistoryEntry&)>;

  virtual ~HistorySource() = default;
  /// Passes some entries to `use`, which may call Finish. Stops at its first error. False: no more entries.
  virtual Result<bool> Next(const Use& use) = 0;
  virtual void Finish(uint64_t ticket, LineOutcome outcome) = 0;
  /// Records the finished entries in the manifest.
  virtual void Describe(Manifest& manifest) const = 0;
  /// The place of the entry that `use` has now.
  virtual LinePlace Place() const = 0;
  /// "FILE line 17", "TOPIC partition 3 offset 17", as members of a reject's JSON object.
  virtual std::string WhereOf(const LinePlace& place) const = 0;
  /// Counts the entry at `place` as rejected.
  virtual void NoteRejected(const LinePlace& /*place*/) {}
  /// kMalformed: a file was read to its end, and each of its entries was rejected.
  virtual Status CheckReadable() const { return {}; }
  /// The names of the files and topics that were read to their end, and have no entry.
  virtual std::vector<std::string> Empty() const = 0;
  /// Whether this file is among those to read.
  virtual bool Reads(const std::string& /*path*/) const { return false; }
  /// Whether a part ended since the last call. Then the caller checks the share of rejects.
  virtual bool PartEnded() = 0;
  /// For the progress bar, in Unit(): how far, and of how much (0: unknown).
  virtual uint64_t Position() const = 0;
  virtual uint64_t Total() const = 0;
  virtual std::string_view Unit() const = 0;
};

/// Skips the entries that `manifest` has as done. kRefused: a file differs from the manifest's record of it.
/// `keeps_progress`: standard input must have marks of seen-history.
Result<std::unique_ptr<HistorySource>> MakeFileSource(std::vector<HistoryFile> files,
                                                      const Manifest& manifest, bool keeps_progress = false);

/// Sorts the files by the time of their first event. Files without an event come last.
Result<std::vector<HistoryFile>> OrderedByTime(std::vector<HistoryFile> files, const EventFormat& format,
                                               uint64_t event_bytes_max);

struct TopicRange {
  std::string brokers;
  ClientSettings client;
  std::string topic;
  HistoryTimes times{};                       // limits of record timestamps
  std::map<int32_t, int64_t> from_offsets{};  // reading begins there; the times still apply
  std::map<int32_t, int64_t> to_offsets{};    // exclusive
  std::string words;  // the range as requested; a resumed run must request the same range
  std::function<bool(const Record&)> takes = {};               // empty: takes all records
  std::function<EntryProblem(const Record&)> problem_of = {};  // empty: only a null value is one
  bool keeps_headers = true;
  bool may_be_compacted = false;
  bool may_hold_several = true;  // a record may hold several events, as text
};
/// Reads one topic after the other. kRefused: the manifest has another range of a topic.
Result<std::unique_ptr<HistorySource>> MakeTopicSource(const std::vector<TopicRange>& ranges,
                                                       const Manifest& manifest);

/// "0:17,2:5" -> partition -> offset. kMalformed otherwise.
Result<std::map<int32_t, int64_t>> ParseOffsets(std::string_view text);

}  // namespace seen
