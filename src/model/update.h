#pragma once
// An update: what is new of a partition's users, for readers of the published filters. Byte by byte:
// schemas/update.md. The daemon only writes updates; clients/ reads them.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "model/hashes.h"

namespace seen {

/// The longest record that a writer makes.
inline constexpr size_t kUpdateBytesMax = 256 * 1024;
/// The most records of one event.
inline constexpr uint32_t kUpdatePartsMax = 256;

enum class AdditionKind : uint8_t {
  kSeen = 0,
  kSimilar = 1,  // near and group fingerprints
};

/// How a reader finds the user's additions: XXH64, seed 0.
uint64_t UpdateUserOf(std::string_view user_id);

/// Additions, by section. Not thread-safe. Clear keeps the memory, so that a busy stream allocates nothing.
class UpdateRows {
 public:
  /// `mask`: bit i stands for the i-th of the names that EncodeUpdate gets. `until_s`: 0, or the second at
  /// which the items end. `items`: some, in any order.
  void Add(uint16_t mask, AdditionKind kind, uint32_t until_s, uint64_t user,
           std::span<const Fingerprint> items);
  /// All that was added so far stays together; what comes next may be split off.
  void Mark();
  /// Moves what was added since the last Mark to `rest`, which is empty (checked).
  void SplitAtMark(UpdateRows& rest);
  bool empty() const { return items_ == 0; }
  uint64_t items() const { return items_; }
  /// Of the sections, encoded.
  size_t bytes() const { return bytes_; }
  void Clear();
  /// Appends the sections.
  void AppendTo(std::string& out) const;

 private:
  struct Section {
    uint16_t mask = 0;
    AdditionKind kind = AdditionKind::kSeen;
    uint32_t until_s = 0;
    std::vector<uint64_t> users;
    std::vector<uint16_t> counts;
    std::vector<uint32_t> items;
    size_t marked_users = 0, marked_items = 0;
  };
  Section& Find(uint16_t mask, AdditionKind kind, uint32_t until_s);
  void Count(const Section& section);

  std::vector<Section> sections_;  // the first `used_` are in use, the rest is memory
  size_t used_ = 0;
  size_t last_ = 0;  // found last
  size_t bytes_ = 0;
  uint64_t items_ = 0;
};

struct UpdateHeader {
  int32_t partition = 0;
  int64_t generation = 1;  // 1 or more
  int64_t from = 0, to = 0;
  TimeMs as_of{-1};  // -1: not known
  uint8_t part = 0;  // how many records before it hold parts of the event at `from`
};

/// Writes the record into `out`, whose memory is reused. `names`: 1 to 16 different ones, of 1 to 255 bytes
/// (checked).
void EncodeUpdate(const UpdateHeader& header, std::span<const std::string> names, const UpdateRows& rows,
                  std::string& out);

}  // namespace seen
