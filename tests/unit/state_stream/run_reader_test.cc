#include <gtest/gtest.h>

#include <random>

#include "state_stream/part_reader.h"
#include "stream_fixture.h"

namespace seen::test {
namespace {

class RunReaderTest : public ::testing::Test {
 protected:
  void Send(const std::vector<std::string>& records) {
    topic_.records.insert(topic_.records.end(), records.begin(), records.end());
  }

  // Reads the whole topic with a reader that holds the state up to `held`. Returns the offset that it
  // reaches.
  int64_t ReadAll(int64_t held, int64_t epoch = kNoOffset) {
    HeldRows rows;
    rows.Apply(RowsBetween(0, held));
    RunReader reader(epoch, held);
    for (int64_t offset = 0; offset < topic_.end(); ++offset) {
      auto run = reader.Take(offset, topic_.records[static_cast<size_t>(offset)]);
      if (run && *run) rows.Apply((*run)->rows);
    }
    EXPECT_EQ(rows.Offsets(), OffsetsBelow(reader.held()));
    stale_parts_ = reader.stale_parts();
    unreadable_ = reader.unreadable();
    return reader.held();
  }

  StateTopic topic_;
  uint64_t stale_parts_ = 0;
  uint64_t unreadable_ = 0;
};

TEST_F(RunReaderTest, RunsThatFollowEachOtherCount) {
  const int64_t epoch = topic_.Open();
  Send(RunOf(epoch, 0, 0, 10));
  Send(RunOf(epoch, 1, 10, 30));
  Send(RunOf(epoch, 2, 30, 31));
  EXPECT_EQ(ReadAll(0), 31);
  EXPECT_EQ(ReadAll(5), 31);
  EXPECT_EQ(ReadAll(10), 31);
  EXPECT_EQ(ReadAll(31), 31);
  EXPECT_EQ(ReadAll(40), 40);
}

TEST_F(RunReaderTest, ARunThatLeavesAGapDoesNot) {
  const int64_t epoch = topic_.Open();
  Send(RunOf(epoch, 0, 5, 10));
  Send(RunOf(epoch, 2, 20, 30));
  EXPECT_EQ(ReadAll(0), 0);
  EXPECT_EQ(ReadAll(7), 10);
  EXPECT_EQ(ReadAll(25), 30);
}

TEST_F(RunReaderTest, WhatAFormerOwnerStillWritesDoesNot) {
  const int64_t former = topic_.Open();
  Send(RunOf(former, 0, 0, 10));
  const int64_t epoch = topic_.Open();
  Send(RunOf(former, 1, 10, 50));
  Send(RunOf(epoch, 0, 10, 20));
  EXPECT_EQ(ReadAll(0), 20);
  EXPECT_GT(stale_parts_, 0u);
}

TEST_F(RunReaderTest, ARunThatAnOpeningInterruptsDoesNot) {
  const int64_t former = topic_.Open();
  const auto parts = RunOf(former, 0, 0, 2000, 100);
  ASSERT_GE(parts.size(), 3u);
  Send({parts[0], parts[1]});
  topic_.Open();
  Send({parts.begin() + 2, parts.end()});
  EXPECT_EQ(ReadAll(0), 0);
}

TEST_F(RunReaderTest, ARunThatBrokeOffDoesNotSpoilTheNext) {
  const int64_t epoch = topic_.Open();
  const auto parts = RunOf(epoch, 0, 0, 2000, 100);
  Send({parts[0], parts[1]});
  Send(RunOf(epoch, 1, 0, 10));
  EXPECT_EQ(ReadAll(0), 10);
}

TEST_F(RunReaderTest, BasesBetweenThePartsOfARunDoNotDisturbIt) {
  const int64_t epoch = topic_.Open();
  const auto parts = RunOf(epoch, 1, 0, 2000, 100);
  StatePart base = RunHead(epoch, 0, 5, 5);
  base.kind = StreamKind::kBase;
  for (const std::string& part : parts) {
    Send({part});
    Send(RecordsOf(base, RowsBetween(0, 5)));
  }
  EXPECT_EQ(ReadAll(0), 2000);
}

TEST_F(RunReaderTest, WhatCanNotBeReadIsCountedAndTheRestGoesOn) {
  const int64_t epoch = topic_.Open();
  Send({"no record of ours"});
  auto damaged = RunOf(epoch, 0, 0, 10);
  damaged[0].back() = static_cast<char>(damaged[0].back() ^ 1);
  Send(damaged);
  Send(RunOf(epoch, 1, 0, 20));
  EXPECT_EQ(ReadAll(0), 20);
  EXPECT_EQ(unreadable_, 2u);
}

TEST_F(RunReaderTest, NothingCountsBeforeTheEpochIsKnown) {
  Send({"an opening that the reader doesn't take"});
  Send(RunOf(0, 0, 0, 10));
  EXPECT_EQ(ReadAll(0), 0);
  EXPECT_EQ(ReadAll(0, 0), 10);
}

// Owners come and go, and former owners go on writing. Their runs hold a record that the input never had. So
// the rows show whether a reader took such a run.
TEST_F(RunReaderTest, NoOrderOfOwnersMakesAReaderTakeAFormerOnesRun) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    topic_.records.clear();
    std::mt19937_64 random(seed);
    struct Owner {
      int64_t epoch;
      int64_t position;
      uint32_t number = 0;
      std::vector<std::string> unsent = {};
    };
    std::vector<Owner> owners = {{topic_.Open(), 0}};
    for (int step = 0; step < 60; ++step) {
      const size_t which = random() % owners.size();
      Owner& owner = random() % 2 == 0 ? owners.back() : owners[which];
      const bool is_former = &owner != &owners.back();
      if (random() % 10 == 0) {
        // A new owner holds what it has read from the input. The runs may end elsewhere.
        owners.push_back({topic_.Open(), static_cast<int64_t>(random() % 40)});
        continue;
      }
      if (owner.unsent.empty()) {
        const int64_t from = owner.position;
        const int64_t to = from + static_cast<int64_t>(random() % 10);
        RowBatch rows = RowsBetween(from, to);
        if (is_former) rows.Add({RowOp::kMerge, "\x10\xff", DeltaOf(1'000'000, "nobody")});
        owner.unsent = RecordsOf(RunHead(owner.epoch, owner.number++, from, to), rows, 100);
        if (!is_former || random() % 2 == 0) owner.position = to;
        if (!is_former && random() % 10 == 0) owner.unsent.pop_back();  // the run's last record was dropped
      }
      if (owner.unsent.empty()) continue;
      Send({owner.unsent.front()});
      owner.unsent.erase(owner.unsent.begin());
    }
    ReadAll(static_cast<int64_t>(random() % 20));
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

}  // namespace
}  // namespace seen::test
