#pragma once
// A realistic stream of exposures: skewed users, sessions of 10 to 20 distinct items that many users live
// through at the same time, skewed item popularity. The same options and times give the same bytes.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "tools/random.h"
#include "tools/zipf.h"

namespace seen {

struct GeneratorOptions {
  uint64_t users = 100'000;  // 1 to 2^32
  uint64_t items = 50'000;   // 1 to 2^32
  uint64_t seed = 1;
  uint32_t items_per_event = 1;  // over 1: the batch form, 1 to 20
  double user_skew = 0.6;        // exponents of rank
  double item_skew = 0.9;
  uint64_t sessions = 1024;  // under way at the same time, at most one a user; 1 to 2^24
  uint32_t event_bytes = 0;  // shorter events get a field more that makes them as long; 0 to 1 MiB
};

/// One thread. Constant memory, however many users.
class ExposureGenerator {
 public:
  /// kInvalidArgument names the option, its value and the range.
  static Status Validate(const GeneratorOptions& options);
  explicit ExposureGenerator(const GeneratorOptions& options);

  struct Generated {
    std::string_view user_id;
    std::string_view payload;  // one JSON event; valid until the next call, as `user_id` is
    uint32_t items = 0;
  };
  Generated Next(TimeMs exposed_at);

  static constexpr uint32_t kSessionItemsMin = 10;
  static constexpr uint32_t kSessionItemsMax = 20;

 private:
  using Id = std::array<char, 9>;  // a letter and eight hex digits

  // Numbers, not ids: a million sessions are visited in no order, and each should be two cache lines.
  struct Session {
    uint64_t request;
    uint32_t user;
    uint8_t length = 0;
    uint8_t shown = 0;
    uint8_t scene = 0;
    std::array<uint32_t, kSessionItemsMax> items;
  };
  void Begin(Session& session);
  void Pad();

  GeneratorOptions options_;
  Random random_;
  Random padding_;  // of its own: the same users and items whatever the length
  ZipfDistribution user_rank_;
  ZipfDistribution item_rank_;
  std::vector<Session> sessions_;  // under way at the same time
  Id user_id_;
  std::string payload_;
};

}  // namespace seen
