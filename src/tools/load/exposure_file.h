#pragma once
// Sends a file of JSON lines: exposures, also old ones as new, or any records that name their key.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "tools/load/event_sink.h"
#include "tools/load/rate_limiter.h"
#include "tools/progress.h"

namespace seen {

struct ExposureFile {
  std::string path;        // JSON lines, also .gz; "-" is standard input
  std::string key_member;  // empty: exposures, keyed by user id
  uint64_t lines_max = 0;  // 0: all
  double seconds_max = 0;  // 0: no limit
  bool shift = false;      // moves all times, so that the last is `until`
  TimeMs until;
};

/// Lines that can't be read are left out and counted; standard error names the first one. kNotFound: `shift`,
/// and the file has no exposure.
Result<SentCounts> SendFile(const ExposureFile& file, RateLimiter limiter, EventSink& sink,
                            Progress& progress);

/// The greatest `exposed_at` in a file of exposures. Lines that can't be read don't count. kNotFound: the
/// file has no exposure.
Result<TimeMs> LastExposure(const std::string& path);

/// `line`, an exposure as a JSON object, with its `exposed_at` moved by `shift_ms`. All other members stay
/// the same. kMalformed: not an object with an integer `exposed_at`.
Result<std::string> ShiftExposure(std::string_view line, int64_t shift_ms);

}  // namespace seen
