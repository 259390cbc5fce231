#pragma once
// The headers of replayed records, and of the records without a value that begin and end a run in a
// partition: docs/REPLAY.md.

#include <cstddef>
#include <string_view>

namespace seen {

inline constexpr std::string_view kReplayHeader = "seen-replay";  // the run's name
inline constexpr std::string_view kReplayPublishHeader = "seen-replay-publish";
inline constexpr std::string_view kReplayPublishLive = "live";  // anything else: when the run ends
inline constexpr std::string_view kReplayMarkHeader = "seen-replay-mark";
inline constexpr std::string_view kReplayBegin = "begin";
inline constexpr std::string_view kReplayEnd = "end";
inline constexpr size_t kReplayRunBytesMax = 64;

}  // namespace seen
