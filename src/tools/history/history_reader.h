#pragma once
// The events of one file of a history in any format: JSON lines, CSV or TSV, plain or packed.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "decode/event_format.h"
#include "tools/history/history_file.h"
#include "tools/history/line_reader.h"
#include "tools/history/row_template.h"

namespace seen {

struct HistoryLine {
  std::string_view text;   // as in the file
  std::string_view event;  // its JSON; for JSON lines, the text itself
  std::string problem;     // not empty: why the row can't become an event
};

/// One thread.
class HistoryReader {
 public:
  /// Finds the format from the first lines. kInvalidArgument: no such file, a format that isn't read, or a
  /// table that lacks columns.
  static Result<HistoryReader> Open(const HistoryFile& file, const EventFormat& format);

  /// The next line that isn't blank, valid until the next call. False: no more lines. kMalformed: the file is
  /// cut off or broken after the last returned line.
  Result<bool> Next(HistoryLine& line);

  bool is_table() const { return table_.has_value(); }
  ByteStream::Packing packing() const { return lines_.packing(); }
  uint64_t line_number() const { return lines_.line_number(); }  // of the line last returned, from 1
  uint64_t position() const { return lines_.position(); }
  /// Call it after Next returned false: the number of bytes that were added to the file and are not read.
  uint64_t bytes_not_read() const { return bytes_not_read_; }

 private:
  HistoryReader(const HistoryFile& file, LineReader lines) : file_(file), lines_(std::move(lines)) {}
  Status FindFormat(const EventFormat& format);
  uint64_t GrownBy() const;

  HistoryFile file_;
  LineReader lines_;
  std::optional<RowTemplate> table_;
  std::string json_;
  uint64_t bytes_not_read_ = 0;
};

}  // namespace seen
