#pragma once
// A writer of updates, from schemas/update.md, and of what comes with them; as short as they can be.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "seen/update.h"

namespace seen::client::test {

struct Entry {
  std::uint64_t user;
  std::vector<Fingerprint> items;
};
struct Section {
  std::uint16_t mask = 1;
  AdditionKind kind = AdditionKind::kSeen;
  std::uint32_t until_s = 0;
  std::vector<Entry> entries;
};
struct UpdateParts {
  std::int32_t partition = 0;
  std::int64_t generation = 1, from = 0, to = 0, as_of_ms = -1;
  std::vector<std::string> filters = {"default"};
  std::vector<Section> sections;
  std::uint8_t part = 0;
};
std::string Encoded(const UpdateParts& parts);
/// With the checksum put right.
std::string SignedUpdate(std::string bytes);

struct BeatParts {
  std::int32_t partition = 0;
  std::optional<std::int64_t> generation, published_to, snapshots_to, snapshots_log = {};
  std::optional<std::string> snapshots_topic = {};
  std::optional<std::int64_t> complete_since_ms = {};
};
/// A watermark's value; what is by filter is of "default".
std::string Encoded(const BeatParts& parts);

/// An exact snapshot of a filter with updates.
std::string ExactSnapshot(const std::vector<Fingerprint>& items, std::int32_t partition,
                          std::int64_t generation, std::int64_t input_offset);

}  // namespace seen::client::test
