#include "similar/text/markup.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "similar/text/characters.h"

namespace seen {

namespace {

enum class Kind : uint8_t { kWord, kSpace, kPunctuation, kNothing, kColon, kTag, kEntity, kBeyond };

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
    table.kind[c] = c >= 128                               ? Kind::kBeyond
                    : word                                 ? Kind::kWord
                    : c == ' ' || (c >= '\t' && c <= '\r') ? Kind::kSpace
                    : c < 32 || c == 127                   ? Kind::kNothing
                    : c == ':'                             ? Kind::kColon
                    : c == '<'                             ? Kind::kTag
                    : c == '&'                             ? Kind::kEntity
                                                           : Kind::kPunctuation;
  }
  return table;
}
constexpr Ascii kAscii = MakeAscii();

Kind KindOf(char c) { return kAscii.kind[static_cast<unsigned char>(c)]; }
char Lower(char c) { return kAscii.lower[static_cast<unsigned char>(c)]; }
bool IsLetter(char c) { return Lower(c) >= 'a' && Lower(c) <= 'z'; }
bool IsHex(char c) { return (c >= '0' && c <= '9') || (Lower(c) >= 'a' && Lower(c) <= 'f'); }

class Stripper {
 public:
  Stripper(std::string_view text, std::string& out)
      : text_(text), begin_(out.size()), effort_(4096 + 4 * text.size()), out_(out) {
    out.resize(begin_ + text.size());
    to_ = start_ = out.data() + begin_;
  }

  bool Run();

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
  void Append(uint32_t code_point);
  size_t Find(size_t from, std::string_view what);
  size_t EndOfTag(size_t from);
  size_t Tag(size_t at);
  size_t Entity(size_t at);
  size_t Colon(size_t at);
  size_t Punctuation(size_t at);

  std::string_view text_;
  size_t begin_;
  size_t effort_;  // bytes that may still be searched in vain: bounds the time for a text full of half tags
  std::string& out_;
  char* start_;
  char* to_;
  bool in_url_ = false;
  bool beyond_ascii_ = false;
};

bool Stripper::Run() {
  const size_t size = text_.size();
  for (size_t at = 0; at < size;) {
    const char c = text_[at];
    switch (KindOf(c)) {
      case Kind::kWord:
        *to_++ = Lower(c);
        ++at;
        break;
      case Kind::kBeyond:
        *to_++ = c;
        ++at;
        beyond_ascii_ = true;
        in_url_ = false;
        break;
      case Kind::kSpace:
        Separate();
        in_url_ = false;
        ++at;
        break;
      case Kind::kNothing:
        ++at;
        break;
      case Kind::kPunctuation:
        at = Punctuation(at);
        break;
      case Kind::kColon:
        at = Colon(at);
        break;
      case Kind::kTag:
        in_url_ = false;
        at = Tag(at);
        break;
      case Kind::kEntity:
        at = Entity(at);
        break;
    }
  }
  out_.resize(begin_ + static_cast<size_t>(to_ - start_));
  return beyond_ascii_;
}

size_t Stripper::Punctuation(size_t at) {
  const char c = text_[at];
  if (c == '.' && to_ - start_ >= 3 && std::string_view(to_ - 3, 3) == "www" &&
      (to_ - start_ == 3 || to_[-4] == ' ')) {
    in_url_ = true;
  }
  Separate();
  ++at;
  if (!in_url_) return at;
  if (c == '%' && at + 1 < text_.size() && IsHex(text_[at]) && IsHex(text_[at + 1])) return at + 2;
  if (c == '"' || c == '>') in_url_ = false;
  if (c != '?' && c != '#') return at;
  while (at < text_.size() && KindOf(text_[at]) != Kind::kSpace && KindOf(text_[at]) != Kind::kBeyond &&
         text_[at] != '<' && text_[at] != '>' && text_[at] != '"') {
    ++at;
  }
  in_url_ = false;
  return at;
}

size_t Stripper::Colon(size_t at) {
  if (At(at, "://") && at > 0 && KindOf(text_[at - 1]) == Kind::kWord) {
    char* scheme = to_;
    while (scheme != start_ && KindOf(scheme[-1]) == Kind::kWord) --scheme;
    // The scheme begins after a non-ASCII character: in "中http://" it is "http".
    if (scheme != to_ && IsLetter(*scheme)) to_ = scheme;
    Separate();
    in_url_ = true;
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
  if (At(next, "!doctype") || At(next, "?xml")) return skip(next, ">");

  const bool closes = next < text_.size() && text_[next] == '/';
  const size_t name_at = closes ? next + 1 : next;
  size_t end = name_at;
  std::array<char, kTagNameMax> name;
  while (end < text_.size() && end - name_at < kTagNameMax && KindOf(text_[end]) == Kind::kWord) {
    name[end - name_at] = Lower(text_[end]);
    ++end;
  }
  const bool ends =
      end < text_.size() && (text_[end] == '>' || text_[end] == '/' || KindOf(text_[end]) == Kind::kSpace);
  const TagKind kind = ends ? TagKindOf({name.data(), end - name_at}) : TagKind::kNone;
  const size_t after = kind == TagKind::kNone ? 0 : EndOfTag(end);
  if (after == 0) {
    Separate();
    return next;
  }
  if (kind != TagKind::kWithinLine) Separate();
  if (kind != TagKind::kNotShown || closes) return after;
  const size_t closing = Find(after, name[1] == 'c' ? "</script" : "</style");
  return closing == std::string_view::npos ? after : closing;
}

void Stripper::Append(uint32_t c) {
  const auto put = [&](uint32_t byte) { *to_++ = static_cast<char>(byte); };
  if (c < 0x80) {
    const Kind kind = KindOf(static_cast<char>(c));
    if (kind == Kind::kWord) {
      put(static_cast<unsigned char>(Lower(static_cast<char>(c))));
    } else if (kind != Kind::kNothing) {
      Separate();
    }
    return;
  }
  if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) c = 0xfffd;
  beyond_ascii_ = true;
  PutUtf8(c, put);
}

size_t Stripper::Entity(size_t at) {
  size_t end = at + 1;
  while (end < text_.size() && end - at <= kEntityNameMax &&
         (KindOf(text_[end]) == Kind::kWord || text_[end] == '#')) {
    ++end;
  }
  if (end < text_.size() && text_[end] == ';') {
    if (const auto code_point = EntityCodePoint(text_.substr(at + 1, end - at - 1))) {
      Append(*code_point);
      return end + 1;
    }
  }
  Separate();
  return at + 1;
}

}  // namespace

bool StripMarkup(std::string_view text, std::string& out) { return Stripper(text, out).Run(); }

namespace {

constexpr std::string_view kWithinLine[] = {
    "a",    "abbr",   "acronym", "b",   "bdi", "bdo",   "big",  "cite", "code", "data", "del",  "dfn",
    "em",   "font",   "i",       "ins", "kbd", "label", "mark", "nobr", "q",    "s",    "samp", "small",
    "span", "strike", "strong",  "sub", "sup", "time",  "tt",   "u",    "var",  "wbr"};
constexpr std::string_view kBreaks[] = {
    "address",  "applet",     "area",     "article", "aside",   "audio",    "base",     "blockquote",
    "body",     "br",         "button",   "canvas",  "caption", "center",   "col",      "colgroup",
    "dd",       "details",    "dialog",   "dir",     "div",     "dl",       "dt",       "embed",
    "fieldset", "figcaption", "figure",   "footer",  "form",    "frame",    "frameset", "h1",
    "h2",       "h3",         "h4",       "h5",      "h6",      "head",     "header",   "hgroup",
    "hr",       "html",       "iframe",   "img",     "input",   "legend",   "li",       "link",
    "main",     "map",        "menu",     "meta",    "meter",   "nav",      "noframes", "noscript",
    "object",   "ol",         "optgroup", "option",  "output",  "p",        "param",    "picture",
    "pre",      "progress",   "rp",       "rt",      "ruby",    "section",  "select",   "source",
    "summary",  "svg",        "table",    "tbody",   "td",      "template", "textarea", "tfoot",
    "th",       "thead",      "title",    "tr",      "track",   "ul",       "video"};
static_assert(std::is_sorted(std::begin(kWithinLine), std::end(kWithinLine)));
static_assert(std::is_sorted(std::begin(kBreaks), std::end(kBreaks)));

struct Entity {
  std::string_view name;
  uint32_t code_point;
};
constexpr bool operator<(const Entity& a, const Entity& b) { return a.name < b.name; }

constexpr Entity kEntities[] = {
    {"AElig", 0xc6},    {"Aacute", 0xc1},   {"Acirc", 0xc2},    {"Agrave", 0xc0},    {"Alpha", 0x391},
    {"Aring", 0xc5},    {"Atilde", 0xc3},   {"Auml", 0xc4},     {"Beta", 0x392},     {"Ccedil", 0xc7},
    {"Chi", 0x3a7},     {"Dagger", 0x2021}, {"Delta", 0x394},   {"ETH", 0xd0},       {"Eacute", 0xc9},
    {"Ecirc", 0xca},    {"Egrave", 0xc8},   {"Epsilon", 0x395}, {"Eta", 0x397},      {"Euml", 0xcb},
    {"Gamma", 0x393},   {"Iacute", 0xcd},   {"Icirc", 0xce},    {"Igrave", 0xcc},    {"Iota", 0x399},
    {"Iuml", 0xcf},     {"Kappa", 0x39a},   {"Lambda", 0x39b},  {"Mu", 0x39c},       {"Ntilde", 0xd1},
    {"Nu", 0x39d},      {"OElig", 0x152},   {"Oacute", 0xd3},   {"Ocirc", 0xd4},     {"Ograve", 0xd2},
    {"Omega", 0x3a9},   {"Omicron", 0x39f}, {"Oslash", 0xd8},   {"Otilde", 0xd5},    {"Ouml", 0xd6},
    {"Phi", 0x3a6},     {"Pi", 0x3a0},      {"Prime", 0x2033},  {"Psi", 0x3a8},      {"Rho", 0x3a1},
    {"Scaron", 0x160},  {"Sigma", 0x3a3},   {"THORN", 0xde},    {"Tau", 0x3a4},      {"Theta", 0x398},
    {"Uacute", 0xda},   {"Ucirc", 0xdb},    {"Ugrave", 0xd9},   {"Upsilon", 0x3a5},  {"Uuml", 0xdc},
    {"Xi", 0x39e},      {"Yacute", 0xdd},   {"Yuml", 0x178},    {"Zeta", 0x396},     {"aacute", 0xe1},
    {"acirc", 0xe2},    {"acute", 0xb4},    {"aelig", 0xe6},    {"agrave", 0xe0},    {"alefsym", 0x2135},
    {"alpha", 0x3b1},   {"amp", 0x26},      {"apos", 0x27},     {"aring", 0xe5},     {"atilde", 0xe3},
    {"auml", 0xe4},     {"bdquo", 0x201e},  {"beta", 0x3b2},    {"brvbar", 0xa6},    {"bull", 0x2022},
    {"ccedil", 0xe7},   {"cedil", 0xb8},    {"cent", 0xa2},     {"chi", 0x3c7},      {"circ", 0x2c6},
    {"clubs", 0x2663},  {"copy", 0xa9},     {"curren", 0xa4},   {"dagger", 0x2020},  {"deg", 0xb0},
    {"delta", 0x3b4},   {"diams", 0x2666},  {"divide", 0xf7},   {"eacute", 0xe9},    {"ecirc", 0xea},
    {"egrave", 0xe8},   {"emsp", 0x2003},   {"ensp", 0x2002},   {"epsilon", 0x3b5},  {"eta", 0x3b7},
    {"eth", 0xf0},      {"euml", 0xeb},     {"euro", 0x20ac},   {"fnof", 0x192},     {"frac12", 0xbd},
    {"frac14", 0xbc},   {"frac34", 0xbe},   {"frasl", 0x2044},  {"gamma", 0x3b3},    {"gt", 0x3e},
    {"hearts", 0x2665}, {"hellip", 0x2026}, {"iacute", 0xed},   {"icirc", 0xee},     {"iexcl", 0xa1},
    {"igrave", 0xec},   {"image", 0x2111},  {"iota", 0x3b9},    {"iquest", 0xbf},    {"iuml", 0xef},
    {"kappa", 0x3ba},   {"lambda", 0x3bb},  {"lang", 0x2329},   {"laquo", 0xab},     {"lceil", 0x2308},
    {"ldquo", 0x201c},  {"lfloor", 0x230a}, {"loz", 0x25ca},    {"lrm", 0x200e},     {"lsaquo", 0x2039},
    {"lsquo", 0x2018},  {"lt", 0x3c},       {"macr", 0xaf},     {"mdash", 0x2014},   {"micro", 0xb5},
    {"middot", 0xb7},   {"mu", 0x3bc},      {"nbsp", 0xa0},     {"ndash", 0x2013},   {"not", 0xac},
    {"ntilde", 0xf1},   {"nu", 0x3bd},      {"oacute", 0xf3},   {"ocirc", 0xf4},     {"oelig", 0x153},
    {"ograve", 0xf2},   {"oline", 0x203e},  {"omega", 0x3c9},   {"omicron", 0x3bf},  {"ordf", 0xaa},
    {"ordm", 0xba},     {"oslash", 0xf8},   {"otilde", 0xf5},   {"ouml", 0xf6},      {"para", 0xb6},
    {"permil", 0x2030}, {"phi", 0x3c6},     {"pi", 0x3c0},      {"piv", 0x3d6},      {"plusmn", 0xb1},
    {"pound", 0xa3},    {"prime", 0x2032},  {"psi", 0x3c8},     {"quot", 0x22},      {"rang", 0x232a},
    {"raquo", 0xbb},    {"rceil", 0x2309},  {"rdquo", 0x201d},  {"real", 0x211c},    {"reg", 0xae},
    {"rfloor", 0x230b}, {"rho", 0x3c1},     {"rlm", 0x200f},    {"rsaquo", 0x203a},  {"rsquo", 0x2019},
    {"sbquo", 0x201a},  {"scaron", 0x161},  {"sect", 0xa7},     {"shy", 0xad},       {"sigma", 0x3c3},
    {"sigmaf", 0x3c2},  {"spades", 0x2660}, {"sup1", 0xb9},     {"sup2", 0xb2},      {"sup3", 0xb3},
    {"szlig", 0xdf},    {"tau", 0x3c4},     {"theta", 0x3b8},   {"thetasym", 0x3d1}, {"thinsp", 0x2009},
    {"thorn", 0xfe},    {"tilde", 0x2dc},   {"times", 0xd7},    {"trade", 0x2122},   {"uacute", 0xfa},
    {"ucirc", 0xfb},    {"ugrave", 0xf9},   {"uml", 0xa8},      {"upsih", 0x3d2},    {"upsilon", 0x3c5},
    {"uuml", 0xfc},     {"weierp", 0x2118}, {"xi", 0x3be},      {"yacute", 0xfd},    {"yen", 0xa5},
    {"yuml", 0xff},     {"zeta", 0x3b6},    {"zwj", 0x200d},    {"zwnj", 0x200c}};
static_assert(std::is_sorted(std::begin(kEntities), std::end(kEntities)));

std::optional<uint32_t> Numeric(std::string_view digits) {
  const bool hex = !digits.empty() && (digits[0] == 'x' || digits[0] == 'X');
  if (hex) digits.remove_prefix(1);
  if (digits.empty()) return std::nullopt;
  uint32_t value = 0;
  for (const char c : digits) {
    const uint32_t digit = c >= '0' && c <= '9'   ? static_cast<uint32_t>(c - '0')
                           : c >= 'a' && c <= 'f' ? static_cast<uint32_t>(c - 'a' + 10)
                           : c >= 'A' && c <= 'F' ? static_cast<uint32_t>(c - 'A' + 10)
                                                  : 16;
    if (digit >= (hex ? 16u : 10u)) return std::nullopt;
    value = std::min(value * (hex ? 16 : 10) + digit, 0x110000u);  // beyond Unicode stays beyond
  }
  return value;
}

}  // namespace

TagKind TagKindOf(std::string_view name) {
  if (name == "script" || name == "style") return TagKind::kNotShown;
  if (std::binary_search(std::begin(kWithinLine), std::end(kWithinLine), name)) return TagKind::kWithinLine;
  if (std::binary_search(std::begin(kBreaks), std::end(kBreaks), name)) return TagKind::kBreak;
  return TagKind::kNone;
}

std::optional<uint32_t> EntityCodePoint(std::string_view name) {
  if (name.starts_with('#')) return Numeric(name.substr(1));
  const auto* found = std::lower_bound(std::begin(kEntities), std::end(kEntities), Entity{name, 0});
  if (found == std::end(kEntities) || found->name != name) return std::nullopt;
  return found->code_point;
}

}  // namespace seen
