#include "similar/text/markup.h"

#include <algorithm>
#include <array>

#include "similar/text/characters.h"
#include "similar/text/markup_names.h"

namespace seen {

namespace {

enum class Kind : uint8_t { kWord, kSpace, kPunctuation, kSign, kNothing, kColon, kTag, kEntity, kBeyond };

struct Ascii {
  std::array<Kind, 256> kind;
  std::array<char, 256> lower;
};

constexpr Ascii MakeAscii() {
  Ascii table{};
  for (size_t c = 0; c < 256; ++c) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool word = upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    table.lower[c] = static_cast<char>(upper ? c + 32 : c);
    table.kind[c] = c >= 128                                                           ? Kind::kBeyond
                    : word                                                             ? Kind::kWord
                    : c == ' ' || (c >= '\t' && c <= '\r')                             ? Kind::kSpace
                    : c < 32 || c == 127                                               ? Kind::kNothing
                    : c == ':'                                                         ? Kind::kColon
                    : c == '<'                                                         ? Kind::kTag
                    : c == '&'                                                         ? Kind::kEntity
                    : kAsciiSigns.find(static_cast<char>(c)) != std::string_view::npos ? Kind::kSign
                                                                                       : Kind::kPunctuation;
  }
  return table;
}
constexpr Ascii kAscii = MakeAscii();

Kind KindOf(char c) { return kAscii.kind[static_cast<unsigned char>(c)]; }
char Lower(char c) { return kAscii.lower[static_cast<unsigned char>(c)]; }
bool IsLetter(char c) { return Lower(c) >= 'a' && Lower(c) <= 'z'; }
bool IsHex(char c) { return (c >= '0' && c <= '9') || (Lower(c) >= 'a' && Lower(c) <= 'f'); }
uint32_t HexDigit(char c) { return static_cast<uint32_t>(c <= '9' ? c - '0' : Lower(c) - 'a' + 10); }
// White space, quotes and tags; also letters beyond ASCII, as Chinese has no spaces.
bool EndsUrl(char c) {
  return KindOf(c) == Kind::kSpace || KindOf(c) == Kind::kBeyond || c == '<' || c == '>' || c == '"';
}

struct TagName {
  size_t end = 0;  // the place after it
  TagKind kind = TagKind::kNone;
  std::array<char, kTagNameMax> lower{};
};

// The name at `at`, which follows "<" or "</".
TagName TagNameAt(std::string_view text, size_t at, uint32_t version) {
  TagName name;
  const auto is_of_name = [&](char c) {
    return KindOf(c) == Kind::kWord || (version >= 5 && (c == '-' || c == ':'));
  };
  size_t size = 0;
  for (; at + size < text.size() && size < kTagNameMax && is_of_name(text[at + size]); ++size)
    name.lower[size] = Lower(text[at + size]);
  name.end = at + size;
  if (name.end == text.size()) return name;
  const char after = text[name.end];
  if (after == '>' || after == '/' || KindOf(after) == Kind::kSpace)
    name.kind = TagKindOf({name.lower.data(), size}, version);
  return name;
}

class Stripper {
 public:
  Stripper(std::string_view text, uint32_t version, std::string& out, std::vector<uint32_t>* links)
      : text_(text),
        version_(version),
        signs_count_(version >= 5),
        begin_(out.size()),
        effort_(4096 + 4 * text.size()),
        out_(out),
        links_(links) {
    out.resize(begin_ + text.size());
    to_ = start_ = line_ = out.data() + begin_;
  }

  bool Run();
  /// After Run: there was no tag, but one that is escaped.
  bool MayBeEscaped() const { return has_escaped_tags_ && !has_tags_; }

 private:
  bool At(size_t at, std::string_view what) const {
    if (text_.size() - at < what.size()) return false;
    for (size_t i = 0; i < what.size(); ++i) {
      if (Lower(text_[at + i]) != what[i]) return false;
    }
    return true;
  }
  void Separate() {
    if (to_ != start_ && to_[-1] != ' ') *to_++ = ' ';
  }
  void SetInUrl(bool in_url) {
    if (in_url == in_url_) return;
    in_url_ = in_url;
    if (links_ != nullptr)
      links_->push_back(static_cast<uint32_t>(begin_ + static_cast<size_t>(to_ - start_)));
  }
  // The next characters are at the beginning of a line.
  void EndLine() {
    Separate();
    line_ = to_;
  }
  void Append(uint32_t code_point, size_t at);
  void Sign(char c, size_t at);
  bool MayBeOfNumber(size_t at) const;
  bool IsBracket(size_t at);
  void BeginHost(size_t slash);
  size_t Find(size_t from, std::string_view what);
  size_t EndOfTag(size_t from);
  size_t Tag(size_t at);
  bool IsPower(const TagName& name, size_t after) const;
  size_t Entity(size_t at);
  size_t EscapedTwice(size_t at);
  size_t Colon(size_t at);
  size_t Punctuation(size_t at);
  size_t Escaped(size_t at);
  size_t Parameters(size_t at) const;

  std::string_view text_;
  const uint32_t version_;
  const bool signs_count_;
  size_t begin_;
  size_t effort_;  // bytes that may still be searched in vain: bounds the time for a text full of half tags
  std::string& out_;
  std::vector<uint32_t>* links_;  // may be nullptr
  char* start_;
  char* to_;
  char* line_;          // where the line begins
  size_t bracket_ = 0;  // of the text: the end of a name in brackets that isn't a tag
  bool in_url_ = false;
  bool in_math_ = false;
  bool has_path_ = false;  // of the URL
  bool has_tags_ = false, has_escaped_tags_ = false;
  bool beyond_ascii_ = false;
};

bool Stripper::Run() {
  const std::string_view text = text_;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    switch (KindOf(c)) {
      case Kind::kWord: {
        char* to = to_;
        do *to++ = Lower(text[at++]);
        while (at < text.size() && KindOf(text[at]) == Kind::kWord);
        to_ = to;
        break;
      }
      case Kind::kBeyond:
        SetInUrl(false);
        *to_++ = c;
        ++at;
        beyond_ascii_ = true;
        break;
      case Kind::kSpace:
        Separate();
        if (c == '\n') line_ = to_;
        SetInUrl(false);
        ++at;
        break;
      case Kind::kNothing:
        ++at;
        break;
      case Kind::kSign:
        if (signs_count_ && !in_url_ && ((c != '.' && c != ',') || MayBeOfNumber(at))) {
          Sign(c, at++);
        } else {
          at = Punctuation(at);
        }
        break;
      case Kind::kPunctuation:
        at = Punctuation(at);
        break;
      case Kind::kColon:
        at = Colon(at);
        break;
      case Kind::kTag:
        SetInUrl(false);
        at = Tag(at);
        break;
      case Kind::kEntity:
        at = Entity(at);
        break;
    }
  }
  SetInUrl(false);
  out_.resize(begin_ + static_cast<size_t>(to_ - start_));
  return beyond_ascii_;
}

// RunWriter decides whether the sign at `at` is part of a word.
void Stripper::Sign(char c, size_t at) {
  // The mark of a quoted line, the end of "<package>", or of "]]>" and the like.
  if (c == '>' && (to_ == line_ || at == bracket_ || KindOf(text_[at - 1]) == Kind::kPunctuation))
    return Separate();
  *to_++ = c;
}

// Of a point or comma: nearly all end a sentence or a part of one.
bool Stripper::MayBeOfNumber(size_t at) const {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const char after = at + 1 < text_.size() ? text_[at + 1] : ' ';
  if (to_ != start_ && (is_digit(to_[-1]) || KindOf(to_[-1]) == Kind::kBeyond))
    return is_digit(after) || KindOf(after) == Kind::kBeyond;
  const Kind before = at > 0 ? KindOf(text_[at - 1]) : Kind::kSpace;
  return text_[at] == '.' && is_digit(after) &&
         (before == Kind::kSpace || (before == Kind::kSign && text_[at - 1] != '.'));
}

// Whether "<" is before the name at `at` and ">" after it, as in "<package>". They may be escaped.
bool Stripper::IsBracket(size_t at) {
  if (at < text_.size() && text_[at] == '/') ++at;
  if (at == text_.size() || !IsLetter(text_[at])) return false;
  const size_t end = TagNameAt(text_, at, version_).end;
  if (end == text_.size() || (text_[end] != '>' && !At(end, "&gt;"))) return false;
  bracket_ = end;
  return true;
}

// A link may have no scheme: the host before the slash says that it is one.
void Stripper::BeginHost(size_t slash) {
  constexpr size_t kHostMax = 64;
  const auto is_of_label = [](char c) { return KindOf(c) == Kind::kWord || c == '-'; };
  size_t begin = slash, letters = 0, points = 0;
  bool in_last = true;
  while (begin > 0 && slash - begin < kHostMax) {
    const char c = text_[begin - 1];
    if (in_last && IsLetter(c)) {
      ++letters;
    } else if (c == '.' && is_of_label(text_[begin])) {
      in_last = false;
      ++points;
    } else if (in_last || !is_of_label(c)) {
      break;
    }
    --begin;
  }
  const bool has_path = slash + 1 < text_.size() && KindOf(text_[slash + 1]) == Kind::kWord;
  const bool is_alone =
      begin == 0 || std::string_view("@_/").find(text_[begin - 1]) == std::string_view::npos;
  if (letters < 2 || points == 0 || !has_path || !is_alone || KindOf(text_[begin]) != Kind::kWord) return;
  char* const end = to_;
  to_ -= slash - begin;  // each character of a host gave one
  std::replace_if(
      to_, end, [](char c) { return KindOf(c) != Kind::kWord; }, ' ');
  SetInUrl(true);
  to_ = end;
}

size_t Stripper::Punctuation(size_t at) {
  const char c = text_[at++];
  const auto next_is = [&](std::string_view these) {
    return at < text_.size() && these.find(text_[at]) != std::string_view::npos;
  };
  if (c == '.' && to_ - start_ >= 3 && std::string_view(to_ - 3, 3) == "www" &&
      (to_ - start_ == 3 || to_[-4] == ' ')) {
    SetInUrl(true);
    has_path_ = false;
  }
  if (in_url_ && c == '%' && at + 1 < text_.size() && IsHex(text_[at]) && IsHex(text_[at + 1]))
    return Escaped(at);
  if (c == '/' && signs_count_ && !in_url_) BeginHost(at - 1);
  Separate();
  if (!in_url_) return at;
  if (c == '"' || c == '>') SetInUrl(false);
  if (c == '/' && at < text_.size() && !EndsUrl(text_[at]) && !next_is("?#")) has_path_ = true;
  if (signs_count_ && (c == '?' || c == ';')) return Parameters(at);
  if (c != '?' && c != '#') return at;
  // Some sites have the path in the fragment.
  if (signs_count_ && (!has_path_ || next_is("/!"))) return at;
  while (at < text_.size() && !EndsUrl(text_[at])) ++at;
  SetInUrl(false);
  return at;
}

// Bytes that a URL escapes count as what they are. `at`: the place after the "%".
size_t Stripper::Escaped(size_t at) {
  const uint32_t byte = HexDigit(text_[at]) << 4 | HexDigit(text_[at + 1]);
  if (!signs_count_) {
    Separate();
  } else if (byte < 0x80) {
    Append(byte, at);
  } else {
    *to_++ = static_cast<char>(byte);
    beyond_ascii_ = true;
  }
  return at + 2;
}

// The first parameter from `at` on that isn't for tracking.
size_t Stripper::Parameters(size_t at) const {
  if (!has_path_) return at;  // there is little else
  while (true) {
    std::array<char, kTrackingNameMax> name;
    size_t end = at;
    for (; end < text_.size() && end - at < kTrackingNameMax; ++end) {
      if (KindOf(text_[end]) != Kind::kWord && text_[end] != '_' && text_[end] != '-') break;
      name[end - at] = Lower(text_[end]);
    }
    if (!IsTracking({name.data(), end - at})) return at;
    const auto separates = [&] { return text_[end] == '&' || text_[end] == ';'; };
    while (end < text_.size() && !separates() && text_[end] != '#' && !EndsUrl(text_[end])) ++end;
    if (end == text_.size() || !separates()) return end;
    at = end + (At(end, "&amp;") || At(end, "&#38;") ? 5 : 1);
  }
}

size_t Stripper::Colon(size_t at) {
  if (At(at, "://") && at > 0 && KindOf(text_[at - 1]) == Kind::kWord) {
    char* scheme = to_;
    while (scheme != start_ && KindOf(scheme[-1]) == Kind::kWord) --scheme;
    // The scheme begins after a non-ASCII character: in "中http://" it is "http".
    if (scheme != to_ && IsLetter(*scheme)) to_ = scheme;
    Separate();
    SetInUrl(true);
    has_path_ = false;
    return at + 3;
  }
  Separate();
  return at + 1;
}

// npos: it isn't there, or too much has been searched already.
size_t Stripper::Find(size_t from, std::string_view what) {
  for (size_t at = from; at + what.size() <= text_.size(); ++at) {
    if (at - from >= effort_) break;
    if (Lower(text_[at]) == what[0] && At(at, what)) return at;
  }
  effort_ -= std::min(effort_, text_.size() - from);
  return std::string_view::npos;
}

// The place after the ">" of a tag whose name ends at `from`. 0: there is no ">".
size_t Stripper::EndOfTag(size_t from) {
  char quote = 0;
  size_t at = from;
  for (; at < text_.size() && at - from < effort_; ++at) {
    const char c = text_[at];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '>') {
      return at + 1;
    } else if (c == '<') {
      break;
    } else if ((c == '"' || c == '\'') && text_[at - 1] == '=') {
      quote = c;
    }
  }
  effort_ -= std::min(effort_, at - from);
  return 0;
}

size_t Stripper::Tag(size_t at) {
  const size_t next = at + 1;
  const auto skip = [&](size_t from, std::string_view end) {
    Separate();
    const size_t found = Find(from, end);
    return found == std::string_view::npos ? next : found + end.size();
  };
  if (At(next, "!--")) return skip(next + 3, "-->");
  if (At(next, "![cdata[")) {
    Separate();
    return next + 8;
  }
  if (signs_count_ && (At(next, "![if") || At(next, "![endif"))) return skip(next, ">");
  if (At(next, "!doctype") || At(next, "?xml")) return skip(next, ">");

  const bool closes = next < text_.size() && text_[next] == '/';
  const TagName name = TagNameAt(text_, closes ? next + 1 : next, version_);
  const bool is_tag = name.kind == TagKind::kMath ? in_math_ : name.kind != TagKind::kNone;
  const size_t after = is_tag ? EndOfTag(name.end) : 0;
  if (after == 0) {
    if (signs_count_ && !IsBracket(next)) {
      Sign('<', at);
    } else {
      Separate();
    }
    return next;
  }
  has_tags_ = true;
  if (std::string_view(name.lower.data()) == "math") in_math_ = !closes;
  if (signs_count_ && !closes && IsPower(name, after)) *to_++ = '^';
  if (name.kind != TagKind::kWithinLine) EndLine();
  if (name.kind != TagKind::kNotShown || closes || (signs_count_ && text_[after - 2] == '/')) return after;
  const char second = name.lower[1];
  const size_t closing = Find(after, second == 'c' ? "</script" : second == 't' ? "</style" : "</svg");
  return closing == std::string_view::npos ? after : closing;
}

// "10<sup>2" is 10^2.
bool Stripper::IsPower(const TagName& name, size_t after) const {
  return std::string_view(name.lower.data(), 3) == "sup" && name.kind == TagKind::kWithinLine &&
         to_ != start_ && KindOf(to_[-1]) == Kind::kWord && after < text_.size() &&
         KindOf(text_[after]) == Kind::kWord && !IsLetter(text_[after]);
}

// `at`: where the character is in the text.
void Stripper::Append(uint32_t c, size_t at) {
  const auto put = [&](uint32_t byte) { *to_++ = static_cast<char>(byte); };
  if (c < 0x80) {
    const char byte = static_cast<char>(c);
    const Kind kind = KindOf(byte);
    if (kind == Kind::kWord) {
      *to_++ = Lower(byte);
    } else if (signs_count_ && kAsciiSigns.find(byte) != std::string_view::npos) {
      Sign(byte, at);
    } else if (kind != Kind::kNothing) {
      Separate();
    }
    return;
  }
  if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) c = 0xfffd;
  beyond_ascii_ = true;
  PutUtf8(c, put);
}

// The character of an entity whose '&' was escaped and ends at `at`: &amp;#39;. Returns the place after it;
// `at`: there is none, or it would be a tag's or another '&', which may be text.
size_t Stripper::EscapedTwice(size_t at) {
  const size_t semicolon = text_.substr(at, kEntityNameMax + 1).find(';');
  if (semicolon == std::string_view::npos) return at;
  const auto c = EntityCodePoint(text_.substr(at, semicolon), version_);
  if (!c || *c == '<' || *c == '>' || *c == '&') return at;
  Append(*c, at);
  return at + semicolon + 1;
}

size_t Stripper::Entity(size_t at) {
  size_t end = at + 1;
  while (end < text_.size() && end - at <= kEntityNameMax &&
         (KindOf(text_[end]) == Kind::kWord || text_[end] == '#')) {
    ++end;
  }
  if (end < text_.size() && text_[end] == ';') {
    if (const auto code_point = EntityCodePoint(text_.substr(at + 1, end - at - 1), version_)) {
      ++end;
      if (signs_count_ && in_url_ && *code_point == '&') {
        Separate();
        return Parameters(end);
      }
      if (signs_count_) {
        SetInUrl(false);
        has_escaped_tags_ |= *code_point == '<' || (*code_point == '&' && At(end, "lt;"));
        if (*code_point == '<' && IsBracket(end)) {
          Separate();
          return end;
        }
        if (*code_point == '&') {
          if (const size_t twice = EscapedTwice(end); twice > end) return twice;
        }
      }
      Append(*code_point, at);
      return end;
    }
  }
  if (signs_count_ && !in_url_) {
    Sign('&', at);
    return at + 1;
  }
  Separate();
  return in_url_ && signs_count_ ? Parameters(at + 1) : at + 1;
}

// Replaces the entities of the characters that escaping changes.
std::string Unescaped(std::string_view text, uint32_t version) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t semicolon = text[at] == '&' ? text.substr(at, 8).find(';') : std::string_view::npos;
    const auto c = semicolon == std::string_view::npos
                       ? std::nullopt
                       : EntityCodePoint(text.substr(at + 1, semicolon - 1), version);
    const bool replaced = c == '<' || c == '>' || c == '&' || c == '"' || c == '\'';
    out += replaced ? static_cast<char>(*c) : text[at];
    at += replaced ? semicolon + 1 : 1;
  }
  return out;
}

// Whether a break touches the words on both sides: "one<br>Two". Texts about tags have them apart, or quoted.
bool HasBreakWithinWords(std::string_view text, uint32_t version) {
  const auto is_word = [](char c) { return KindOf(c) == Kind::kWord; };
  const auto ends_words = [&](char c) {
    return is_word(c) || std::string_view(".,!?;:").find(c) != std::string_view::npos;
  };
  for (size_t at = text.find('<'); at != text.npos; at = text.find('<', at + 1)) {
    const TagName name = TagNameAt(text, at + 1, version);
    if (name.kind != TagKind::kBreak ||
        (at > 0 && !ends_words(text[at - 1]) && !text.substr(0, at).ends_with("。")))
      continue;
    const size_t end = text.find_first_of("<>", name.end);
    if (end != text.npos && end + 1 < text.size() && text[end] == '>' && is_word(text[end + 1])) return true;
  }
  return false;
}

// Whether the text begins with an element or ends with one, or a break is within its words. A text about tags
// seldom does.
bool IsOfElements(std::string_view text, uint32_t version) {
  while (!text.empty() && KindOf(text.front()) == Kind::kSpace) text.remove_prefix(1);
  while (!text.empty() && KindOf(text.back()) == Kind::kSpace) text.remove_suffix(1);
  const auto name_at = [&](size_t at) -> std::string {
    const TagName name = TagNameAt(text, at, version);
    const bool is_tag = name.kind != TagKind::kNone && name.kind != TagKind::kMath;
    return is_tag ? std::string(text.substr(at, name.end - at)) : "";
  };
  if (HasBreakWithinWords(text, version)) return true;
  if (text.starts_with('<')) {
    const std::string name = name_at(1);
    if (!name.empty() && text.find("</" + name) != std::string_view::npos) return true;
  }
  const size_t last = text.rfind("</");
  if (last == std::string_view::npos || !text.ends_with('>')) return false;
  const std::string name = name_at(last + 2);
  return !name.empty() && last + name.size() + 3 == text.size() && text.find("<" + name) < last;
}

}  // namespace

bool StripMarkup(std::string_view text, uint32_t version, std::string& out, std::vector<uint32_t>* links) {
  const size_t begin = out.size(), links_begin = links != nullptr ? links->size() : 0;
  Stripper stripper(text, version, out, links);
  const bool beyond_ascii = stripper.Run();
  if (!stripper.MayBeEscaped()) return beyond_ascii;
  std::string unescaped(text);
  for (int times = 0; times < 2; ++times) {
    unescaped = Unescaped(unescaped, version);
    if (!IsOfElements(unescaped, version)) continue;
    out.resize(begin);
    if (links != nullptr) links->resize(links_begin);
    return Stripper(unescaped, version, out, links).Run();
  }
  return beyond_ascii;
}

}  // namespace seen
