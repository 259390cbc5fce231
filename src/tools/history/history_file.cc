#include "tools/history/history_file.h"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "model/hashes.h"
#include "tools/history/byte_stream.h"

namespace seen {
namespace {

namespace fs = std::filesystem;

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
                                                      "Remedy: cat '{0}' | seenctl replay -",
                                                      path.string()));
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

}  // namespace seen
