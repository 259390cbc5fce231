#pragma once
// A table of few names, each with a small number.

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace seen {

/// Finds a name by its length, then by words instead of bytes: the names of an event are looked up one by
/// one.
class NameTable {
 public:
  static constexpr uint8_t kNone = 255;

  /// Gives `name` this number, unless it has one already. Returns the number that it has.
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
  template <typename Word>
  static uint64_t Load(const char* at) {
    Word word;
    std::memcpy(&word, at, sizeof word);
    return word;
  }
  static Words WordsOf(std::string_view name);

  std::vector<Entry> entries_;                    // sorted by length
  std::array<uint16_t, kLengthMax + 2> begin_{};  // where each length begins
};

// The name's first and last bytes, which may overlap.
inline NameTable::Words NameTable::WordsOf(std::string_view name) {
  const char* const end = name.data() + name.size();
  if (name.size() >= 8) return {Load<uint64_t>(name.data()), Load<uint64_t>(end - 8)};
  if (name.size() >= 4) return {Load<uint32_t>(name.data()), Load<uint32_t>(end - 4)};
  if (name.size() >= 2) return {Load<uint16_t>(name.data()), Load<uint16_t>(end - 2)};
  return {name.empty() ? 0 : Load<uint8_t>(name.data()), 0};
}

inline uint8_t NameTable::Find(std::string_view name) const {
  const size_t length = LengthOf(name);
  const size_t end = begin_[length + 1];
  size_t at = begin_[length];
  if (at == end) return kNone;
  const Words words = WordsOf(name);
  for (; at < end; ++at) {
    const Entry& entry = entries_[at];
    if (entry.words != words) continue;
    // Two words hold all bytes of a short name.
    if (name.size() <= sizeof(Words) || entry.name == name) return entry.number;
  }
  return kNone;
}

inline uint8_t NameTable::Add(std::string_view name, uint8_t number) {
  if (const uint8_t known = Find(name); known != kNone) return known;
  const size_t length = LengthOf(name);
  entries_.insert(entries_.begin() + begin_[length + 1], {WordsOf(name), std::string(name), number});
  for (size_t longer = length + 1; longer < begin_.size(); ++longer) ++begin_[longer];
  return number;
}

}  // namespace seen
