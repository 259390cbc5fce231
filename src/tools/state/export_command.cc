// export: writes what is stored about every user, as JSON lines.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include "model/journal_row.h"
#include "tools/commands.h"
#include "tools/common_options.h"
#include "tools/progress.h"
#include "tools/state/state_source.h"
#include "tools/state/user_line.h"

namespace seen {
namespace {

struct ExportOptions {
  std::string directory;
  std::string backups;
  std::optional<uint32_t> backup;
  std::string filter;  // empty: all
  std::string out;     // empty: standard output
  bool quiet = false;
};

/// Writes lines into a file, or to standard output.
class LineOutput {
 public:
  static Result<LineOutput> Open(const std::string& path) {
    std::FILE* const file = path.empty() ? stdout : std::fopen(path.c_str(), "wb");
    if (file == nullptr)
      return Fail(Code::kUnavailable, fmt::format("--out: {}: {}", path, std::strerror(errno)));
    return LineOutput(file, path.empty() ? "standard output" : path);
  }
  LineOutput(LineOutput&& other) noexcept
      : file_(std::exchange(other.file_, nullptr)), name_(std::move(other.name_)) {}
  LineOutput& operator=(LineOutput&&) = delete;
  ~LineOutput() {
    if (file_ != nullptr && file_ != stdout) std::fclose(file_);
  }

  Status Write(const std::string& line) {
    return std::fwrite(line.data(), 1, line.size(), file_) == line.size() ? Status() : Failed();
  }
  Status Finish() { return std::fflush(file_) == 0 ? Status() : Failed(); }

 private:
  LineOutput(std::FILE* file, std::string name) : file_(file), name_(std::move(name)) {}
  Status Failed() const {
    return Fail(Code::kUnavailable, fmt::format("--out: can't write {}: {}", name_, std::strerror(errno)));
  }
  std::FILE* file_;
  std::string name_;
};

/// The ids of the user's items, as far as the journal knows them.
Result<ItemIds> IdsOf(RestingRows& rows, const UserKey& user) {
  ItemIds ids;
  if (!rows.has_journal()) return ids;
  JournalRow row;
  bool decoded = true;
  const Status read = rows.ForEachJournalRow(user, [&](std::string_view value) {
    decoded = decoded && DecodeJournalRow(value, row);
    if (!decoded) return;
    for (const JournalItem& item : row.items)
      ids.try_emplace(FingerprintOf(item.item_id).value, item.item_id);
  });
  if (!read) return Fail(read.error());
  if (!decoded) return Fail(Code::kCorrupt, "a row of the journal can't be read");
  return ids;
}

Status ExportPartition(const ExportOptions& options, int32_t partition, RestingRows& rows, LineOutput& out,
                       Progress& progress, uint64_t& users) {
  const StoreDescriptor& descriptor = rows.descriptor();
  return rows.ForEachFrom(
      Table::kDeltas, View(KeyOf(Table::kDeltas, {})),
      [&](std::string_view key, std::string_view value) -> Status {
        const auto user = UserOf(Table::kDeltas, key);
        if (!user) return Fail(user.error());
        if (user->filter == kResolvingFilter) return {};
        if (user->filter.number() >= descriptor.filters.size())
          return Fail(Code::kCorrupt, "a set of a filter that the descriptor doesn't have");
        const std::string& filter = descriptor.filters[user->filter.number()].name;
        if (!options.filter.empty() && options.filter != filter) return {};
        auto delta = DecodeDelta(value);
        if (!delta) return Fail(delta.error());
        std::string user_id = delta->user_id;
        if (user_id.empty()) {
          auto marked = rows.MarkedIdOf(*user);
          if (!marked) return Fail(marked.error());
          user_id = std::move(*marked);
        }
        const auto ids = IdsOf(rows, user->user);
        if (!ids) return Fail(ids.error());
        progress.Update(++users);
        if (Interrupted()) return Fail(Code::kUnavailable, "interrupted: not all users are written");
        return out.Write(UserLine({partition, filter, user->user, user_id, *delta, *ids, descriptor.kinds}));
      });
}

int RunExport(const ExportOptions& options) {
  if (options.directory.empty() == options.backups.empty())
    return ExitWith({Code::kInvalidArgument, "export: give either --dir or --from"});
  if (options.backup && options.backups.empty())
    return ExitWith({Code::kInvalidArgument, "--backup: give --from, the directory of backups"});
  const auto source = options.directory.empty() ? StateSource::OfBackup(options.backups, options.backup)
                                                : StateSource::OfDirectory(options.directory);
  if (!source) return ExitWith(source.error());
  auto out = LineOutput::Open(options.out);
  if (!out) return ExitWith(out.error());
  CatchInterrupts();
  Progress progress("export", 0, "users", options.quiet ? Progress::Mode::kQuiet : Progress::Mode::kAuto);
  uint64_t users = 0;
  for (const int32_t partition : source->Partitions()) {
    auto rows = source->Open(partition);
    if (!rows && rows.error().code == Code::kNotFound) continue;  // a partition that was still being created
    if (!rows) return ExitWith(rows.error());
    const Status written = ExportPartition(options, partition, **rows, *out, progress, users);
    if (!written)
      return ExitWith(
          {written.error().code, fmt::format("partition {}: {}", partition, written.error().message)});
  }
  if (Status finished = out->Finish(); !finished) return ExitWith(finished.error());
  return kExitOk;
}

}  // namespace

Subcommand AddExport(CLI::App& root) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* app = root.add_subcommand("export", "what is stored of every user, as JSON lines");
  app->add_option("--dir", options->directory, "a stopped daemon's store.directory");
  app->add_option("--from", options->backups, "a directory of backups");
  app->add_option("--backup", options->backup, "with --from: the backup's number; default: the newest");
  app->add_option("--filter", options->filter, "only this filter; default: all filters");
  app->add_option("--out", options->out, "write to this file; default: standard output");
  app->add_flag("--quiet", options->quiet, "no progress");
  return {app, [options] { return RunExport(*options); }};
}

}  // namespace seen
