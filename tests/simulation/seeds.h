#pragma once
// Selects the worlds that a simulation runs. SEEN_SEED=N replays one world, SEEN_SEEDS=N runs N worlds.

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "support/effort.h"

namespace seen::sim {

inline bool ReplaysOne() { return std::getenv("SEEN_SEED") != nullptr; }

/// 1 to `rounds`, fewer under a sanitizer.
inline std::vector<uint64_t> Seeds(int rounds) {
  const auto number = [](const char* text) {
    return static_cast<uint64_t>(std::strtoull(text, nullptr, 10));
  };
  if (const char* const one = std::getenv("SEEN_SEED")) return {number(one)};
  const char* const more = std::getenv("SEEN_SEEDS");
  std::vector<uint64_t> seeds(more != nullptr ? number(more) : static_cast<uint64_t>(test::Rounds(rounds)));
  for (size_t i = 0; i < seeds.size(); ++i) seeds[i] = i + 1;
  return seeds;
}

}  // namespace seen::sim
