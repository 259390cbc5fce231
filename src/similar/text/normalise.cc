#include "similar/text/normalise.h"

#include <unicode/bytestream.h>

#include <algorithm>
#include <span>

#include "base/result.h"
#include "similar/port/boilerplate.h"
#include "similar/text/characters.h"
#include "similar/text/folding.h"
#include "similar/text/markup.h"
#include "similar/text/run_writer.h"
#include "similar/text/vocabulary.h"

namespace seen {
namespace {

// Polytonic Greek puts three on a letter; more than that is ornament.
constexpr size_t kStackingMarksMax = 3;
// UAX 15, "Stream-Safe Text Format": no language puts more on one letter, and sorting them takes quadratic
// time.
constexpr size_t kFoldedTogetherMax = 32;

// The places of links, for a reader who goes on.
class Links {
 public:
  explicit Links(std::span<const uint32_t> ends) : ends_(ends) {}
  /// `at`: not before that of the last call.
  bool Has(size_t at) {
    while (at_ < ends_.size() && ends_[at_] <= at) ++at_;
    return at_ % 2 == 1;
  }
  /// Until here all is as at the last place.
  size_t next() const { return at_ < ends_.size() ? ends_[at_] : std::string_view::npos; }

 private:
  std::span<const uint32_t> ends_;
  size_t at_ = 0;
};

// The bytes of a keycap, which is an emoji, after its first character. 0: it is none.
size_t KeycapBytes(uint32_t first, std::string_view rest) {
  if (first != '#' && !(first < 128 && IsDigit(first))) return 0;
  constexpr std::string_view kKeycaps[] = {"\ufe0f\u20e3", "\u20e3"};
  for (const std::string_view keycap : kKeycaps)
    if (rest.starts_with(keycap)) return keycap.size();
  return 0;
}

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
  links_.clear();
  bool beyond_ascii = AppendPlain(item.title.substr(0, of_title));
  if (!plain_.empty() && plain_.back() != ' ') plain_ += ' ';
  const size_t title_end = plain_.size();
  beyond_ascii |= AppendPlain(item.text.substr(0, of_text));
  if (!beyond_ascii) return ReadAscii(out);
  // Words of scripts without spaces go on after a space, but not from the title into the text.
  if (title_end > 0) plain_[title_end - 1] = '\n';
  const bool folds_chinese = rules_.folding_version > 0 && IsChinese(item.lang, plain_);
  ReadUnicode(folds_chinese, out);
  if (FoldsWords(folds_chinese)) Vocabulary::Bundled().Fold(out, kept_);
  if (rules_.version >= 2) DropEmoji(out);
}

void Normaliser::Release() {
  for (std::string* buffer : {&stripped_, &plain_, &gentle_, &folded_, &kept_}) *buffer = {};
}

// Returns whether any byte is beyond ASCII.
bool Normaliser::AppendPlain(std::string_view text) {
  if (rules_.boilerplate != nullptr) text = rules_.boilerplate->Strip(text, stripped_);
  return StripMarkup(text, rules_.version, plain_, &links_);
}

// StripMarkup's output is words, signs and spaces, and folded.
void Normaliser::ReadAscii(NormalText& out) {
  const std::string_view text = plain_;
  RunWriter writer(out, nullptr, SignsCount(), true);
  Links links(links_);
  out.text.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    writer.SetInLink(links.Has(at));
    if (RunWriter::IsOfWord(text[at])) {
      at = writer.PutWords(text.substr(0, links.next()), at);
      continue;
    }
    writer.Put(static_cast<unsigned char>(text[at]),
               text[at] == ' ' ? CharacterKind::kSeparator : CharacterKind::kSign);
    ++at;
  }
  writer.Finish();
}

void Normaliser::ReadUnicode(bool folds_chinese, NormalText& out) {
  const icu::Normalizer2& normalizer = FoldingNormalizer();
  const BasicPlane& plane = BasicPlane::Get();
  const auto begins = [&](uint32_t c) {
    return c < 65536 ? plane.HasBoundaryBefore(static_cast<uint16_t>(c))
                     : normalizer.hasBoundaryBefore(static_cast<UChar32>(c)) != 0;
  };
  const std::string_view text = plain_;
  const auto raised_before = [&](size_t at) {
    if (at == 0) return false;
    do --at;
    while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80);
    return IsSuperscript(NextCharacter(text, at));
  };
  RunWriter writer(out, folds_chinese ? &FoldingTable::Bundled() : nullptr, SignsCount(),
                   !FoldsWords(folds_chinese));
  Links links(links_);
  size_t begin = 0, end = 0, next_end = 0;
  uint32_t next = NextCharacter(text, next_end);
  while (begin < text.size()) {
    writer.SetInLink(links.Has(begin));
    const uint32_t c = next;
    end = next_end;
    if (end < text.size()) next = NextCharacter(text, next_end);
    const bool alone = end == text.size() || begins(next);
    if (const size_t keycap = SignsCount() ? KeycapBytes(c, text.substr(end)) : 0; keycap > 0) {
      writer.Put(c, CharacterKind::kSymbol);
      next_end = end += keycap;
      if (end < text.size()) next = NextCharacter(text, next_end);
    } else if (const uint32_t number = SignsCount() ? CircledNumber(c) : 0; number > 0) {
      writer.Put(' ', CharacterKind::kSeparator);
      for (const char digit : std::to_string(number))
        writer.Put(static_cast<unsigned char>(digit), CharacterKind::kWord);
      writer.Put(' ', CharacterKind::kSeparator);
    } else if (alone && c < 65536 && plane.IsSingle(static_cast<uint16_t>(c))) {
      writer.Put(plane.Folded(static_cast<uint16_t>(c)), plane.Kind(static_cast<uint16_t>(c)));
    } else if (alone && c >= 65536 && normalizer.isInert(static_cast<UChar32>(c))) {
      writer.Put(c, KindOfCharacter(c));
    } else {
      while (end < text.size() && !begins(next)) {
        end = next_end;
        if (end < text.size()) next = NextCharacter(text, next_end);
      }
      // "10²" isn't "102", and "1½" isn't "11/2". In a row of raised digits only the first has the mark.
      if (SignsCount() && IsSuperscript(c) && !raised_before(begin)) writer.Put('^', CharacterKind::kSign);
      if (SignsCount() && IsFraction(c)) writer.Put(' ', CharacterKind::kSeparator);
      Fold(text.substr(begin, end - begin));
      for (size_t at = 0; at < folded_.size();) {
        const uint32_t folded = NextCharacter(folded_, at);
        writer.Put(folded, KindOfCharacter(folded));
      }
    }
    begin = end;
  }
  writer.Finish();
}

// Reposts add emoji. In a text of some words they say nothing about whose copy it is.
void Normaliser::DropEmoji(NormalText& out) {
  const auto is_emoji = [](const Run& run) { return run.kind == RunKind::kSymbol; };
  if (std::ranges::none_of(out.runs, is_emoji) || WordsBesideEmoji(out) < kEmojiWordsMax) return;
  kept_.clear();
  bool after_word = false, after_emoji = false;
  uint32_t end = 0;
  for (Run& run : out.runs) {
    if (!is_emoji(run)) kept_.append(out.text, end, run.begin - end);
    end = run.end;
    after_emoji |= is_emoji(run);
    if (is_emoji(run)) continue;
    const bool is_word = run.kind == RunKind::kWord;
    if (after_emoji && after_word && is_word) kept_ += ' ';
    after_word = is_word;
    after_emoji = false;
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
