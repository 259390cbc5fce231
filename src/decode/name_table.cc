#include "decode/name_table.h"

namespace seen {

uint8_t NameTable::Add(std::string_view name, uint8_t number) {
  if (const uint8_t known = Find(name); known != kNone) return known;
  const size_t length = LengthOf(name);
  entries_.insert(entries_.begin() + begin_[length + 1], {WordsOf(name), std::string(name), number});
  for (size_t longer = length + 1; longer < begin_.size(); ++longer) ++begin_[longer];
  return number;
}

}  // namespace seen
