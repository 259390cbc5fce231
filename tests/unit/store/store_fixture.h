#pragma once
// A store directory in a temporary folder, with helpers to fill it.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/delta.h"
#include "store/rocks_partition_store.h"
#include "store/store_directory.h"

namespace seen::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string path = (std::filesystem::temp_directory_path() / "seen-store-XXXXXX").string();
    path_ = ::mkdtemp(path.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// The expected or actual contents of a store, as plain values.
struct Contents {
  std::optional<Position> position;
  std::map<UserRef, Delta> deltas;
  std::vector<UserRef> marks;
  friend bool operator==(const Contents&, const Contents&) = default;
};

inline const Day kDay{20'000};

inline UserRef User(uint64_t number, FilterId filter = 0) {
  return {filter, {number * 0x9e3779b97f4a7c15ull, number}};
}

inline Delta Exposures(Day day, std::vector<uint32_t> fingerprints, std::string user_id = "u") {
  Delta delta;
  delta.user_id = std::move(user_id);
  Segment segment;
  segment.day = day;
  segment.first_second = 10;
  segment.last_second = 20;
  for (const uint32_t value : fingerprints) segment.fingerprints.push_back({value});
  delta.segments.push_back(std::move(segment));
  return delta;
}

inline std::string Encoded(const Delta& delta) {
  std::string bytes;
  EncodeDelta(delta, bytes);
  return bytes;
}

/// Deltas and marks. Tests add them in any order, and they are written in the order of their keys.
struct Checkpoint {
  Position position;
  std::map<UserRef, Delta> deltas;
  std::map<UserRef, bool> marks;  // true: set
};

inline Checkpoint At(int64_t offset) {
  Checkpoint checkpoint;
  checkpoint.position.next_offset = offset;
  return checkpoint;
}

/// Writes a checkpoint, but doesn't commit it.
inline Result<std::unique_ptr<CheckpointWriter>> Prepare(PartitionStore& store,
                                                         const Checkpoint& checkpoint) {
  auto writer = store.BeginCheckpoint(checkpoint.position);
  if (!writer) return writer;
  for (const auto& [user, delta] : checkpoint.deltas) {
    if (Status added = (*writer)->AddDelta(user, Encoded(delta)); !added) return Fail(added.error());
  }
  for (const auto& [user, set] : checkpoint.marks) {
    const Status marked = set ? (*writer)->SetMark({user, {}}) : (*writer)->ClearMark(user);
    if (!marked) return Fail(marked.error());
  }
  return writer;
}

inline Status Commit(PartitionStore& store, const Checkpoint& checkpoint) {
  auto writer = Prepare(store, checkpoint);
  if (!writer) return Fail(writer.error());
  return (*writer)->Commit();
}

/// Reads the whole store. `users`: the users that may have a delta.
inline Contents Read(const PartitionStore& store, const std::vector<UserRef>& users) {
  Contents contents;
  const auto position = store.ReadPosition();
  EXPECT_TRUE(position.has_value()) << position.error().message;
  if (position) contents.position = *position;
  std::string bytes;
  for (const UserRef& user : users) {
    const auto found = store.ReadDelta(user, bytes);
    EXPECT_TRUE(found.has_value()) << found.error().message;
    if (!found || !*found) continue;
    const auto delta = DecodeDelta(bytes);
    EXPECT_TRUE(delta.has_value());
    if (delta) contents.deltas[user] = *delta;
  }
  const auto marks = store.ScanMarks(std::nullopt, 1'000'000);
  EXPECT_TRUE(marks.has_value());
  if (marks) {
    for (const Mark& mark : *marks) contents.marks.push_back(mark.user);
  }
  return contents;
}

class StoreTest : public ::testing::Test {
 protected:
  StoreOptions Options() {
    StoreOptions options{.directory = folder_.path(),
                         .identity = {"exposures", 3, 8, "murmur2"},
                         .filters = {{"home", 30, {}}, {"video", 7, {}}},
                         .resources = resources_};
    return options;
  }
  std::unique_ptr<RocksPartitionStore> Open(StoreOptions options) {
    auto store = RocksPartitionStore::Open(std::move(options));
    EXPECT_TRUE(store.has_value()) << store.error().message;
    return store ? std::move(*store) : nullptr;
  }
  std::unique_ptr<RocksPartitionStore> Open() { return Open(Options()); }

  const TemporaryFolder folder_;
  const StoreResources resources_{16 << 20, 1};
};

}  // namespace seen::test
