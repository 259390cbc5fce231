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
constexpr size_t kAmountsMax = 2;   // in a word: "s01e02" has two; more make one number of the word
constexpr std::string_view kOrdinal = "第";
// What comes in numbered parts. After a folding they are Simplified Chinese, else Japanese. 第一次 is an
// idiom.
constexpr std::u32string_view kParts =
    U"集章回期季话話部卷巻册冊篇讲講课課节節弹弾辑届屆轮場场关周週名位局版页頁号號级級条條项項单單题題层層组"
    U"組队隊代";
constexpr size_t kDayBytes = std::string_view("日").size();
// Between the first bytes of two numbers whose order counts: "season 1 episode 2".
constexpr uint32_t kCloseBytes = 18;
constexpr uint64_t kOrder = 0x9e3779b97f4a7c15u;

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

bool IsPoint(std::string_view text, size_t at) {
  return at < text.size() && (text[at] == '.' || text[at] == ',');
}

bool IsDigits(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// Whether `part`, the digits up to a decimal sign, has thousands: 1,000 and 1.000.000, and India's 1,00,000.
// The single point of 1.250 is a decimal sign.
bool HasThousands(std::string_view part, char separator) {
  if (part.empty() || part[0] == '0') return false;
  size_t groups = 0;
  bool western = true, indian = true;
  for (size_t at = 0; at <= part.size(); ++groups) {
    const size_t end = std::min(part.find(separator, at), part.size());
    const size_t size = end - at;
    if (!IsDigits(part.substr(at, size))) return false;
    const bool is_first = groups == 0, is_last = end == part.size();
    western &= is_first ? size >= 1 && size <= kGroupDigits : size == kGroupDigits;
    indian &= is_first ? size >= 1 && size < kGroupDigits : size == (is_last ? kGroupDigits : 2);
    at = end + 1;
  }
  return groups > 1 && (western || (indian && separator == ','));
}

void AppendNumber(std::string_view digits, std::string& out) {
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.empty() || digits[0] == '.') out += '0';
  out += digits;
}

// Calls `take` for the numbers of digits with '.' and ',' between them. `amount` may begin with a minus.
void ReadAmount(std::string_view amount, std::string& number, const NumberFinder::Take& take) {
  number.clear();
  if (amount[0] == '-') {
    number = "-";
    amount.remove_prefix(1);
  }
  const size_t last = amount.find_last_of(".,");
  if (last == amount.npos) {
    AppendNumber(amount, number);
    return take(number);
  }
  const char separator = amount[last];
  const char other = separator == ',' ? '.' : ',';
  const auto without = [](std::string_view digits, char c) {
    std::string out(digits);
    std::erase(out, c);
    return out;
  };
  const size_t separators = static_cast<size_t>(std::ranges::count(amount, separator));
  const bool only = amount.find(other) == amount.npos;
  if (only && (separator == ',' || separators > 1) && HasThousands(amount, separator)) {
    AppendNumber(without(amount, separator), number);
    return take(number);
  }
  const std::string_view whole = amount.substr(0, last);
  if (separators == 1 && (only || HasThousands(whole, other))) {  // a decimal
    AppendNumber(without(whole, other) + '.' + std::string(amount.substr(last + 1)), number);
    return take(number);
  }
  // A version, a date of points; or a list with commas.
  for (size_t at = 0; at <= amount.size();) {
    const size_t end = std::min(amount.find(',', at), amount.size());
    if (end > at) {
      AppendNumber(amount.substr(at, end - at), number);
      take(number);
      number.clear();
    }
    at = end + 1;
  }
}

// Y, M, D: a year, month and day; h, m: a time; w: a word, such as a month; other characters are themselves.
constexpr std::u32string_view kDates[] = {U"YMD",    U"Y年M月D日", U"M月D日", U"Y年M月D号",
                                          U"M月D号", U"DDY",       U"DY",     U"DwY"};
constexpr std::u32string_view kTimes[] = {U"hm", U"whm"};

struct DatePart {
  char32_t sign;
  size_t digits_min, digits_max;
  int least, most;
};
constexpr DatePart kDateParts[] = {{U'Y', 4, 4, 1900, 2099},
                                   {U'M', 1, 2, 1, 12},
                                   {U'D', 1, 2, 1, 31},
                                   {U'h', 1, 2, 0, 23},
                                   {U'm', 2, 2, 0, 59}};

bool IsPart(std::string_view digits, const DatePart& part) {
  if (digits.size() < part.digits_min || digits.size() > part.digits_max || !IsDigits(digits)) return false;
  int value = 0;
  for (const char digit : digits) value = 10 * value + (digit - '0');
  return value >= part.least && value <= part.most;
}

// Whether a run stands for this sign of a form. After the last sign, more letters may follow, but no point.
// Appends a number to `out`.
bool ReadSign(char32_t sign, const NormalText& text, const Run& run, bool is_last, std::string& out) {
  const std::string_view letters = std::string_view(text.text).substr(run.begin, run.end - run.begin);
  if (sign > 127) {
    size_t at = 0;
    return run.kind == RunKind::kDictionary && NextCharacter(letters, at) == sign &&
           (at == letters.size() || is_last);
  }
  if (run.kind != RunKind::kWord || run.in_link) return false;
  if (sign == U'w') return std::ranges::none_of(letters, [](char c) { return c >= '0' && c <= '9'; });
  if (is_last && IsPoint(text.text, run.end)) return false;
  if (!IsPart(letters, *std::ranges::find(kDateParts, sign, &DatePart::sign))) return false;
  if (!out.empty()) out += '-';
  AppendNumber(letters, out);
  return true;
}

// How many runs from `run` on have this form; 0: they don't. Points may be between numbers. Appends the
// numbers to `out`.
size_t ReadForm(std::u32string_view form, const NormalText& text, size_t run, std::string& out) {
  const size_t out_size = out.size();
  for (size_t i = 0; i < form.size(); ++i) {
    if (run + i < text.runs.size() && ReadSign(form[i], text, text.runs[run + i], i + 1 == form.size(), out))
      continue;
    out.resize(out_size);
    return 0;
  }
  return form.size();
}

// Returns how many runs from `run` on are a date, with the time behind it; 0: it is none. Writes `out`.
size_t ReadDate(const NormalText& text, size_t run, std::string& out) {
  out.clear();
  if (const char first = text.text[text.runs[run].begin]; first < '0' || first > '9') return 0;
  for (const std::u32string_view form : kDates) {
    const size_t size = ReadForm(form, text, run, out);
    if (size == 0) continue;
    if (std::string unused;
        (form == U"DY" || form == U"DwY") && ReadForm(U"YMD", text, run + size - 1, unused) > 0) {
      out.clear();  // the year begins a date
      continue;
    }
    const Run& last = text.runs[run + size - 1];
    if (last.kind == RunKind::kDictionary && last.end - last.begin > kDayBytes) return size - 1;
    for (const std::u32string_view time : kTimes) {
      if (const size_t of_time = ReadForm(time, text, run + size, out)) return size + of_time;
    }
    return size;
  }
  return 0;
}

}  // namespace

// The spaces of 12 000 are thousands only before 000: "rooms 101 102" are two numbers.
void NumberFinder::Flush(const Take& take) {
  if (groups_count_ == 0) return;
  const bool is_one = groups_count_ > 1 && groups_[groups_count_ - 1].digits == "000";
  for (size_t i = 1; is_one && i < groups_count_; ++i) groups_[0].digits += groups_[i].digits;
  for (size_t i = 0; i < (is_one ? 1 : groups_count_); ++i) {
    place_ = groups_[i].place;
    ReadAmount(groups_[i].digits, number_, take);
  }
  groups_count_ = 0;
}

// Whether the digits of `word` go on a number of groups_.
bool NumberFinder::IsGroup(std::string_view word) const {
  const size_t minus = word[0] == '-' ? 1 : 0;
  if (groups_count_ > 0) return minus == 0 && word.size() == kGroupDigits;
  return word[minus] != '0' && word.size() <= kGroupDigits + minus;
}

void NumberFinder::ReadWord(std::string_view word, uint32_t place, const Take& take) {
  // No digit begins with another byte.
  const auto may_be_digit = [](unsigned char c) { return (c >= '0' && c <= '9') || c >= 0xd9; };
  if (std::ranges::none_of(word, may_be_digit)) return Flush(take);
  size_t count = 0;
  bool open = false, minus = false, has_letters = false;
  for (size_t at = 0; at < word.size();) {
    const uint32_t c = NextCharacter(word, at);
    const auto digit = DigitOf(c);
    const bool is_point = c == '.' || c == ',';
    if (digit || is_point) {
      if (!open) {
        if (count == amounts_.size()) amounts_.emplace_back();
        amounts_[count++].assign(minus ? "-" : "");
      }
      amounts_[count - 1] += digit ? static_cast<char>('0' + *digit) : static_cast<char>(c);
    } else if (c == '-') {
      minus = true;
    } else if (KindOfCharacter(c) != CharacterKind::kSign) {
      minus = false;
      has_letters = true;
    }
    open = digit || is_point;
    if (open) minus = false;
  }
  if (count == 1 && !has_letters && amounts_[0].find_first_of(".,") == std::string::npos) {
    if (!IsGroup(amounts_[0])) Flush(take);
    if (IsGroup(amounts_[0])) {
      if (groups_count_ == groups_.size()) groups_.emplace_back();
      groups_[groups_count_++] = {amounts_[0], place};
      return;
    }
  }
  Flush(take);
  place_ = place;
  if (count > kAmountsMax) return take(std::string(word));
  for (size_t i = 0; i < count; ++i) ReadAmount(amounts_[i], number_, take);
}

void NumberFinder::ReadDictionary(std::string_view letters, uint32_t place, const Take& take) {
  for (size_t at = letters.find(kOrdinal); at != letters.npos; at = letters.find(kOrdinal, at)) {
    place_ = place + static_cast<uint32_t>(at);
    at += kOrdinal.size();
    const auto number = ReadNumeral(letters, at);
    size_t next = at;
    if (number && next < letters.size() &&
        kParts.find(static_cast<char32_t>(NextCharacter(letters, next))) != kParts.npos)
      take(std::to_string(*number));
  }
}

void NumberFinder::Find(const NormalText& text, const Take& take) {
  const std::string_view all = text.text;
  for (size_t i = 0; i < text.runs.size(); ++i) {
    const Run& run = text.runs[i];
    if (run.kind == RunKind::kWord && !run.in_link) {
      if (const size_t size = ReadDate(text, i, date_); size > 0) {
        Flush(take);
        place_ = run.begin;
        tag_ = NumberTag::kDate;
        take(date_);
        tag_ = NumberTag::kNumber;
        i += size - 1;
        continue;
      }
      const uint32_t begin = run.begin - (run.begin > 0 && all[run.begin - 1] == '.' ? 1 : 0);
      const auto goes_on = [&] { return i + 1 < text.runs.size() && IsPoint(all, text.runs[i].end); };
      while (goes_on()) ++i;
      ReadWord(all.substr(begin, text.runs[i].end - begin), begin, take);
      continue;
    }
    Flush(take);
    if (run.kind != RunKind::kDictionary) continue;
    // Spaces say nothing in these scripts.
    while (i + 1 < text.runs.size() && text.runs[i + 1].kind == RunKind::kDictionary) ++i;
    ReadDictionary(all.substr(run.begin, text.runs[i].end - run.begin), run.begin, take);
  }
  Flush(take);
}

uint64_t NumberFinder::Read(const NormalText& text, NumberSketch& out) {
  hashes_.clear();
  places_.clear();
  const auto tagged = [](uint64_t hash, NumberTag tag) {
    constexpr uint64_t kTagBits = uint64_t{kNumberTags} << 32;
    return (hash & ~kTagBits) | uint64_t{static_cast<uint8_t>(tag)} << 32;
  };
  Find(text, [&](const std::string& number) {
    hashes_.push_back(tagged(TokenHash(number), tag_));
    places_.push_back(place_);
  });
  values_.assign(hashes_.begin(), hashes_.end());
  for (size_t i = 1; i < hashes_.size() && hashes_.size() < kFewNumbers; ++i) {
    if (places_[i] - places_[i - 1] <= kCloseBytes)
      values_.push_back(tagged(Mixed(hashes_[i - 1] + hashes_[i] * kOrder), NumberTag::kNeighbours));
  }
  std::sort(values_.begin(), values_.end());
  uint64_t last = 0, time = 0;
  for (uint64_t& value : values_) {
    time = value == last ? time + 1 : 0;
    last = value;
    if (time > 0 && value != tagged(value, NumberTag::kNeighbours))
      value = tagged(Mixed(value + time * kOrder), NumberTag::kRepeat);
  }
  uint64_t all = 0;
  for (const uint64_t value : values_) all = Mixed(all + value);
  SampleInto(values_, kNumbersMax, out);
  return all;
}

void NumberFinder::Release() {
  groups_ = {};
  amounts_ = {};
  hashes_ = {};
  places_ = {};
  values_ = {};
}

}  // namespace seen
