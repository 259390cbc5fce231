#pragma once
// Few names, each with a small number.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace seen {

/// Finds a name by its length and then by words, not bytes: an event's names are looked up one by one.
class NameTable {
 public:
  static constexpr uint8_t kNone = 255;

  /// The number of `name` from now on; the one it has already stays. Returns its number.
  uint8_t Add(std::string_view name, uint8_t number);

  /// kNone: not a name of the table.
  uint8_t Find(std::string_view name) const;

 private:
  static constexpr size_t kLengthMax = 24;  // longer names share a place
  struct Words {
    uint64_t first = 0;
    uint64_t last = 0;
    friend bool operator==(const Words&, const Words&) = default;
  };
  struct Entry {
    Words words;
    std::string name;
    uint8_t number;
  };

  static size_t LengthOf(std::string_view name) {
    return name.size() < kLengthMax ? name.size() : kLengthMax;
  }
  static Words WordsOf(std::string_view name);

  std::vector<Entry> entries_;                    // by length
  std::array<uint16_t, kLengthMax + 2> begin_{};  // of each length
};

}  // namespace seen
