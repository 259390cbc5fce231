#pragma once
// Where replay's events come from: files one behind the other, or topics' ranges. A source numbers what it
// gives. What is finished without a gap is in the manifest, and is where the next run goes on.

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
#include "bulk_load/line_place.h"
#include "decode/event_format.h"
#include "flow/log_port.h"
#include "kafka/client_settings.h"
#include "tools/history/history_file.h"
#include "tools/replay/manifest.h"

namespace seen {

struct HistoryEntry {
  uint64_t ticket = 0;             // for Finish
  std::string_view text;           // as it stood; valid until `use` returns
  std::string_view event;          // not yet decoded; of a record the same as `text`
  std::string_view problem;        // not empty: it can't be made an event
  const Record* record = nullptr;  // of a topic: for its headers
};

/// One thread.
class HistorySource {
 public:
  using Use = std::function<Status(const HistoryEntry&)>;

  virtual ~HistorySource() = default;
  /// Hands some entries to `use`, which may call Finish; stops at its first error. False: there are no more.
  virtual Result<bool> Next(const Use& use) = 0;
  virtual void Finish(uint64_t ticket, LineOutcome outcome) = 0;
  /// Brings what is finished into the manifest.
  virtual void Describe(Manifest& manifest) const = 0;
  /// Of the entry that `use` has now.
  virtual LinePlace Place() const = 0;
  /// "FILE line 17", "TOPIC partition 3 offset 17", as members of a reject's JSON object.
  virtual std::string WhereOf(const LinePlace& place) const = 0;
  /// Whether a part ended since the last call: then the share of rejects is looked at.
  virtual bool PartEnded() = 0;
  /// For the progress bar: how far, of how much (0: unknown), in Unit().
  virtual uint64_t Position() const = 0;
  virtual uint64_t Total() const = 0;
  virtual std::string_view Unit() const = 0;
};

/// Leaves out what `manifest` has done. kRefused: a file isn't what the manifest recorded.
Result<std::unique_ptr<HistorySource>> MakeFileSource(std::vector<HistoryFile> files,
                                                      const EventFormat& format, const Manifest& manifest);

/// The files in the order of their first event's time; those without any come last.
Result<std::vector<HistoryFile>> OrderedByTime(std::vector<HistoryFile> files, const EventFormat& format,
                                               uint64_t event_bytes_max);

struct TopicRange {
  std::string brokers;
  ClientSettings client;
  std::string topic;
  std::optional<TimeMs> since{};  // record timestamps
  std::optional<TimeMs> until{};
  std::map<int32_t, int64_t> from_offsets{};  // go before the times
  std::map<int32_t, int64_t> to_offsets{};    // exclusive
  std::string words;  // the range as it was asked for: what a resumed run must ask for again
  std::function<bool(const Record&)> takes = {};  // empty: all of them
  bool keeps_headers = true;
  bool Has(TimeMs at) const { return (!since || at >= *since) && (!until || at < *until); }
};
/// One topic behind the other. kRefused: the manifest has another range of a topic.
Result<std::unique_ptr<HistorySource>> MakeTopicSource(const std::vector<TopicRange>& ranges,
                                                       const Manifest& manifest);

/// "0:17,2:5" -> partition -> offset. kMalformed otherwise.
Result<std::map<int32_t, int64_t>> ParseOffsets(std::string_view text);

}  // namespace seen
