#include "similar/text/vocabulary.h"

#include <algorithm>

#include "base/result.h"
#include "similar/text/characters.h"

namespace seen {
namespace {

constexpr std::string_view kBundledRows =
#include "similar/text/vocabulary_bundled.inc"
    ;

constexpr size_t kHanBytes = 3;  // of a character from U+3400 to U+9FFF

uint32_t FirstCharacter(std::string_view text) {
  size_t at = 0;
  return NextCharacter(text, at);
}

}  // namespace

const Vocabulary& Vocabulary::Bundled() {
  static const Vocabulary vocabulary(kBundledRows);
  return vocabulary;
}

Vocabulary::Vocabulary(std::string_view rows) {
  while (!rows.empty()) {
    const std::string_view row = rows.substr(0, rows.find('\n'));
    rows.remove_prefix(std::min(row.size() + 1, rows.size()));
    if (row.starts_with('#')) continue;
    const size_t tab = row.find('\t');
    Check(tab != std::string_view::npos, "the table of words can't be read");
    words_.push_back({row.substr(0, tab), row.substr(tab + 1)});
  }
  std::ranges::sort(words_, [](const Word& a, const Word& b) {
    const uint32_t first_a = FirstCharacter(a.from), first_b = FirstCharacter(b.from);
    return first_a != first_b ? first_a < first_b : a.from.size() > b.from.size();
  });
  for (size_t i = words_.size(); i-- > 0;) {
    const uint32_t first = FirstCharacter(words_[i].from);
    Check(first >= kFirst && first < kEnd && i < UINT16_MAX, "the table of words can't be read");
    first_[first - kFirst] = static_cast<uint16_t>(i + 1);
  }
}

// The longest word with which `text` begins.
const Vocabulary::Word* Vocabulary::Find(std::string_view text) const {
  const uint32_t first = FirstCharacter(text);
  if (first < kFirst || first >= kEnd || first_[first - kFirst] == 0) return nullptr;
  const std::string_view begin = text.substr(0, kHanBytes);
  for (size_t i = first_[first - kFirst] - 1u; i < words_.size() && words_[i].from.starts_with(begin); ++i)
    if (text.starts_with(words_[i].from)) return &words_[i];
  return nullptr;
}

void Vocabulary::Fold(NormalText& text, std::string& spare) const {
  spare.clear();
  size_t copied = 0;  // bytes of text.text that spare has, folded
  for (Run& run : text.runs) {
    const uint32_t end = run.end;
    uint32_t at = run.begin;
    const auto moved = [&](uint32_t place) { return static_cast<uint32_t>(spare.size() + place - copied); };
    run.begin = moved(at);
    while (run.kind == RunKind::kDictionary && at < end) {
      const std::string_view rest = std::string_view(text.text).substr(at, end - at);
      const Word* word = Find(rest);
      if (word == nullptr) {
        at += static_cast<uint32_t>(CharacterBytes(rest[0]));
        continue;
      }
      spare.append(text.text, copied, at - copied);
      spare += word->to;
      at += static_cast<uint32_t>(word->from.size());
      copied = at;
    }
    run.end = moved(end);
  }
  if (copied == 0) return;
  spare.append(text.text, copied);
  text.text.swap(spare);
}

}  // namespace seen
