#pragma once
// Files whose lines seenctl can't read: archives, tables, other packings and other encodings. The first bytes
// of a file show its format.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace seen {

/// As many bytes show each format; a tar has its mark near the end of them.
inline constexpr size_t kFormatBytes = 512;

/// The command that makes lines for `seenctl replay -` of the file, and what the file is.
struct ForeignFormat {
  std::string name;
  std::string command;
};

/// `bytes`: the beginning of the file, or of what was packed in it. `packing`: "gzip", "zlib", "zstd", or
/// empty if `bytes` are the file's own. nullopt: the file may be readable. Pure.
std::optional<ForeignFormat> ForeignFormatOf(std::string_view bytes, const std::string& path,
                                             std::string_view packing = {});

/// The same for `text` in an encoding that isn't UTF-8, such as GBK or Latin-1. It looks at whole lines, and
/// one or two broken ones don't count.
std::optional<ForeignFormat> ForeignEncodingOf(std::string_view text, const std::string& path,
                                               std::string_view packing = {});

/// What to say about such a file.
std::string ForeignText(const ForeignFormat& format, const std::string& path);

/// Whether `bytes` begin with a gzip or a zstd frame.
bool IsPacked(std::string_view bytes);

/// The name of a file as one word of a shell.
std::string ShellQuoted(std::string_view name);

}  // namespace seen
