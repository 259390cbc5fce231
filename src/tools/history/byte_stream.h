#pragma once
// A file's bytes, decompressed. The first bytes of the file say how it is packed, not its name.

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

  /// `path`: "-" is standard input. `stored_bytes_max`: what stands behind it in the file is not read.
  /// kInvalidArgument names the file and why it can't be opened; or a format that isn't read
  /// (Parquet, zip, ...), with the command that converts it.
  static Result<ByteStream> Open(const std::string& path, std::optional<uint64_t> stored_bytes_max = {});
  ByteStream(ByteStream&&) noexcept;
  ByteStream& operator=(ByteStream&&) noexcept;
  ~ByteStream();

  /// Fills `into` from its front; 0: the end. kMalformed: broken or cut off; all that came before was given.
  Result<size_t> Read(std::span<char> into);

  Packing packing() const;
  /// How far into the file reading has come, and its size at Open, both as stored; size 0: unknown.
  uint64_t position() const;
  uint64_t size() const;

 private:
  struct Impl;
  explicit ByteStream(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// What a file that begins with `bytes` is, if it isn't read: its name and the command that converts it into
/// lines that `seenctl replay -` takes. nullopt: it may be read.
struct ForeignFormat {
  std::string_view name;
  std::string command;
};
std::optional<ForeignFormat> ForeignFormatOf(std::string_view bytes, const std::string& path);

}  // namespace seen
