#include "group/markup.h"

#include <array>
#include <cstdint>

#include "group/characters.h"
#include "group/markup_names.h"

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

}  // namespace seen
