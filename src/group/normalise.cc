#include "group/normalise.h"

#include <unicode/bytestream.h>

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "group/characters.h"
#include "group/icu.h"
#include "group/markup.h"

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
  explicit RunWriter(NormalText& out) : out_(out) {}

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
  std::optional<RunKind> open_;
};

}  // namespace

void Normaliser::Read(std::string_view title, std::string_view text, size_t bytes_max, NormalText& out) {
  bytes_max = std::min(bytes_max, size_t{1} << 31);
  const size_t of_title = CharacterBoundary(title, bytes_max);
  const size_t of_text = CharacterBoundary(text, bytes_max - of_title);
  out.cut = of_title < title.size() || of_text < text.size();
  out.text.clear();
  out.runs.clear();
  plain_.clear();
  bool beyond_ascii = StripMarkup(title.substr(0, of_title), plain_);
  if (!plain_.empty() && plain_.back() != ' ') plain_ += ' ';
  beyond_ascii |= StripMarkup(text.substr(0, of_text), plain_);
  if (beyond_ascii) {
    ReadUnicode(out);
  } else {
    ReadAscii(out);
  }
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

void Normaliser::ReadUnicode(NormalText& out) {
  const icu::Normalizer2& normalizer = FoldingNormalizer();
  const BasicPlane& plane = BasicPlane::Get();
  const auto begins = [&](uint32_t c) {
    return c < 65536 ? plane.HasBoundaryBefore(static_cast<uint16_t>(c))
                     : normalizer.hasBoundaryBefore(static_cast<UChar32>(c)) != 0;
  };
  const std::string_view text = plain_;
  RunWriter writer(out);
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
