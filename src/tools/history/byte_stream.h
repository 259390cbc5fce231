#pragma once
// A file's bytes, decompressed. The first bytes of the file give the format, not its name.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace seen {

/// One thread.
class ByteStream {
 public:
  enum class Packing : uint8_t { kPlain, kGzip, kZstd };

  /// `path`: "-" is standard input. `stored_bytes_max`: bytes of the file after this limit are not read.
  /// kInvalidArgument: the file can't be opened, and the error says why. Or the format isn't read (Parquet,
  /// zip, ...), and the error has the command that converts the file.
  static Result<ByteStream> Open(const std::string& path, std::optional<uint64_t> stored_bytes_max = {});
  ByteStream(ByteStream&&) noexcept;
  ByteStream& operator=(ByteStream&&) noexcept;
  ~ByteStream();

  /// Fills `into` from its front. Returns the number of bytes; 0: the end. kMalformed: broken or cut off. All
  /// bytes before the defect were returned first.
  Result<size_t> Read(std::span<char> into);

  Packing packing() const;
  /// The reading position in the file, and the file's size at Open. Both count stored bytes. Size 0: unknown.
  uint64_t position() const;
  uint64_t size() const;

 private:
  struct Impl;
  explicit ByteStream(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Recognizes a format that isn't read, by the first `bytes` of the file. Returns the format's name and the
/// command that converts the file into lines for `seenctl replay -`. nullopt: the file may be readable.
struct ForeignFormat {
  std::string_view name;
  std::string command;
};
std::optional<ForeignFormat> ForeignFormatOf(std::string_view bytes, const std::string& path);

/// `text` as one word of a shell.
std::string ShellQuoted(std::string_view text);

}  // namespace seen
