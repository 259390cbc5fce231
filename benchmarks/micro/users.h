#pragma once
// Users as in the figures of docs/PERFORMANCE.md: a number of items a day, for a number of days.

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "flow/store_port.h"
#include "model/delta.h"

namespace seen::micro {

inline constexpr int32_t kFirstDay = 20'000;

inline Segment RandomDay(std::mt19937_64& random, int32_t day, size_t items) {
  std::set<Fingerprint> unique;
  while (unique.size() < items) unique.insert({static_cast<uint32_t>(random())});
  return {{day}, 100, 80'000, {unique.begin(), unique.end()}};
}

inline Delta RandomUser(uint64_t seed, int32_t days, size_t items_a_day) {
  std::mt19937_64 random(seed);
  Delta delta;
  delta.user_id = "user-" + std::to_string(seed);
  for (int32_t day = 0; day < days; ++day) {
    delta.segments.push_back(RandomDay(random, kFirstDay + day, items_a_day));
  }
  return delta;
}

inline std::string Encoded(const Delta& delta) {
  std::string bytes;
  EncodeDelta(delta, bytes);
  return bytes;
}

inline UserRef RefOf(uint64_t number) { return {0, {number * 0x9e3779b97f4a7c15u, number}}; }

/// Several users, so that the branch predictor can't learn them. 64 users of 3,000 items are 660 KB.
inline std::vector<std::string> EncodedUsers(size_t count, int32_t days, size_t items_a_day) {
  std::vector<std::string> users;
  for (size_t i = 0; i < count; ++i) users.push_back(Encoded(RandomUser(i + 1, days, items_a_day)));
  return users;
}

}  // namespace seen::micro
