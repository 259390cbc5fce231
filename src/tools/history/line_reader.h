#pragma once
// The events' texts among a file's bytes.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tools/history/byte_stream.h"

namespace seen {

/// The texts of a file, or of standard input ("-"), each of which should be an event: the JSON objects, and
/// the lines that aren't objects. Objects may stand back to back, several on a line, in arrays, or on several
/// lines each. Between the objects of a line, each other element is a text, too. One thread.
class LineReader {
 public:
  static constexpr size_t kLineBytesMax = 64 * 1024 * 1024;

  explicit LineReader(ByteStream stream) : stream_(std::move(stream)) {}
  /// Errors: as ByteStream::Open.
  static Result<LineReader> Open(const std::string& path);

  /// The next text that isn't blank, without the end of its line, valid until the next call. The text is read
  /// as it comes: a line of many objects is never in memory as a whole. Lines end in LF, CRLF or CR. A text
  /// over kLineBytesMax is cut to its beginning. An object that ends too early, with its line or with the
  /// file, is a text, too. False: no more. Errors: as ByteStream::Read; kMalformed, too: a packed part begins
  /// behind plain lines, or the file ends within the array that began it. line_number() is then the line
  /// before.
  Result<bool> Next(std::string_view& text);

  /// Shows bytes that Next hasn't returned yet, and doesn't take them. They have at least the first line if
  /// that line is at most 256 KiB. A pipe may give less.
  std::string_view Ahead();
  /// Removes the first `bytes` of those that Ahead shows.
  void Skip(size_t bytes) { at_ += bytes; }

  /// Whether the last returned text had its end. The file's last line may have none, a cut text has none.
  bool ended() const { return ended_; }
  uint64_t line_number() const { return line_number_; }     // where the last returned text begins, from 1
  uint64_t position() const { return stream_.position(); }  // in stored (packed) bytes
  std::string_view packing() const { return stream_.packing(); }

 private:
  /// How far an object is read.
  struct Scan {
    size_t bytes = 0;
    uint64_t depth = 0;
    char last = '\0';  // the last character that isn't blank
    bool in_string = false;
    bool is_escaped = false;
    uint64_t lines = 0;              // the ends of lines within it
    uint64_t arrays = ~uint64_t{0};  // a bit for each level, the innermost last: not known to be an object
    bool is_broken = false;          // a quote is missing or too many: what follows is inside out
    size_t next_object = 0;          // if so, where the next object seems to begin; 0: not found
  };
  enum class Found : uint8_t { kEnd, kNeedsMore };

  Result<bool> Fill();
  Result<bool> FillBehind(size_t bytes);
  Result<bool> FindText();
  void Pass(size_t bytes);
  bool BeginsKey(size_t at) const;
  bool IsBehindObject(size_t at) const;
  bool TakeFlatObject(std::string_view& text);
  Result<bool> TakeObject(std::string_view& text);
  Result<bool> TakeLine(std::string_view& text);
  Status SkipRestOfText();
  Found Advance(Scan& scan) const;
  Error PackedPart() const;

  ByteStream stream_;
  uint64_t line_number_ = 0;
  uint64_t line_ = 1;  // of the byte at at_
  std::vector<char> buffer_;
  size_t at_ = 0;   // start of the text that has not been returned
  size_t end_ = 0;  // end of the text that was read
  bool at_end_ = false;
  std::optional<Error> failure_;  // of the stream, which ends there
  bool ended_ = true;
  uint64_t open_arrays_ = 0;  // that began before the first text, and those within
  bool gave_object_ = false;  // the line at at_
  enum class Cut : uint8_t { kNothing, kLine, kObject } cut_ = Cut::kNothing;  // what Next returned in part
  Scan scan_;                                                                  // of the object that was cut
};

}  // namespace seen
