#include "tools/history/history_file.h"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "model/hashes.h"
#include "tools/history/foreign_format.h"

namespace seen {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLinesLookedAt = 20;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool IsBlank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

struct FirstLines {
  std::string_view first;     // the first line that isn't blank
  bool some_is_json = false;  // an object, or an array
};

/// Looks at several lines: a broken first line must not decide the format of a file of JSON lines.
FirstLines LookAt(std::string_view text) {
  FirstLines found;
  for (size_t i = 0; i < kLinesLookedAt && !text.empty(); ++i) {
    const size_t end = std::min(text.find_first_of("\r\n"), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (IsBlank(line)) continue;
    if (found.first.empty()) found.first = line;
    const char begin = line[line.find_first_not_of(" \t")];
    found.some_is_json = found.some_is_json || begin == '{' || begin == '[';
  }
  return found;
}

/// A header of CSV or TSV: isn't JSON, and has a separator.
bool LooksLikeHeader(std::string_view line) { return line.find_first_of("\t,;|") != std::string_view::npos; }

bool IsLeftOut(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with('.') || name.starts_with('_');
}

Error Unreadable(const fs::path& path, const std::error_code& error) {
  return {Code::kInvalidArgument, fmt::format("{}: {}", path.string(), error.message())};
}

class FileFinder {
 public:
  Status Add(const std::string& argument) {
    std::error_code error;
    if (fs::exists(argument, error)) return AddPath(argument);
    glob_t found{};
    const int outcome = glob(argument.c_str(), 0, nullptr, &found);
    Status added = outcome == 0 ? Status()
                                : Fail(Code::kInvalidArgument,
                                       fmt::format("{}: no such file, and no file matches it", argument));
    for (size_t i = 0; added && i < found.gl_pathc; ++i) added = AddPath(found.gl_pathv[i]);
    globfree(&found);
    return added;
  }
  const std::set<std::string>& names() const { return names_; }

 private:
  Status AddPath(const fs::path& path) {
    std::error_code error;
    if (!fs::is_directory(path, error)) return AddFile(path);
    files_found_ = 0;
    if (auto added = AddFolder(path); !added) return added;
    if (files_found_ > 0) return {};
    return Fail(
        Code::kInvalidArgument,
        fmt::format("{}: this folder has no file; names that begin with . or _ are left out", path.string()));
  }
  /// Follows links to folders, except links to a folder that contains them.
  Status AddFolder(const fs::path& path) {
    std::error_code error;
    const fs::path whole = fs::canonical(path, error);
    if (error) return Fail(Unreadable(path, error));
    for (fs::directory_iterator at(whole, error), end; !error && at != end; at.increment(error)) {
      if (IsLeftOut(at->path())) continue;
      std::error_code unknown;
      if (!at->is_directory(unknown)) {
        if (auto added = AddFile(at->path()); !added) return added;
      } else if (!at->is_symlink(unknown) || !LeadsBack(at->path(), whole)) {
        if (auto added = AddFolder(at->path()); !added) return added;
      }
    }
    if (error) return Fail(Unreadable(path, error));
    return {};
  }
  static bool LeadsBack(const fs::path& link, const fs::path& folder) {
    std::error_code error;
    const fs::path target = fs::canonical(link, error);
    return std::mismatch(target.begin(), target.end(), folder.begin(), folder.end()).first == target.end();
  }
  Status AddFile(const fs::path& path) {
    std::error_code error;
    const fs::file_status about = fs::status(path, error);
    if (error) return Fail(Unreadable(path, error));
    if (!fs::is_regular_file(about)) {
      return Fail(Code::kInvalidArgument, fmt::format("{0}: a pipe or device, which can't be read twice. "
                                                      "Remedy: cat {1} | seenctl replay -",
                                                      path.string(), ShellQuoted(path.string())));
    }
    const fs::path whole = fs::canonical(path, error);
    if (error) return Fail(Unreadable(path, error));
    names_.insert(whole.string());
    ++files_found_;
    return {};
  }
  size_t files_found_ = 0;  // in the folder that is being added
  std::set<std::string> names_;
};

}  // namespace

Result<uint64_t> FirstBlockHash(const std::string& name, uint64_t size) {
  std::ifstream file(name, std::ios::binary);
  std::string block(std::min<uint64_t>(size, kFirstBlockBytes), '\0');
  if (file) file.read(block.data(), static_cast<std::streamsize>(block.size()));
  if (!file)
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: its first {} bytes can't be read", name, block.size()));
  return RecordHash({}, block);
}

Result<std::vector<HistoryFile>> FindHistoryFiles(std::span<const std::string> arguments) {
  if (arguments.size() == 1 && arguments[0] == "-") return std::vector<HistoryFile>{{.name = "-"}};
  FileFinder finder;
  for (const std::string& argument : arguments) {
    if (argument == "-") {
      return Fail(Code::kInvalidArgument,
                  "-: standard input and files can't be mixed; send standard input separately");
    }
    if (auto added = finder.Add(argument); !added) return Fail(added.error());
  }
  std::vector<HistoryFile> files;
  for (const std::string& name : finder.names()) {
    const auto opened = ByteStream::Open(name);
    if (!opened) return Fail(opened.error());
    HistoryFile file{.name = name, .size = opened->size()};
    const auto hash = FirstBlockHash(name, file.size);
    if (!hash) return Fail(hash.error());
    file.first_block_hash = *hash;
    files.push_back(std::move(file));
  }
  return files;
}

Result<HistoryReader> HistoryReader::Open(const HistoryFile& file) {
  const std::optional<uint64_t> limit = file.name == "-" ? std::nullopt : std::optional(file.size);
  auto stream = ByteStream::Open(file.name, limit);
  if (!stream) return Fail(std::move(stream.error()));
  HistoryReader reader(file, LineReader(std::move(*stream)));
  if (auto checked = reader.CheckFormat(); !checked) return Fail(checked.error());
  return reader;
}

Status HistoryReader::CheckFormat() {
  if (lines_.Ahead().starts_with(kByteOrderMark)) lines_.Skip(kByteOrderMark.size());
  const auto foreign =
      file_.may_be_broken ? std::nullopt : ForeignEncodingOf(lines_.Ahead(), file_.name, lines_.packing());
  if (foreign) return Fail(Code::kInvalidArgument, ForeignText(*foreign, file_.name));
  const FirstLines found = LookAt(lines_.Ahead());
  if (found.some_is_json || !LooksLikeHeader(found.first)) return {};
  const bool ends_in_cr = lines_.Ahead().find('\r') < lines_.Ahead().find('\n') &&
                          lines_.Ahead().find("\r\n") == std::string_view::npos;
  return Fail(Code::kInvalidArgument,
              fmt::format("{}: seenctl doesn't read CSV and TSV{}. Use: seen-history {} | seenctl replay -",
                          file_.name, ends_in_cr ? ", and the lines end in CR" : "",
                          file_.name == "-" ? "FILE" : ShellQuoted(file_.name)));
}

uint64_t HistoryReader::GrownBy() const {
  if (file_.name == "-") return 0;
  std::error_code error;
  const auto size = std::filesystem::file_size(file_.name, error);
  return error || size <= file_.size ? 0 : size - file_.size;
}

Result<bool> HistoryReader::Next(std::string_view& text) {
  const auto more = lines_.Next(text);
  const bool ends_open = more && *more && !lines_.ended() && text.size() < LineReader::kLineBytesMax;
  const bool ends = !more || !*more || ends_open;
  if (const uint64_t grown = ends ? GrownBy() : 0; grown > 0) {
    // A last line without its end is still being written, and counts as part of the addition.
    bytes_not_read_ = grown + (ends_open ? text.size() : 0);
    return false;
  }
  if (more) return *more;
  return Fail(more.error().code, fmt::format("{}, after line {}", more.error().message, line_number()));
}

}  // namespace seen
