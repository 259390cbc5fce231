#include "decode/record_events.h"

#include <algorithm>
#include <cstddef>

#include "decode/binary_reader.h"

namespace seen {
namespace {

constexpr std::string_view kSpace = " \t\r\n";
constexpr size_t kNone = std::string_view::npos;

std::string_view Trimmed(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(kSpace), text.size());
  const size_t end = text.find_last_not_of(kSpace);
  return end == kNone ? std::string_view() : text.substr(begin, end + 1 - begin);
}

/// Behind the value at the beginning of `text`; kNone: its brackets or quotes don't end.
size_t EndOfValue(std::string_view text) {
  size_t depth = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\' ? 1u : 0u;
      if (at >= text.size()) return kNone;
      if (depth == 0) return at + 1;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return at;
      if (--depth == 0) return at + 1;
    } else if (depth == 0 && (c == ',' || kSpace.find(c) != kNone)) {
      return at;
    }
  }
  return depth == 0 ? text.size() : kNone;
}

bool IsObject(std::string_view text) { return text.starts_with('{') && EndOfValue(text) == text.size(); }

// An object may stand in a string.
bool MayBeEvent(std::string_view text) { return text.starts_with('{') || text.starts_with("\"{"); }

/// Whether a value may begin behind an object's end. Quicker than to look at all brackets and quotes.
bool HasTwoValues(std::string_view text) {
  for (size_t at = text.find('}'); at != kNone; at = text.find('}', at + 1)) {
    const size_t next = text.find_first_not_of(kSpace, at + 1);
    if (next != kNone && (text[next] == '{' || text[next] == '"')) return true;
  }
  return false;
}

bool SplitArray(std::string_view text, std::vector<std::string_view>& events) {
  if (EndOfValue(text) != text.size()) return false;
  for (std::string_view rest = Trimmed(text.substr(1, text.size() - 2)); !rest.empty();) {
    const size_t end = EndOfValue(rest);
    if (end == kNone) return false;
    // Whatever stands up to the comma belongs to the element, and makes it a bad one.
    size_t comma = end;
    while (comma < rest.size() && rest[comma] != ',') ++comma;
    events.push_back(Trimmed(rest.substr(0, comma)));
    if (comma == rest.size()) break;
    rest = Trimmed(rest.substr(comma + 1));
  }
  return std::any_of(events.begin(), events.end(), MayBeEvent);
}

/// Appends the objects that stand one behind another; what follows them is one more.
void AppendSequence(std::string_view text, std::vector<std::string_view>& events) {
  while (!text.empty()) {
    const size_t end = text.front() == '{' ? EndOfValue(text) : kNone;
    events.push_back(text.substr(0, end));
    if (end == kNone) return;
    text = Trimmed(text.substr(end));
  }
}

bool SplitLines(std::string_view text, std::vector<std::string_view>& events) {
  // An event may be written over several lines.
  const std::string_view first = Trimmed(text.substr(0, text.find('\n')));
  if (first.starts_with('{') && std::string_view("{[,").find(first.back()) != kNone) return false;
  bool has_object = false;
  size_t lines = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = Trimmed(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(std::min(rest.size(), rest.find('\n') == kNone ? kNone : rest.find('\n') + 1));
    if (line.empty()) continue;
    ++lines;
    const size_t before = events.size();
    AppendSequence(line, events);
    const bool whole =
        std::all_of(events.begin() + static_cast<std::ptrdiff_t>(before), events.end(), IsObject);
    has_object |= whole;
    if (whole || events.size() == before + 1) continue;
    events.resize(before);
    events.push_back(line);
  }
  return lines > 1 && has_object;
}

}  // namespace

bool SplitEvents(std::string_view value, std::vector<std::string_view>& events) {
  events.clear();
  if (IsFramed(value)) value.remove_prefix(kFrameBytes);
  if (value.starts_with("\xef\xbb\xbf")) value.remove_prefix(3);
  const std::string_view text = Trimmed(value);
  if (text.starts_with('[')) {
    if (SplitArray(text, events)) return true;
  } else {
    const bool has_lines = text.find('\n') != kNone;
    if (!has_lines && !HasTwoValues(text)) return false;  // most records
    if (has_lines && SplitLines(text, events)) return true;
    events.clear();
    AppendSequence(text, events);
    // The last may be cut off or something else; the first two are objects.
    if (events.size() > 1 && IsObject(events[0]) && MayBeEvent(events[1])) return true;
  }
  events.clear();
  return false;
}

}  // namespace seen
