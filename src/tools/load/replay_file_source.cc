#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tools/load/line_reader.h"
#include "tools/load/replay_source.h"

namespace seen {
namespace {

constexpr int kLinesAtOnce = 256;

uint64_t SizeOf(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  return error ? 0 : static_cast<uint64_t>(size);
}

class FileSource final : public ReplaySource {
 public:
  FileSource(std::vector<std::string> paths, uint64_t skip)
      : paths_(std::move(paths)), skip_(skip), finished_(skip) {
    for (const std::string& path : paths_) total_bytes_ += SizeOf(path);
  }

  Status OpenNext() {
    if (reader_) bytes_before_ += reader_->size();
    auto reader = LineReader::Open(paths_[next_path_]);
    if (!reader) return Fail(reader.error());
    reader_ = std::move(*reader);
    ++next_path_;
    return {};
  }

  Result<bool> Next(const Use& use) override {
    for (int i = 0; i < kLinesAtOnce; ++i) {
      std::string_view line;
      auto more = reader_->Next(line);
      if (!more) return Fail(more.error());
      if (!*more) {
        if (next_path_ == paths_.size()) return false;
        if (auto opened = OpenNext(); !opened) return Fail(opened.error());
        continue;
      }
      if (skip_ > 0) {  // done by an earlier run
        --skip_;
        continue;
      }
      if (auto used = use({.ticket = finished_.Begin(), .bytes = line}); !used) return Fail(used.error());
    }
    return true;
  }

  void Finish(uint64_t ticket) override { finished_.Finish(ticket); }

  void Describe(ReplayPosition& position) const override {
    position.source = fmt::format("{}", fmt::join(paths_, " "));
    position.source_bytes = total_bytes_;
    position.done = finished_.done();
  }

  std::string Where(const ReplayEntry&) const override {
    return nlohmann::ordered_json{{"file", paths_[next_path_ - 1]}, {"line", reader_->line_number()}}.dump();
  }

  uint64_t Position() const override { return bytes_before_ + reader_->position(); }
  uint64_t Total() const override { return total_bytes_; }
  std::string_view Unit() const override { return "bytes"; }

 private:
  std::vector<std::string> paths_;
  size_t next_path_ = 0;
  std::optional<LineReader> reader_;
  uint64_t skip_;
  uint64_t bytes_before_ = 0;  // of the files that are through
  uint64_t total_bytes_ = 0;
  ContiguousProgress finished_;
};

}  // namespace

Result<std::unique_ptr<ReplaySource>> MakeFileSource(std::vector<std::string> paths,
                                                     const ReplayPosition* resume) {
  for (const std::string& path : paths) {  // not after an hour of replaying the first ones
    if (path == "-") continue;
    if (const auto reader = LineReader::Open(path); !reader) return Fail(reader.error());
  }
  auto source = std::make_unique<FileSource>(std::move(paths), resume != nullptr ? resume->done : 0);
  if (auto opened = source->OpenNext(); !opened) return Fail(opened.error());
  return source;
}

}  // namespace seen
