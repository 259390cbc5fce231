#include "decode/event_kinds.h"

#include <array>

#include "base/result.h"

namespace seen {
namespace {

constexpr std::array<std::string_view, 4> kBuiltIn = {"exposed", "served", "removed", "erased"};
constexpr size_t kNamesShown = 12;

}  // namespace

KindTable::KindTable() {
  for (size_t i = 0; i < kBuiltIn.size(); ++i) Add(kBuiltIn[i], static_cast<uint8_t>(i));
}

KindTable::KindTable(std::span<const DeclaredKind> declared) : KindTable() {
  for (const DeclaredKind& kind : declared) {
    const auto number = static_cast<uint8_t>(kind.number);
    Check(number >= kDeclaredKindFirst && number < kSkipped, "a declared kind's number is free");
    Add(kind.name, number);
  }
}

KindTable::KindTable(const KindTable& known, std::span<const KindMapping> mappings) {
  for (const KindMapping& mapping : mappings) {
    const uint8_t number = mapping.kind ? known.values_.Find(*mapping.kind) : kSkipped;
    if (number != NameTable::kNone) Add(mapping.value, number);
  }
}

void KindTable::Add(std::string_view value, uint8_t number) {
  values_.Add(value, number);
  names_.emplace_back(value);
}

std::string KindTable::Names() const {
  std::string text;
  for (size_t i = 0; i < names_.size() && i < kNamesShown; ++i) text += (i > 0 ? ", " : "") + names_[i];
  return names_.size() > kNamesShown ? text + ", ..." : text;
}

}  // namespace seen
