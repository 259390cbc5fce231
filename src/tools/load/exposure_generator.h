#pragma once
// A realistic stream of exposures: skewed users, skewed item popularity, and sessions of 10 to 20 distinct
// items. Many sessions run at the same time. The same options and times give the same bytes.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "tools/load/random.h"

namespace seen {

struct GeneratorOptions {
  uint64_t users = 100'000;  // 1 to 2^32
  uint64_t items = 50'000;   // 1 to 2^32
  uint64_t seed = 1;
  uint32_t items_per_event = 1;  // over 1: the batch form; 1 to 20
  double user_skew = 0.6;        // exponents of rank
  double item_skew = 0.9;
  uint64_t sessions = 1024;  // under way at the same time, at most one a user; 1 to 2^24
  uint32_t event_bytes = 0;  // an extra field pads shorter events to this length; 0 to 1 MiB
};

/// One thread. Constant memory for any number of users.
class ExposureGenerator {
 public:
  /// kInvalidArgument names the option, its value and the range.
  static Status Validate(const GeneratorOptions& options);
  explicit ExposureGenerator(const GeneratorOptions& options);

  struct Generated {
    std::string_view user_id;  // within `payload`
    std::string_view payload;  // one JSON event
    uint32_t items = 0;
  };
  /// Valid until the next call.
  Generated Next(TimeMs exposed_at) { return Next(exposed_at, payload_); }
  /// The result points into `payload`, and is valid as long as its bytes.
  Generated Next(TimeMs exposed_at, std::string& payload);

  static constexpr uint32_t kSessionItemsMin = 10;
  static constexpr uint32_t kSessionItemsMax = 20;

 private:
  // Numbers, not ids: a million sessions are visited in random order, and each should take two cache lines.
  struct Session {
    uint64_t request;
    uint32_t user;
    uint8_t length;
    uint8_t scene;
    uint8_t shown;
    std::array<uint32_t, kSessionItemsMax> items;
  };
  // An event whose session is chosen, but which is not written yet.
  struct Decided {
    Session* session;
    bool begins;
    Session begun;  // becomes `*session` if it begins
  };
  static constexpr size_t kAheadMax = 16;

  void DecideAhead();
  bool IsAhead(const Session& session) const;
  void Begin(Session& session);
  void Pad(std::string& payload);

  GeneratorOptions options_;
  Random random_;
  Random padding_;  // separate: users and items don't depend on event_bytes
  ZipfDistribution user_rank_;
  ZipfDistribution item_rank_;
  uint32_t session_count_;  // under way at the same time
  std::unique_ptr<Session[]> sessions_;
  std::vector<bool> under_way_;  // by session: it has items left to show; small enough to stay in a cache
  std::array<Decided, kAheadMax> ahead_{};  // each of another session
  uint64_t decided_ = 0;                    // events
  uint64_t written_ = 0;
  bool drawn_ = false;  // `session_` is drawn for the next event, which isn't decided yet
  uint32_t session_ = 0;
  std::string payload_;
};

}  // namespace seen
