#include "similar/text/normalise.h"

#include <unicode/bytestream.h>

#include <algorithm>
#include <optional>

#include "base/result.h"
#include "similar/port/boilerplate.h"
#include "similar/text/characters.h"
#include "similar/text/folding.h"
#include "similar/text/markup.h"

namespace seen {
namespace {

// Polytonic Greek puts three on a letter; more than that is ornament.
constexpr size_t kStackingMarksMax = 3;
// UAX 15, "Stream-Safe Text Format": no language puts more on one letter, and sorting them takes quadratic
// time.
constexpr size_t kFoldedTogetherMax = 32;

// Appends each character to the run of its kind.
class RunWriter {
 public:
  RunWriter(NormalText& out, const FoldingTable* folding) : out_(out), folding_(folding) {}

  void Put(uint32_t c, CharacterKind kind) {
    switch (kind) {
      case CharacterKind::kSeparator:
        open_.reset();
        return;
      case CharacterKind::kNothing:
        return;
      case CharacterKind::kWord:
        Open(RunKind::kWord);
        break;
      case CharacterKind::kDictionary:
        Open(RunKind::kDictionary);
        if (folding_ != nullptr) c = folding_->Of(c);
        break;
      case CharacterKind::kSymbol:
        open_.reset();
        Open(RunKind::kSymbol);
        break;
    }
    AppendUtf8(c, out_.text);
    out_.runs.back().end = static_cast<uint32_t>(out_.text.size());
  }

 private:
  void Open(RunKind kind) {
    if (open_ == kind) return;
    open_ = kind;
    if (kind == RunKind::kWord && !out_.runs.empty() && out_.runs.back().kind == RunKind::kWord)
      out_.text += ' ';
    const auto at = static_cast<uint32_t>(out_.text.size());
    out_.runs.push_back({at, at, kind});
  }

  NormalText& out_;
  const FoldingTable* const folding_;  // nullptr: the text isn't folded
  std::optional<RunKind> open_;
};

// The words of a text if each character of a script without spaces is one.
size_t WordsBesideEmoji(const NormalText& text) {
  size_t words = 0;
  for (const Run& run : text.runs) {
    if (run.kind == RunKind::kWord) ++words;
    if (run.kind != RunKind::kDictionary) continue;
    for (uint32_t at = run.begin; at < run.end; ++at)
      words += (static_cast<unsigned char>(text.text[at]) & 0xc0) != 0x80 ? 1u : 0u;
  }
  return words;
}

}  // namespace

void Normaliser::Read(const ItemText& item, size_t bytes_max, NormalText& out) {
  bytes_max = std::min(bytes_max, size_t{1} << 31);
  const size_t of_title = CharacterBoundary(item.title, bytes_max);
  const size_t of_text = CharacterBoundary(item.text, bytes_max - of_title);
  out.cut = of_title < item.title.size() || of_text < item.text.size();
  out.text.clear();
  out.runs.clear();
  plain_.clear();
  bool beyond_ascii = AppendPlain(item.title.substr(0, of_title));
  if (!plain_.empty() && plain_.back() != ' ') plain_ += ' ';
  beyond_ascii |= AppendPlain(item.text.substr(0, of_text));
  if (!beyond_ascii) return ReadAscii(out);
  ReadUnicode(rules_.folding_version > 0 && IsChinese(item.lang, plain_), out);
  if (!rules_.emoji_are_words) DropEmoji(out);
}

void Normaliser::Release() {
  for (std::string* buffer : {&stripped_, &plain_, &gentle_, &folded_, &kept_}) *buffer = {};
}

// Returns whether any byte is beyond ASCII.
bool Normaliser::AppendPlain(std::string_view text) {
  if (rules_.boilerplate != nullptr) text = rules_.boilerplate->Strip(text, stripped_);
  return StripMarkup(text, plain_);
}

// StripMarkup's output is the normal form already.
void Normaliser::ReadAscii(NormalText& out) {
  if (plain_.ends_with(' ')) plain_.pop_back();
  out.text.assign(plain_);
  const char* const text = out.text.data();
  const auto size = static_cast<uint32_t>(out.text.size());
  for (uint32_t at = 0, begin = 0; at <= size; ++at) {
    if (at < size && text[at] != ' ') continue;
    if (at > begin) out.runs.push_back({begin, at, RunKind::kWord});
    begin = at + 1;
  }
}

void Normaliser::ReadUnicode(bool folds_chinese, NormalText& out) {
  const icu::Normalizer2& normalizer = FoldingNormalizer();
  const BasicPlane& plane = BasicPlane::Get();
  const auto begins = [&](uint32_t c) {
    return c < 65536 ? plane.HasBoundaryBefore(static_cast<uint16_t>(c))
                     : normalizer.hasBoundaryBefore(static_cast<UChar32>(c)) != 0;
  };
  const std::string_view text = plain_;
  RunWriter writer(out, folds_chinese ? &FoldingTable::Bundled() : nullptr);
  size_t begin = 0, end = 0, next_end = 0;
  uint32_t next = NextCharacter(text, next_end);
  while (begin < text.size()) {
    const uint32_t c = next;
    end = next_end;
    if (end < text.size()) next = NextCharacter(text, next_end);
    const bool alone = end == text.size() || begins(next);
    if (alone && c < 65536 && plane.IsSingle(static_cast<uint16_t>(c))) {
      writer.Put(plane.Folded(static_cast<uint16_t>(c)), plane.Kind(static_cast<uint16_t>(c)));
    } else if (alone && c >= 65536 && normalizer.isInert(static_cast<UChar32>(c))) {
      writer.Put(c, KindOfCharacter(c));
    } else {
      while (end < text.size() && !begins(next)) {
        end = next_end;
        if (end < text.size()) next = NextCharacter(text, next_end);
      }
      Fold(text.substr(begin, end - begin));
      for (size_t at = 0; at < folded_.size();) {
        const uint32_t folded = NextCharacter(folded_, at);
        writer.Put(folded, KindOfCharacter(folded));
      }
    }
    begin = end;
  }
}

// Reposts add emoji. In a text of some words they say nothing about whose copy it is.
void Normaliser::DropEmoji(NormalText& out) {
  const auto is_emoji = [](const Run& run) { return run.kind == RunKind::kSymbol; };
  if (std::ranges::none_of(out.runs, is_emoji) || WordsBesideEmoji(out) < kEmojiWordsMax) return;
  kept_.clear();
  bool after_word = false;
  for (Run& run : out.runs) {
    if (is_emoji(run)) continue;
    const bool is_word = run.kind == RunKind::kWord;
    if (after_word && is_word) kept_ += ' ';
    after_word = is_word;
    const auto begin = static_cast<uint32_t>(kept_.size());
    kept_.append(out.text, run.begin, run.end - run.begin);
    run.begin = begin;
    run.end = static_cast<uint32_t>(kept_.size());
  }
  std::erase_if(out.runs, is_emoji);
  out.text.swap(kept_);
}

// Writes to folded_.
void Normaliser::Fold(std::string_view together) {
  size_t stacking = 0, characters = 0, at = 0;
  while (at < together.size() && characters++ < kFoldedTogetherMax) {
    if (IsStackingMark(NextCharacter(together, at))) ++stacking;
  }
  const size_t end = at;
  gentle_.clear();
  for (at = 0; at < end;) {
    const uint32_t c = NextCharacter(together, at);
    if (stacking <= kStackingMarksMax || !IsStackingMark(c)) AppendUtf8(c, gentle_);
  }
  folded_.clear();
  icu::StringByteSink<std::string> sink(&folded_);
  UErrorCode error = U_ZERO_ERROR;
  FoldingNormalizer().normalizeUTF8(0, gentle_, sink, nullptr, error);
  Check(U_SUCCESS(error), "ICU can't normalise");
}

}  // namespace seen
