#include "tools/history/foreign_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>

#include "base/text.h"

namespace seen {
namespace {

using namespace std::string_view_literals;

struct KnownFormat {
  std::string_view name;
  size_t at;
  std::string_view magic;
  std::string_view command;  // {}: place of the file's name
  std::string_view filter;   // the same for standard input; empty: the program needs a file
};

// A longer magic stands before its own beginning.
constexpr KnownFormat kFormats[] = {
    {"a Parquet file", 0, "PAR1"sv, "seen-history {}", ""},
    {"an encrypted Parquet file", 0, "PARE"sv, "seen-history {}", ""},
    {"an ORC file", 0, "ORC"sv, "seen-history {}", ""},
    {"an Avro file", 0, "Obj\x01"sv, "seen-history {}", ""},
    {"an Excel file", 0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv, "seen-history {}", ""},
    {"an Excel file", 30, "[Content_Types].xml"sv, "seen-history {}", ""},
    {"an Excel file", 30, "_rels/.rels"sv, "seen-history {}", ""},
    {"an Excel file", 30, "xl/"sv, "seen-history {}", ""},
    {"an Excel file", 30, "docProps/"sv, "seen-history {}", ""},
    {"a zip", 0, "PK\x03\x04"sv, "unzip -p {}", ""},
    {"an empty zip", 0, "PK\x05\x06"sv, "unzip -p {}", ""},
    {"a zip of several parts", 0, "PK\x07\x08"sv, "unzip -p {}", ""},
    {"a tar", 257, "ustar"sv, "tar -xOf {}", "tar -xOf -"},
    {"a 7z archive", 0, "7z\xbc\xaf\x27\x1c"sv, "7z x -so {}", ""},
    {"a rar archive", 0, "Rar!\x1a\x07"sv, "unrar p -inul {}", ""},
    {"a cpio archive", 0, "070701"sv, "cpio -i --to-stdout < {}", "cpio -i --to-stdout"},
    {"a cpio archive", 0, "070707"sv, "cpio -i --to-stdout < {}", "cpio -i --to-stdout"},
    {"an ar archive", 0, "!<arch>\n"sv, "ar p {}", ""},
    {"a .Z file (compress)", 0, "\x1f\x9d"sv, "gzip -dc {}", "gzip -dc"},
    {"a .z file (pack)", 0, "\x1f\x1e"sv, "gzip -dc {}", "gzip -dc"},
    {"a .z file (lzh)", 0, "\x1f\xa0"sv, "gzip -dc {}", "gzip -dc"},
    {"bzip2", 0, "BZh"sv, "bzip2 -dc {}", "bzip2 -dc"},
    {"xz", 0,
     "\xfd"
     "7zXZ"sv,
     "xz -dc {}", "xz -dc"},
    {"lzma", 0, "\x5d\0\0"sv, "xz -dc --format=lzma {}", "xz -dc --format=lzma"},
    {"lzip", 0, "LZIP"sv, "lzip -dc {}", "lzip -dc"},
    {"lz4", 0, "\x04\x22\x4d\x18"sv, "lz4 -dc {}", "lz4 -dc"},
    {"lz4", 0, "\x02\x21\x4c\x18"sv, "lz4 -dc {}", "lz4 -dc"},
    {"lzo", 0, "\x89LZO\0\r\n\x1a\n"sv, "lzop -dc {}", "lzop -dc"},
    {"snappy", 0, "\xff\x06\0\0sNaPpY"sv, "snzip -dc {}", "snzip -dc"},
    {"snappy", 0, "\x82SNAPPY\0"sv, "snzip -dc -t snappy-java {}", "snzip -dc -t snappy-java"},
    {"UTF-32 text", 0, "\xff\xfe\0\0"sv, "iconv -f UTF-32 -t UTF-8 {}", "iconv -f UTF-32 -t UTF-8"},
    {"UTF-32 text", 0, "\0\0\xfe\xff"sv, "iconv -f UTF-32 -t UTF-8 {}", "iconv -f UTF-32 -t UTF-8"},
    {"UTF-16 text", 0, "\xff\xfe"sv, "iconv -f UTF-16 -t UTF-8 {}", "iconv -f UTF-16 -t UTF-8"},
    {"UTF-16 text", 0, "\xfe\xff"sv, "iconv -f UTF-16 -t UTF-8 {}", "iconv -f UTF-16 -t UTF-8"},
};
// Marks that the table's columns can't describe.
constexpr KnownFormat kOldTar{"a tar", 0, "", "tar -xOf {}", "tar -xOf -"};
constexpr KnownFormat kHadoopSnappy{"snappy of Hadoop", 0, "", "snzip -dc -t hadoop-snappy {}",
                                    "snzip -dc -t hadoop-snappy"};
constexpr KnownFormat kUtf16Le{"UTF-16 text", 0, "", "iconv -f UTF-16LE -t UTF-8 {}",
                               "iconv -f UTF-16LE -t UTF-8"};
constexpr KnownFormat kUtf16Be{"UTF-16 text", 0, "", "iconv -f UTF-16BE -t UTF-8 {}",
                               "iconv -f UTF-16BE -t UTF-8"};
constexpr KnownFormat kUtf32Le{"UTF-32 text", 0, "", "iconv -f UTF-32LE -t UTF-8 {}",
                               "iconv -f UTF-32LE -t UTF-8"};
constexpr KnownFormat kUtf32Be{"UTF-32 text", 0, "", "iconv -f UTF-32BE -t UTF-8 {}",
                               "iconv -f UTF-32BE -t UTF-8"};
constexpr KnownFormat kGbk{"GBK text", 0, "", "iconv -f GB18030 -t UTF-8 {}", "iconv -f GB18030 -t UTF-8"};
constexpr KnownFormat kLatin1{"Latin-1 text", 0, "", "iconv -f WINDOWS-1252 -t UTF-8 {}",
                              "iconv -f WINDOWS-1252 -t UTF-8"};
constexpr KnownFormat kPackedTwice{"a packed file", 0, "", "", ""};  // one layer less, and replay reads it
constexpr KnownFormat kUnknown{"binary data of an unknown form", 0, "", "", ""};

bool HasMagic(std::string_view bytes, const KnownFormat& format) {
  return bytes.size() >= format.at && bytes.substr(format.at).starts_with(format.magic) &&
         (format.at != 30 || bytes.starts_with("PK\x03\x04"));
}

/// The header of a tar has its own sum, with spaces in place of the sum. Source: POSIX.1, "ustar"; older tars
/// have no other mark.
bool IsOldTar(std::string_view bytes) {
  if (bytes.size() < kFormatBytes) return false;
  std::string_view octal = bytes.substr(148, 8);
  while (octal.starts_with(' ')) octal.remove_prefix(1);
  unsigned stored = 0;
  if (std::from_chars(octal.data(), octal.data() + octal.size(), stored, 8).ec != std::errc()) return false;
  unsigned sum = 8 * ' ';
  for (size_t i = 0; i < kFormatBytes; ++i) {
    if (i < 148 || i >= 156) sum += static_cast<unsigned char>(bytes[i]);
  }
  return stored == sum;
}

/// Text without a mark of byte order begins with ASCII, so the zeros show the encoding.
const KnownFormat* WideTextOf(std::string_view bytes) {
  if (bytes.size() < 8) return nullptr;
  std::string zeros;
  for (const char byte : bytes.substr(0, 8)) zeros += byte == '\0' ? '0' : 'x';
  if (zeros == "x0x0x0x0") return &kUtf16Le;
  if (zeros == "0x0x0x0x") return &kUtf16Be;
  if (zeros == "x000x000") return &kUtf32Le;
  if (zeros == "000x000x") return &kUtf32Be;
  return nullptr;
}

/// Each block begins with its length unpacked, then the length packed, both of four bytes.
bool IsHadoopSnappy(std::string_view bytes) {
  if (bytes.size() < 16) return false;
  const auto number = [&](size_t at) {
    uint32_t value = 0;
    for (const char byte : bytes.substr(at, 4)) value = value << 8 | static_cast<unsigned char>(byte);
    return value;
  };
  uint32_t unpacked = 0;  // of the first part, as snappy itself begins
  for (size_t i = 0; i < 5; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[8 + i]);
    unpacked |= static_cast<uint32_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) break;
  }
  return number(0) > 0 && number(4) > 0 && unpacked > 0 && unpacked <= number(0) && number(4) < 1u << 28;
}

/// Whether a line has a character that no text has.
bool IsBinary(std::string_view line) {
  return std::any_of(line.begin(), line.end(), [](char letter) {
    return static_cast<unsigned char>(letter) < 0x20 &&
           ("\t\n\r\f\v\b\x1b\x1e"sv.find(letter) == std::string_view::npos);
  });
}

/// Whether a line begins as JSON does. Zeros may stand before it: a crash leaves them in a file.
bool SomeLineIsJson(std::string_view bytes) {
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
  while (!bytes.empty()) {
    const size_t begin = bytes.find_first_not_of(" \t\x1e\0"sv);
    if (begin == std::string_view::npos) return false;
    if (bytes[begin] == '{' || bytes[begin] == '[') return true;
    bytes.remove_prefix(std::min(bytes.find_first_of("\r\n", begin), bytes.size() - 1) + 1);
  }
  return false;
}

const KnownFormat* FormatOf(std::string_view bytes) {
  const auto* const known = std::find_if(std::begin(kFormats), std::end(kFormats),
                                         [&](const KnownFormat& format) { return HasMagic(bytes, format); });
  if (known != std::end(kFormats)) return known;
  if (IsOldTar(bytes)) return &kOldTar;
  if (const KnownFormat* wide = WideTextOf(bytes)) return wide;
  if (!IsBinary(bytes.substr(0, bytes.find('\n')))) return nullptr;
  if (IsHadoopSnappy(bytes)) return &kHadoopSnappy;
  return SomeLineIsJson(bytes) ? nullptr : &kUnknown;
}

ForeignFormat Described(const KnownFormat& format, const std::string& path, std::string_view packing) {
  const std::string file = path == "-" ? "FILE" : ShellQuoted(path);
  const std::string unpacks = packing.empty()     ? ""
                              : packing == "zlib" ? "pigz -dc < " + file
                                                  : fmt::format("{} -dc {}", packing, file);
  ForeignFormat found{std::string(format.name), {}};
  if (!packing.empty()) found.name += fmt::format(" in a {}", packing);
  if (&format == &kPackedTwice) {
    found.command = unpacks;
  } else if (packing.empty()) {
    found.command = fmt::format(fmt::runtime(format.command), file);
  } else if (packing == "gzip" && format.name == "a tar") {
    found.command = "tar -xzOf " + file;
  } else if (!format.filter.empty()) {
    found.command = fmt::format("{} | {}", unpacks, format.filter);
  } else if (!format.command.empty()) {
    found.command =
        fmt::format("{} > UNPACKED && {}", unpacks, fmt::format(fmt::runtime(format.command), "UNPACKED"));
  }
  return found;
}

}  // namespace

bool IsPacked(std::string_view bytes) {
  return bytes.starts_with("\x1f\x8b\x08") || bytes.starts_with("\x28\xb5\x2f\xfd");
}

std::optional<ForeignFormat> ForeignFormatOf(std::string_view bytes, const std::string& path,
                                             std::string_view packing) {
  if (!packing.empty() && IsPacked(bytes)) return Described(kPackedTwice, path, packing);
  const KnownFormat* const format = FormatOf(bytes);
  if (format == nullptr) return std::nullopt;
  return Described(*format, path, packing);
}

std::optional<ForeignFormat> ForeignEncodingOf(std::string_view text, const std::string& path,
                                               std::string_view packing) {
  size_t lines = 0, broken = 0, beyond_ascii = 0;  // lines; the last ones aren't ASCII, but UTF-8
  size_t runs = 0, pairs = 0;                      // of bytes beyond ASCII; pairs: of an even length
  while (!text.empty()) {
    const size_t end = text.find_first_of("\r\n");
    if (end == std::string_view::npos && lines > 0) break;  // its rest isn't here
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.empty()) continue;
    if (IsBinary(line)) break;  // such as a packed part behind the lines
    ++lines;
    if (std::all_of(line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }))
      continue;
    // A line whose end isn't here may end within a letter.
    if (IsUtf8(line) ||
        (end == std::string_view::npos && line.size() > 4 &&
         (IsUtf8(line.substr(0, line.size() - 1)) || IsUtf8(line.substr(0, line.size() - 2)) ||
          IsUtf8(line.substr(0, line.size() - 3))))) {
      ++beyond_ascii;
      continue;
    }
    ++broken;
    for (size_t i = 0; i < line.size();) {
      size_t length = 0;
      // The second byte of a pair may be a letter of ASCII, so a run ends only behind a whole pair.
      while (i + length < line.size() && static_cast<unsigned char>(line[i + length]) >= 0x80) ++length;
      if (length > 0) {
        ++runs;
        pairs += length % 2 == 0 ? 1 : 0;
      }
      i += std::max<size_t>(length, 1);
    }
  }
  if (broken < 3 || broken * 20 < lines || beyond_ascii * 10 > broken) return std::nullopt;
  return Described(pairs * 2 > runs ? kGbk : kLatin1, path, packing);
}

std::string ForeignText(const ForeignFormat& format, const std::string& path) {
  if (format.command.empty()) {
    return fmt::format("{}: {}. Remedy: unpack or convert the file, and pipe its lines into seenctl replay -",
                       path, format.name);
  }
  return fmt::format("{}: seenctl doesn't read {}. Use: {} | seenctl replay -", path, format.name,
                     format.command);
}

std::string ShellQuoted(std::string_view name) {
  const std::string text = (name.starts_with('-') ? "./" : "") + std::string(name);  // or it is an option
  if (!IsUtf8(text) || Printable(text) != text) {  // $'...' names bytes that no terminal may show
    std::string quoted = "$'";
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte < 0x20 || byte >= 0x7f) {
        quoted += fmt::format("\\{:03o}", byte);
      } else {
        quoted += c == '\'' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
      }
    }
    return quoted + "'";
  }
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace seen
