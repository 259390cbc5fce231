#include "similar/text/numbers.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <array>

#include "similar/text/characters.h"
#include "similar/text/hash.h"
#include "similar/text/sketch.h"

namespace seen {
namespace {

constexpr size_t kGroupDigits = 3;  // of thousands
constexpr size_t kGroupsMax = 2;    // of digits in a word: "s01e02" has two; more make one number of the word
constexpr uint32_t kOrdinal = U'第';
// What comes in numbered parts. After a folding they are Simplified Chinese, else Japanese. 第一次 is an
// idiom.
constexpr std::u32string_view kParts = U"集章回期季话話部卷巻册冊篇讲講课課节節弹弾辑届屆轮場场关";
constexpr uint64_t kTimes = 0x9e3779b97f4a7c15u;

// nullopt: no digit. Digits beyond ASCII that Normaliser keeps begin with the Arabic ones.
std::optional<int> DigitOf(uint32_t c) {
  if (c < 0x660) return c >= '0' && c <= '9' ? std::optional(static_cast<int>(c - '0')) : std::nullopt;
  const bool may_be = c < 0x1c5a || (c >= 0xa620 && c < 0xabfa) || c >= 0x10000;
  const int32_t value = may_be ? u_charDigitValue(static_cast<UChar32>(c)) : -1;
  return value >= 0 ? std::optional(static_cast<int>(value)) : std::nullopt;
}

// nullopt: no Chinese numeral.
std::optional<uint64_t> NumeralOf(uint32_t c) {
  constexpr std::u32string_view kNumerals = U"〇一二三四五六七八九零两";
  constexpr std::array<uint64_t, 12> kValues = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 2};
  const size_t at = kNumerals.find(static_cast<char32_t>(c));
  return at == kNumerals.npos ? std::nullopt : std::optional(kValues[at]);
}
// 0: no unit.
uint64_t UnitOf(uint32_t c) {
  return c == U'十' ? 10 : c == U'百' ? 100 : c == U'千' ? 1000 : c == U'万' ? 10'000 : 0;
}

// Reads the numeral from `at` on, and moves `at` past it: 十二 is 12, 一百零三 is 103, 二〇二五 is 2025.
std::optional<uint64_t> ReadNumeral(std::string_view letters, size_t& at) {
  constexpr uint64_t kMax = 1'000'000'000;
  uint64_t sum = 0, digits = 0;
  bool any = false, has_digits = false;
  while (at < letters.size() && sum < kMax && digits < kMax) {
    size_t next = at;
    const uint32_t c = NextCharacter(letters, next);
    if (const auto digit = NumeralOf(c)) {
      digits = 10 * digits + *digit;
      has_digits = true;
    } else if (const uint64_t unit = UnitOf(c); unit == 10'000) {
      sum = (sum + digits) * unit;
      digits = 0;
    } else if (unit > 0) {
      sum += (has_digits ? digits : 1) * unit;
      digits = 0;
      has_digits = false;
    } else {
      break;
    }
    any = true;
    at = next;
  }
  return any ? std::optional(sum + digits) : std::nullopt;
}

}  // namespace

void NumberFinder::Flush(const Take& take) {
  if (waiting_.empty()) return;
  const size_t sign = waiting_[0] == '-' ? 1 : 0;
  const size_t first = std::min(waiting_.find_first_not_of('0', sign), waiting_.size() - 1);
  waiting_.erase(sign, first - sign);
  take(waiting_);
  waiting_.clear();
}

void NumberFinder::ReadWord(std::string_view word, const Take& take) {
  groups_.clear();
  uint32_t before = 0;
  bool begins_with_digit = false, in_group = false;
  for (size_t at = 0; at < word.size();) {
    const bool is_first = at == 0;
    const uint32_t c = NextCharacter(word, at);
    const auto digit = DigitOf(c);
    begins_with_digit |= is_first && digit;
    if (digit) {
      if (!in_group) groups_.emplace_back(before == '-' ? "-" : "");
      groups_.back() += static_cast<char>('0' + *digit);
    }
    in_group = digit.has_value();
    before = c;
  }
  const bool is_name = groups_.size() > kGroupsMax;
  const bool is_thousands = may_go_on_ && begins_with_digit && !is_name && groups_[0].size() == kGroupDigits;
  may_go_on_ = false;
  if (!is_thousands) Flush(take);
  if (groups_.empty()) return;
  if (is_name) return take(std::string(word));
  for (size_t i = 0; i < groups_.size(); ++i) {
    if (i > 0) Flush(take);
    waiting_ += groups_[i];
  }
  may_go_on_ = in_group && (groups_.back().size() <= kGroupDigits);
}

// In the scripts that have them, digits are part of the run.
void NumberFinder::ReadDictionary(std::string_view letters, const Take& take) {
  for (size_t at = 0; at < letters.size();) {
    const uint32_t c = NextCharacter(letters, at);
    if (const auto digit = DigitOf(c)) {
      waiting_ += static_cast<char>('0' + *digit);
      continue;
    }
    Flush(take);
    if (c != kOrdinal) continue;
    const auto number = ReadNumeral(letters, at);
    size_t next = at;
    if (number && next < letters.size() &&
        kParts.find(static_cast<char32_t>(NextCharacter(letters, next))) != kParts.npos)
      take(std::to_string(*number));
  }
  Flush(take);
}

void NumberFinder::Find(const NormalText& text, const Take& take) {
  may_go_on_ = false;
  for (const Run& run : text.runs) {
    const std::string_view letters = std::string_view(text.text).substr(run.begin, run.end - run.begin);
    if (run.kind == RunKind::kWord && !run.in_link) {
      ReadWord(letters, take);
    } else {
      Flush(take);
      may_go_on_ = false;
      if (run.kind == RunKind::kDictionary) ReadDictionary(letters, take);
    }
  }
  Flush(take);
}

void NumberFinder::Read(const NormalText& text, Sketch& out) {
  hashes_.clear();
  Find(text, [&](const std::string& number) { hashes_.push_back(TokenHash(number)); });
  std::sort(hashes_.begin(), hashes_.end());
  uint64_t number = 0, times = 0;
  for (uint64_t& hash : hashes_) {
    times = hash == number ? times + 1 : 0;
    number = hash;
    if (times > 0) hash = Mixed(hash + times * kTimes);
  }
  SampleInto(hashes_, kNumbersMax, out);
}

void NumberFinder::Release() {
  waiting_ = {};
  groups_ = {};
  hashes_ = {};
}

}  // namespace seen
