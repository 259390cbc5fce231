#include "tools/history/history_file.h"

#include <fmt/format.h>

#include <filesystem>

namespace seen {
namespace {

constexpr size_t kLinesLookedAt = 20;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool IsBlank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

struct FirstLines {
  std::string_view first;  // the first line that isn't blank
  bool some_is_object = false;
};

/// Looks at several lines: a broken first line must not decide the format of a file of JSON lines.
FirstLines LookAt(std::string_view text) {
  FirstLines found;
  for (size_t i = 0; i < kLinesLookedAt && !text.empty(); ++i) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (IsBlank(line)) continue;
    if (found.first.empty()) found.first = line;
    found.some_is_object = found.some_is_object || line[line.find_first_not_of(" \t")] == '{';
  }
  return found;
}

}  // namespace

Result<HistoryReader> HistoryReader::Open(const HistoryFile& file, const EventFormat& format) {
  const std::optional<uint64_t> limit = file.name == "-" ? std::nullopt : std::optional(file.size);
  auto stream = ByteStream::Open(file.name, limit);
  if (!stream) return Fail(std::move(stream.error()));
  HistoryReader reader(file, LineReader(std::move(*stream)));
  if (auto found = reader.FindFormat(format); !found) return Fail(found.error());
  return reader;
}

Status HistoryReader::FindFormat(const EventFormat& format) {
  if (lines_.Ahead().starts_with(kByteOrderMark)) lines_.Skip(kByteOrderMark.size());
  const FirstLines found = LookAt(lines_.Ahead());
  if (found.some_is_object || found.first.empty()) return {};
  if (found.first[found.first.find_first_not_of(" \t")] == '[') {
    return Fail(
        Code::kInvalidArgument,
        fmt::format(
            "{}: a JSON array; expected one event a line. Convert it: jq -c '.[]' '{}' | seenctl replay -",
            file_.name, file_.name == "-" ? "FILE" : file_.name));
  }
  if (!RowTemplate::LooksLikeHeader(found.first)) return {};
  auto table = RowTemplate::Make(found.first, format);
  if (!table) return Fail(table.error().code, fmt::format("{}: {}", file_.name, table.error().message));
  table_ = std::move(*table);
  std::string_view line;
  do {
    const auto more = lines_.Next(line);
    if (!more) return Fail(more.error());
    if (!*more) return {};
  } while (IsBlank(line));
  return {};
}

uint64_t HistoryReader::GrownBy() const {
  if (file_.name == "-") return 0;
  std::error_code error;
  const auto size = std::filesystem::file_size(file_.name, error);
  return error || size <= file_.size ? 0 : size - file_.size;
}

Result<bool> HistoryReader::Next(HistoryLine& line) {
  while (true) {
    const auto more = lines_.Next(line.text);
    const bool ends_open =
        more && *more && !lines_.line_ended() && line.text.size() < LineReader::kLineBytesMax;
    const bool ends = !more || !*more || ends_open;
    if (const uint64_t grown = ends ? GrownBy() : 0; grown > 0) {
      // A last line without its end is still being written, and counts as part of the addition.
      bytes_not_read_ = grown + (ends_open ? line.text.size() : 0);
      return false;
    }
    if (!more) {
      return Fail(more.error().code, fmt::format("{}, after line {}", more.error().message, line_number()));
    }
    if (!*more) return false;
    if (!IsBlank(line.text)) break;
  }
  line.problem.clear();
  line.event = line.text;
  if (!table_) return true;
  if (const auto made = table_->ToJson(line.text, json_); !made) {
    line.problem = made.error();
    line.event = {};
  } else {
    line.event = json_;
  }
  return true;
}

}  // namespace seen
