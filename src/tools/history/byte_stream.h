#pragma once
// A file's bytes, decompressed. The first bytes of the file give the packing, not its name.

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
  enum class Packing : uint8_t { kPlain, kGzip, kZlib, kZstd };

  /// `path`: "-" is standard input. `stored_bytes_max`: bytes of the file after this limit are not read.
  /// kInvalidArgument: the file can't be opened, and the error says why. Or the format isn't read (a tar in a
  /// gzip, Parquet, ...), and the error has the command that converts the file.
  static Result<ByteStream> Open(const std::string& path, std::optional<uint64_t> stored_bytes_max = {});
  ByteStream(ByteStream&&) noexcept;
  ByteStream& operator=(ByteStream&&) noexcept;
  ~ByteStream();

  /// Fills `into` from its front. Returns the number of bytes; 0: the end. kMalformed: broken or cut off. All
  /// bytes before the defect were returned first.
  Result<size_t> Read(std::span<char> into);

  /// The reading position in the file, and the file's size at Open. Both count stored bytes. Size 0: unknown.
  uint64_t position() const;
  uint64_t size() const;
  std::string_view packing() const;  // "gzip", "zlib", "zstd", or empty
  const std::string& path() const;

 private:
  struct Impl;
  explicit ByteStream(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace seen
