// Writes built state into the directory of a daemon that isn't running.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "bulk_load/write_state.h"
#include "store/store_directory.h"
#include "tools/common_options.h"
#include "tools/progress.h"
#include "tools/replay/state_destination.h"

namespace seen {
namespace {

uint64_t BytesOf(const std::string& folder) {
  uint64_t bytes = 0;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (at->is_regular_file(error)) bytes += at->file_size(error);
  }
  return bytes;
}

class DirectoryDestination final : public StateDestination {
 public:
  explicit DirectoryDestination(const DirectorySettings& settings) : settings_(settings) {}

  Status Prepare(int32_t) override {
    auto directory = StoreDirectory::Open(settings_.directory);
    if (!directory) return Fail(directory.error());
    directory_ = std::move(*directory);
    auto there = directory_->PartitionsWithState();
    if (!there) return Fail(there.error());
    there_ = std::move(*there);
    if (!there_.empty() && !settings_.replace) {
      return Fail(Code::kRefused,
                  fmt::format("--into-state: {}: this directory has the state of {} partitions. Name an "
                              "empty directory, or give --replace to drop that state",
                              settings_.directory, there_.size()));
    }
    std::error_code error;
    std::filesystem::create_directories(SortFolder(), error);
    if (error) return Fail(Code::kUnavailable, fmt::format("{}: {}", SortFolder(), error.message()));
    return {};
  }

  std::string SortFolder() const override {
    return StoreDirectory::IncomingPath(settings_.directory) + "/build";
  }

  Status Write(StateBuilder& builder, const std::vector<BuiltState>& states) override {
    // Removes all old state before anything is written: a directory must not mix two histories.
    for (const int32_t partition : there_) {
      if (Status removed = directory_->RemovePartition(partition); !removed) return removed;
    }
    const StoreResources resources(settings_.memory_bytes / 8, static_cast<int>(settings_.threads));
    Progress progress("write", states.size(), "partitions",
                      settings_.quiet ? Progress::Mode::kQuiet : Progress::Mode::kAuto);
    std::atomic<size_t> next{0};
    std::atomic<uint64_t> done{0};
    std::vector<Status> outcomes(settings_.threads);
    const auto work = [&](unsigned thread, bool draws) {
      while (outcomes[thread] && !Interrupted()) {
        const size_t at = next++;
        if (at >= states.size()) return;
        outcomes[thread] = WriteIntoDirectory(builder, states[at], settings_.directory, resources);
        ++done;
        if (draws) progress.Update(done);
      }
    };
    {
      std::vector<std::jthread> others;
      for (unsigned thread = 1; thread < settings_.threads; ++thread)
        others.emplace_back(work, thread, false);
      work(0, true);
    }
    for (Status& outcome : outcomes) {
      if (!outcome) return outcome;
    }
    if (Interrupted()) return Fail(Code::kUnavailable, "interrupted: not all partitions are written");
    progress.Update(done);
    progress.Finish();
    return {};
  }

  void Clear() override {
    std::error_code ignored;
    std::filesystem::remove_all(SortFolder(), ignored);
  }

  uint64_t StateBytes() const override { return BytesOf(settings_.directory); }

 private:
  const DirectorySettings settings_;
  std::unique_ptr<StoreDirectory> directory_;
  std::vector<int32_t> there_;
};

}  // namespace

std::unique_ptr<StateDestination> IntoDirectory(const DirectorySettings& settings) {
  return std::make_unique<DirectoryDestination>(settings);
}

}  // namespace seen
