#include "decode/name_table.h"

#include <cstring>

namespace seen {
namespace {

template <typename Word>
uint64_t Load(const char* at) {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

}  // namespace

// Its first and last bytes, which may overlap.
NameTable::Words NameTable::WordsOf(std::string_view name) {
  const char* const end = name.data() + name.size();
  if (name.size() >= 8) return {Load<uint64_t>(name.data()), Load<uint64_t>(end - 8)};
  if (name.size() >= 4) return {Load<uint32_t>(name.data()), Load<uint32_t>(end - 4)};
  if (name.size() >= 2) return {Load<uint16_t>(name.data()), Load<uint16_t>(end - 2)};
  return {name.empty() ? 0 : Load<uint8_t>(name.data()), 0};
}

uint8_t NameTable::Add(std::string_view name, uint8_t number) {
  if (const uint8_t known = Find(name); known != kNone) return known;
  const size_t length = LengthOf(name);
  entries_.insert(entries_.begin() + begin_[length + 1], {WordsOf(name), std::string(name), number});
  for (size_t longer = length + 1; longer < begin_.size(); ++longer) ++begin_[longer];
  return number;
}

uint8_t NameTable::Find(std::string_view name) const {
  const size_t length = LengthOf(name);
  const size_t end = begin_[length + 1];
  size_t at = begin_[length];
  if (at == end) return kNone;
  const Words words = WordsOf(name);
  for (; at < end; ++at) {
    const Entry& entry = entries_[at];
    if (entry.words != words) continue;
    // Two words tell all of a short name.
    if (name.size() <= sizeof(Words) || entry.name == name) return entry.number;
  }
  return kNone;
}

}  // namespace seen
