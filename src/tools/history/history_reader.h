#pragma once
// The events of one file of a history, whatever the file's format: JSON lines, CSV or TSV, plain or packed.

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
  std::string_view text;   // as it stands in the file
  std::string_view event;  // its JSON; of JSON lines the text itself
  std::string problem;     // not empty: the row can't be made an event
};

/// One thread.
class HistoryReader {
 public:
  /// Looks at the first lines for the format. kInvalidArgument: no such file, a format that isn't read, or a
  /// table that lacks columns.
  static Result<HistoryReader> Open(const HistoryFile& file, const EventFormat& format);

  /// The next line that isn't blank; valid until the next call. False: no more. kMalformed: the file is cut
  /// off or broken behind the line before.
  Result<bool> Next(HistoryLine& line);

  bool is_table() const { return table_.has_value(); }
  ByteStream::Packing packing() const { return lines_.packing(); }
  uint64_t line_number() const { return lines_.line_number(); }  // of the line last returned, from 1
  uint64_t position() const { return lines_.position(); }
  /// What stands in the file by now and isn't read, once Next returned false: the file has grown.
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
