#pragma once
// Where replay's events come from, one behind the other: files of JSON lines, or a topic's time range. A
// source numbers what it gives; what is finished without a gap is where the next run goes on.

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
#include "kafka/client_settings.h"
#include "tools/load/replay_progress.h"

namespace seen {

struct ReplayEntry {
  uint64_t ticket = 0;     // for Finish
  std::string_view bytes;  // one event, not yet decoded; valid until `use` returns
  bool is_null = false;    // a record without a value
};

/// One thread.
class ReplaySource {
 public:
  using Use = std::function<Status(const ReplayEntry&)>;

  virtual ~ReplaySource() = default;
  /// Hands some entries to `use`, which may call Finish; stops at its first error. False: there are no more.
  virtual Result<bool> Next(const Use& use) = 0;
  /// The entry was acknowledged, or is too bad to send.
  virtual void Finish(uint64_t ticket) = 0;
  /// Sets source, source_bytes, done, offsets.
  virtual void Describe(ReplayPosition& position) const = 0;
  /// "FILE line 17", "TOPIC partition 3 offset 17", as members of a reject's JSON object.
  virtual std::string Where(const ReplayEntry& entry) const = 0;
  /// For the progress bar: how far, of how much (0: unknown), in Unit().
  virtual uint64_t Position() const = 0;
  virtual uint64_t Total() const = 0;
  virtual std::string_view Unit() const = 0;
};

/// `resume`: an earlier run's position over the same files, nullptr: from the start. kNotFound: a file is
/// missing.
Result<std::unique_ptr<ReplaySource>> MakeFileSource(std::vector<std::string> paths,
                                                     const ReplayPosition* resume);

struct TopicRange {
  std::string brokers;
  ClientSettings client;
  std::string topic;
  std::optional<TimeMs> since;  // record timestamps
  std::optional<TimeMs> until;
  std::string words;  // the range as it was asked for: what a resumed run must ask for again
};
Result<std::unique_ptr<ReplaySource>> MakeTopicSource(const TopicRange& range, const ReplayPosition* resume);

/// "0:17,2:5" <-> partition -> offset. kMalformed otherwise.
std::string FormatOffsets(const std::map<int32_t, int64_t>& offsets);
Result<std::map<int32_t, int64_t>> ParseOffsets(std::string_view text);

}  // namespace seen
