#include "similar/text/run_writer.h"

#include <algorithm>
#include <span>

namespace seen {
namespace {

constexpr uint32_t kMinus = 0x2212, kEnDash = 0x2013, kArabicPoint = 0x66b, kArabicComma = 0x66c;

bool IsComparison(uint32_t c) {
  return (c >= '<' && c <= '>') || (c >= 0x2248 && c < 0x228c);  // from ≈ to ⊋
}

// "5 €", but not "5 #".
bool StandsAlone(uint32_t c) {
  constexpr std::u32string_view kTouching = U"-#^&.,";
  return !IsComparison(c) && kTouching.find(static_cast<char32_t>(c)) == kTouching.npos;
}

}  // namespace

size_t RunWriter::PutWords(std::string_view text, size_t at) {
  if (waiting_count_ != 0) Resolve(static_cast<unsigned char>(text[at]));
  Open(RunKind::kWord);
  const size_t begin = at, to = out_.text.size();
  const auto place = [&] { return static_cast<uint32_t>(to + at - begin); };
  while (true) {
    while (at < text.size() && IsOfWord(text[at])) ++at;
    out_.runs.back().end = place();
    if (at + 1 >= text.size() || text[at] != ' ' || !IsOfWord(text[at + 1])) break;
    ++at;
    out_.runs.push_back({place(), place(), RunKind::kWord, in_link_});
  }
  out_.text.append(text, begin, at - begin);
  last_ = static_cast<unsigned char>(text[at - 1]);
  return at;
}

// "c#" is a word, and "#tag#" isn't.
bool RunWriter::IsAfterOneLetter() const {
  return out_.runs.back().end - out_.runs.back().begin == 1 && last_ >= 'a' && last_ <= 'z';
}

bool RunWriter::IsOrnament() const {
  if (waiting_count_ > kWaitingMax) return true;
  for (size_t i = 2; i < waiting_count_; ++i)
    if (waiting_[i] == waiting_[i - 1] && waiting_[i] == waiting_[i - 2]) return true;
  return false;
}

// Signs that touch no letter or digit: a comparison between two words, or a sign beside a number.
bool RunWriter::CountsAlone(uint32_t next) const {
  const std::span signs(waiting_.data(), waiting_count_);
  if (std::ranges::all_of(signs, IsComparison)) return !out_.runs.empty() && next != 0;
  return signs.size() == 1 && StandsAlone(signs[0]) && (IsDigit(last_) || IsDigit(next));
}

// `before`, `after`: the letter or digit that the signs touch; 0: none.
bool RunWriter::Counts(size_t i, uint32_t before, uint32_t after) const {
  const std::span signs(waiting_.data(), waiting_count_);
  const bool between = before != 0 && after != 0;
  switch (signs[i]) {
    case '-':
      return IsDigit(after) && std::ranges::count(signs, '-') == 1 &&
             (i == 0 ? open_ != RunKind::kWord
                     : before == 0 || signs[i - 1] == '^' || IsComparison(signs[i - 1]));
    case '^':
      return between || IsDigit(after);
    case '#':
      return i == 0 && before != 0 && IsAfterOneLetter();
    case '&':
      return between;
    case ',':
      return i == 0 && IsDigit(before) && IsDigit(after);
    case '.':  // also of .5 and -.5
      return IsDigit(after) && (before == 0 || IsDigit(before));
    default:
      if (!IsComparison(signs[i])) return true;
      if (i > 0 && signs[i - 1] == '-') return false;  // the head of an arrow
      if (IsDigit(before) || IsDigit(after)) return true;
      // Chinese and Japanese have brackets of this form: "＜号外＞東京".
      return between && KindOfCharacter(before) != CharacterKind::kDictionary;
  }
}

void RunWriter::Wait(uint32_t sign) {
  if (waiting_count_ == 1 && IsPoint(waiting_[0])) {  // no digit follows it
    open_.reset();
    waiting_count_ = 0;
  }
  if (sign == kMinus || sign == kEnDash) sign = '-';
  if (sign == kArabicPoint) sign = '.';
  if (sign == kArabicComma) sign = ',';
  if (waiting_count_ < kWaitingMax) waiting_[waiting_count_] = sign;
  if (waiting_count_ <= kWaitingMax) ++waiting_count_;
}

// Signs wait and this character comes. Returns whether nothing else is to be done about it.
bool RunWriter::Resolves(uint32_t c, CharacterKind kind) {
  if (kind == CharacterKind::kNothing) return true;
  if (kind == CharacterKind::kSeparator) {
    apart_ = true;
    return true;
  }
  if (kind == CharacterKind::kSign && !apart_) return false;
  if (kind == CharacterKind::kDictionary) apart_ = false;  // spaces say nothing beside Chinese
  Resolve(kind == CharacterKind::kWord || kind == CharacterKind::kDictionary ? c : 0);
  return false;
}

void RunWriter::Resolve(uint32_t next) {
  bool of_word = open_ == RunKind::kWord;  // the run began before the signs
  const bool of_dictionary = !out_.runs.empty() && out_.runs.back().kind == RunKind::kDictionary;
  const uint32_t before = of_word || of_dictionary ? last_ : 0;
  const uint32_t after = apart_ ? 0 : next;
  const bool alone = before == 0 && after == 0;
  const bool dropped = IsOrnament() || (alone && !CountsAlone(next));
  const size_t count = dropped ? 0 : waiting_count_;
  if (count == 0) open_.reset();
  for (size_t i = 0; i < count; ++i) {
    if (IsPoint(waiting_[i])) {
      open_.reset();
      if (!Counts(i, before, after)) continue;
      if (i == 0 && before == 0) Space();
      out_.text += static_cast<char>(waiting_[i]);
    } else if (alone || Counts(i, before, after)) {
      Open(RunKind::kWord);
      Append(waiting_[i]);
    } else {
      open_.reset();
      of_word = false;
    }
  }
  // "c++17" is "c++ 17".
  if (apart_ || alone || (of_word && count > 0 && StandsAlone(waiting_[count - 1]))) open_.reset();
  waiting_count_ = 0;
  apart_ = false;
}

}  // namespace seen
