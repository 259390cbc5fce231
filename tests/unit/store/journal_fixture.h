#pragma once
// Rows of a journal as plain values.

#include <tuple>

#include "flow/partition_options.h"
#include "store_fixture.h"

namespace seen::test {

struct Row {
  UserKey user;
  JournalPlace place;
  std::string value;
  friend bool operator==(const Row&, const Row&) = default;
};

inline TimeMs TimeOn(Day day, int64_t ms) { return {StartOf(day).value + ms}; }

struct JournalCheckpoint {
  Checkpoint state;
  Day keep_from{std::numeric_limits<int32_t>::min()};
  std::map<UserKey, Day> erased;
  std::vector<Row> rows;
};

inline Status Write(CheckpointWriter& writer, const JournalCheckpoint& checkpoint) {
  if (Status kept = writer.KeepRowsFrom(checkpoint.keep_from, checkpoint.keep_from); !kept) return kept;
  for (const auto& [user, delta] : checkpoint.state.deltas) {
    if (Status added = writer.AddDelta(user, Encoded(delta)); !added) return added;
  }
  std::vector<Row> rows = checkpoint.rows;
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.user != b.user ? a.user < b.user : a.place.IsBefore(b.place);
  });
  auto erased = checkpoint.erased.begin();
  const auto erase_up_to = [&](const UserKey* user) -> Status {
    for (; erased != checkpoint.erased.end() && (!user || erased->first <= *user); ++erased) {
      if (Status done = writer.EraseRows(erased->first, erased->second); !done) return done;
    }
    return {};
  };
  for (const Row& row : rows) {
    if (Status done = erase_up_to(&row.user); !done) return done;
    if (Status added = writer.AddRow(row.user, row.place, row.value); !added) return added;
  }
  return erase_up_to(nullptr);
}

inline Status Commit(PartitionStore& store, const JournalCheckpoint& checkpoint) {
  auto writer = store.BeginCheckpoint(checkpoint.state.position);
  if (!writer) return Fail(writer.error());
  if (Status written = Write(**writer, checkpoint); !written) return written;
  return (*writer)->Commit();
}

inline std::vector<Row> RowsOf(const PartitionStore& store, const UserKey& user,
                               const std::optional<JournalPlace>& after = std::nullopt,
                               Day from = {std::numeric_limits<int32_t>::min()}) {
  std::vector<Row> rows;
  const Status read =
      store.ReadRows(user, from, after, [&](const JournalPlace& place, std::string_view value) {
        rows.push_back({user, place, std::string(value)});
        return true;
      });
  EXPECT_TRUE(read) << read.error().message;
  return rows;
}

class JournalTest : public StoreTest {
 protected:
  StoreOptions Options() {
    StoreOptions options = StoreTest::Options();
    options.journal = true;
    return options;
  }
  std::unique_ptr<RocksPartitionStore> Open() { return StoreTest::Open(Options()); }
};

}  // namespace seen::test
