#include "tools/history/line_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "tools/history/foreign_format.h"

namespace seen {
namespace {

constexpr size_t kReadBytes = 256 * 1024;

/// Whether an object goes on behind the end of a line. `last`: its last character; `first`: the place of the
/// next one. A line that was cut off doesn't swallow the lines behind it: their objects begin at the start of
/// the line, and an object that is laid out on several lines is indented.
bool GoesOnBehind(char last, std::string_view next_line, size_t first) {
  if (next_line.front() == '{') return false;
  return std::string_view("{[,:").find(last) != std::string_view::npos ||
         std::string_view("}],:").find(next_line[first]) != std::string_view::npos;
}

/// Looks for the end of a text that isn't an object: the first of `ends` outside a string.
class EndOfElement {
 public:
  explicit EndOfElement(std::string_view ends) : ends_(ends) {}
  /// `text`: the same as before, or more of it.
  size_t Find(std::string_view text) {
    for (; at_ < text.size() && !ends_.empty(); ++at_) {
      const char letter = text[at_];
      if (ends_.find(letter) != std::string_view::npos) {
        if (!in_string_) return at_;
        first_in_string_ = std::min(first_in_string_, at_);
      }
      if (std::exchange(is_escaped_, false)) continue;
      is_escaped_ = in_string_ && letter == '\\';
      if (letter == '"') in_string_ = !in_string_;
    }
    return std::string_view::npos;
  }
  /// Where the line has no more: a quote that nothing closes must not hide the objects behind it.
  size_t FindAtEnd() const { return in_string_ ? first_in_string_ : std::string_view::npos; }

 private:
  const std::string_view ends_;
  size_t at_ = 0;
  size_t first_in_string_ = std::string_view::npos;
  bool in_string_ = false;
  bool is_escaped_ = false;
};

}  // namespace

Result<LineReader> LineReader::Open(const std::string& path) {
  auto stream = ByteStream::Open(path);
  if (!stream) return Fail(std::move(stream.error()));
  return LineReader(std::move(*stream));
}

std::string_view LineReader::Ahead() {
  if (at_ == end_) static_cast<void>(Fill());  // Next returns the error
  return {buffer_.data() + at_, end_ - at_};
}

Result<bool> LineReader::Fill() {
  if (failure_) return Fail(*failure_);
  if (at_end_) return false;
  if (at_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + at_, end_ - at_);
    end_ -= at_;
    at_ = 0;
  }
  if (buffer_.size() - end_ < kReadBytes) buffer_.resize(end_ + end_ / 2 + kReadBytes);
  const auto read = stream_.Read(std::span(buffer_).subspan(end_));
  if (!read) {
    failure_ = read.error();
    return Fail(*failure_);
  }
  end_ += *read;
  at_end_ = *read == 0;
  return !at_end_;
}

/// Whether there are bytes after the first `bytes` of what is left.
Result<bool> LineReader::FillBehind(size_t bytes) {
  while (end_ - at_ <= bytes) {
    const auto filled = Fill();
    if (!filled || !*filled) return filled;
  }
  return true;
}

Result<bool> LineReader::Next(std::string_view& text) {
  if (cut_ != Cut::kNothing) {
    if (auto skipped = SkipRestOfText(); !skipped) return Fail(skipped.error());
  }
  auto is_there = FindText();
  if (!is_there || !*is_there) return is_there;
  const uint64_t line = line_;
  if (buffer_[at_] != '{') {
    if (const auto taken = TakeLine(text); !taken) return taken;
  } else if (!TakeFlatObject(text)) {
    if (const auto taken = TakeObject(text); !taken) return taken;
    gave_object_ = true;
  }
  line_number_ = line;
  return true;
}

/// Goes to the next object or line. Between objects, what belongs to an array is blank.
Result<bool> LineReader::FindText() {
  size_t ahead = 0;
  while (true) {
    const auto filled = FillBehind(ahead);
    if (!filled) return Fail(filled.error());
    if (!*filled) {
      Pass(ahead);
      if (open_arrays_ == 0) return false;
      failure_ = {Code::kMalformed,
                  fmt::format("{}: cut off: the JSON array that begins it has no end", stream_.path())};
      return Fail(*failure_);
    }
    const char letter = buffer_[at_ + ahead];
    switch (letter) {
      case '{':
        Pass(ahead);
        return true;
      case '\r': {
        const auto behind = FillBehind(ahead + 1);
        if (behind && *behind && buffer_[at_ + ahead + 1] == '\n') ++ahead;
        [[fallthrough]];
      }
      case '\n':
        ++line_;
        gave_object_ = false;
        Pass(ahead + 1);
        ahead = 0;
        break;
      case ' ':
      case '\t':
      case '\x1e':  // begins a record of RFC 7464
        if (ahead == 0) {
          ++at_;
        } else {
          ++ahead;
        }
        break;
      case '[':
      case ']':
      case ',':
        ++ahead;
        if (ahead >= kReadBytes) {
          Pass(ahead);
          ahead = 0;
        }
        break;
      default:
        if (gave_object_) Pass(ahead);
        return true;
    }
  }
}

/// Goes past what stands between texts. Only an array that begins the file can tell that the file was cut.
void LineReader::Pass(size_t bytes) {
  for (const char letter : std::string_view(buffer_.data() + at_, bytes)) {
    if (letter == '[' && (line_number_ == 0 || open_arrays_ > 0)) ++open_arrays_;
    if (letter == ']' && open_arrays_ > 0) --open_arrays_;
  }
  at_ += bytes;
}

/// The common case, without a look at each byte: an object without another one in it, which ends its line.
bool LineReader::TakeFlatObject(std::string_view& text) {
  const char* const begin = buffer_.data() + at_;
  const size_t left = end_ - at_;
  const auto* const close = static_cast<const char*>(std::memchr(begin, '}', left));
  if (close == nullptr) return false;
  const auto bytes = static_cast<size_t>(close - begin) + 1;
  size_t line_end = 0;
  if (bytes < left && close[1] == '\n') line_end = 1;
  if (bytes + 1 < left && close[1] == '\r' && close[2] == '\n') line_end = 2;
  if (line_end == 0 || std::memchr(begin + 1, '{', bytes - 1) != nullptr ||
      std::memchr(begin, '\n', bytes) != nullptr || std::memchr(begin, '\r', bytes) != nullptr) {
    return false;
  }
  text = {begin, bytes};
  at_ += bytes + line_end;
  ++line_;
  gave_object_ = false;
  ended_ = true;
  return true;
}

/// Goes to the end of the object, or to the end of what is there. `bytes` are then the object's.
LineReader::Found LineReader::Advance(Scan& scan) const {
  for (size_t at = at_ + scan.bytes; at < end_; ++at) {
    const char letter = buffer_[at];
    if (letter == '{' && scan.is_broken && scan.next_object == 0 && IsBehindObject(at))
      scan.next_object = at - at_;
    if (scan.in_string && letter != '\n' && letter != '\r') {
      if (scan.is_escaped) {
        scan.is_escaped = false;
      } else if (letter == '\\') {
        scan.is_escaped = true;
      } else if (letter == '"') {
        scan.in_string = false;
      }
      continue;
    }
    // Behind a string comes one of these. The first quote of a string is its last character here.
    if (scan.last == '"' && std::string_view(":,}] \t\r\n").find(letter) == std::string_view::npos)
      scan.is_broken = true;
    switch (letter) {
      case '"':
        scan.in_string = true;
        break;
      case '{':
        // In an object, a value stands behind a colon. So this object lost its end, and the next one begins.
        if (scan.depth > 0 && (scan.arrays & 1) == 0 && scan.last != ':' && BeginsKey(at)) {
          scan.bytes = at - at_;
          return Found::kEnd;
        }
        [[fallthrough]];
      case '[':
        ++scan.depth;
        scan.arrays = scan.arrays << 1 | (letter == '[' ? 1U : 0U);
        break;
      case '}':
      case ']':
        scan.arrays = scan.arrays >> 1 | uint64_t{1} << 63;
        if (--scan.depth == 0) {
          scan.bytes = at + 1 - at_;
          return Found::kEnd;
        }
        break;
      case '\n':
      case '\r': {
        const size_t next = at + (letter == '\r' && at + 1 < end_ && buffer_[at + 1] == '\n' ? 2 : 1);
        const std::string_view rest(buffer_.data() + next, end_ - std::min(next, end_));
        const size_t first = rest.find_first_not_of(" \t");
        if (!scan.in_string && first == std::string_view::npos && !at_end_) {
          scan.bytes = at - at_;
          return Found::kNeedsMore;
        }
        if (scan.in_string || first == std::string_view::npos || !GoesOnBehind(scan.last, rest, first)) {
          scan.bytes = at - at_;
          return Found::kEnd;
        }
        ++scan.lines;
        at = next - 1;
        continue;
      }
      case ' ':
      case '\t':
        continue;
      default:
        break;
    }
    scan.last = letter;
  }
  scan.bytes = end_ - at_;
  return Found::kNeedsMore;
}

/// Whether the brace at `at` is followed by a key.
bool LineReader::BeginsKey(size_t at) const {
  const std::string_view behind(buffer_.data() + at + 1, end_ - at - 1);
  const size_t next = behind.find_first_not_of(" \t");
  return next != std::string_view::npos && behind[next] == '"';
}

/// Whether an object ends before `at`, with nothing but blanks and a comma in between.
bool LineReader::IsBehindObject(size_t at) const {
  const std::string_view before(buffer_.data() + at_, at - at_);
  size_t last = before.find_last_not_of(" \t");
  if (last != std::string_view::npos && before[last] == ',') last = before.find_last_not_of(" \t,", last);
  return last != std::string_view::npos && before[last] == '}';
}

Result<bool> LineReader::TakeObject(std::string_view& text) {
  Scan scan;
  ended_ = true;
  // A single object of a line stays whole: it may be readable with its broken string.
  const bool is_one_of_many = gave_object_ || open_arrays_ > 0;
  while (Advance(scan) == Found::kNeedsMore) {
    if (is_one_of_many && scan.next_object > 0 && scan.bytes > scan.next_object + kReadBytes) break;
    if (scan.bytes >= kLineBytesMax) {
      ended_ = false;
      cut_ = Cut::kObject;
      scan_ = scan;
      break;
    }
    const auto filled = Fill();
    if (!filled) return Fail(filled.error());
    if (!*filled && at_ + scan.bytes >= end_) {
      ended_ = false;
      break;
    }
  }
  if (is_one_of_many && scan.depth > 0 && scan.next_object > 0 && scan.lines == 0) {
    scan.bytes = scan.next_object;
    ended_ = true;
    cut_ = Cut::kNothing;
  }
  text = {buffer_.data() + at_, std::min(scan.bytes, kLineBytesMax)};
  at_ += scan.bytes;
  line_ += scan.lines;
  scan_.bytes = 0;
  scan_.lines = 0;
  return true;
}

/// A line that isn't an object. In an array it ends before the first object. Behind an object of the line, it
/// is one element.
Result<bool> LineReader::TakeLine(std::string_view& text) {
  if (buffer_[at_] == '\x1f' || buffer_[at_] == '\x28') static_cast<void>(FillBehind(3));
  if (IsPacked({buffer_.data() + at_, std::min<size_t>(end_ - at_, 4)})) {
    failure_ = PackedPart();
    return Fail(*failure_);
  }
  const bool begins_array = std::string_view("[],").find(buffer_[at_]) != std::string_view::npos;
  EndOfElement element(gave_object_ ? ",]{" : begins_array ? "{" : "");
  size_t searched = 0;
  while (true) {
    const std::string_view seen(buffer_.data() + at_, end_ - at_);
    const size_t line_end = std::min(seen.find('\n', searched), seen.find('\r', searched));
    size_t found = element.Find(seen.substr(0, line_end));
    if (found == std::string_view::npos && line_end != std::string_view::npos) found = element.FindAtEnd();
    ended_ = found != std::string_view::npos || line_end != std::string_view::npos;
    text = seen.substr(0, std::min(found, line_end));
    if (ended_) break;
    searched = seen.size();
    if (searched >= kLineBytesMax) {
      text = seen.substr(0, std::min(element.FindAtEnd(), kLineBytesMax));
      if (text.size() == kLineBytesMax) cut_ = Cut::kLine;
      break;
    }
    const auto filled = Fill();
    if (!filled) return Fail(filled.error());
    if (*filled) continue;
    text = {buffer_.data() + at_, std::min(element.FindAtEnd(), end_ - at_)};
    break;
  }
  at_ += text.size();
  if (text.find(']') != std::string_view::npos) open_arrays_ = 0;  // which one it closes isn't known
  // What belongs to the array between the elements.
  if (at_ < end_ && buffer_[at_] == '{') text = text.substr(0, text.find_last_not_of(" \t,[") + 1);
  return true;
}

/// Drops what is left of a text that was cut.
Status LineReader::SkipRestOfText() {
  while (true) {
    if (cut_ == Cut::kLine) {
      const std::string_view seen(buffer_.data() + at_, end_ - at_);
      const size_t found = seen.find_first_of("\r\n");
      at_ += std::min(found, seen.size());
      if (found != std::string_view::npos) break;
    } else {
      const Found found = Advance(scan_);
      at_ += std::exchange(scan_.bytes, 0);
      line_ += std::exchange(scan_.lines, 0);
      if (found == Found::kEnd) break;
    }
    const auto filled = Fill();
    if (!filled) return Fail(filled.error());
    if (!*filled && at_ == end_) break;
  }
  cut_ = Cut::kNothing;
  return {};
}

Error LineReader::PackedPart() const {
  const std::string& path = stream_.path();
  if (!stream_.packing().empty() || path == "-") {
    return {Code::kMalformed,
            fmt::format("{}: a packed part begins behind plain lines. Remedy: unpack it first", path)};
  }
  const uint64_t plain = stream_.position() - (end_ - at_);
  const std::string file = ShellQuoted(path);
  return {Code::kMalformed,
          fmt::format("{}: a packed part begins behind {} bytes of plain lines. Send it separately: "
                      "tail -c +{} {} | seenctl replay -",
                      path, plain, plain + 1, file)};
}

}  // namespace seen
