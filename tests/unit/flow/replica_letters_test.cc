#include "flow/replica_letters.h"

#include <gtest/gtest.h>

#include <vector>

namespace seen {
namespace {

class LetterBox final : public DeadLetterSink {
 public:
  bool TrySend(const DeadLetter& letter) override {
    if (is_full) return false;
    offsets.push_back(letter.record->offset);
    values.emplace_back(letter.record->value);
    return true;
  }
  int64_t OldestUnacknowledged(int32_t) const override { return -1; }
  void Forget(int32_t) override { ++forgotten; }
  bool is_full = false;
  int forgotten = 0;
  std::vector<int64_t> offsets;
  std::vector<std::string> values;
};

class Owner final : public OutputsOwner {
 public:
  bool IsThisGroup() const override { return owns; }
  std::optional<Beat> LastBeat(int32_t) const override { return std::nullopt; }
  int64_t PublishedTo(int32_t) const override { return published_to; }
  bool owns = false;
  int64_t published_to = -1;
};

class ReplicaLettersTest : public testing::Test {
 protected:
  bool Send(int64_t offset, const std::string& value = "bad") {
    const Record record{offset, {1}, "key", value, false};
    return letters.TrySend({{}, 3, &record});
  }
  LetterBox box;
  Owner owner;
  ReplicaLetters letters{box, owner};
};

TEST_F(ReplicaLettersTest, AnOwnersGoOut) {
  owner.owns = true;
  EXPECT_TRUE(Send(5));
  box.is_full = true;
  EXPECT_FALSE(Send(6)) << "it is tried again";
  EXPECT_EQ(box.offsets, (std::vector<int64_t>{5}));
}

TEST_F(ReplicaLettersTest, APromotedReplicaSendsWhatTheOwnerHasNotComePast) {
  for (const int64_t offset : {5, 6, 7}) EXPECT_TRUE(Send(offset, "bad " + std::to_string(offset)));
  EXPECT_TRUE(box.offsets.empty());
  EXPECT_EQ(letters.OldestUnacknowledged(3), -1) << "a replica's checkpoints wait for none";
  owner.published_to = 7;
  EXPECT_TRUE(Send(8));
  EXPECT_TRUE(Send(7)) << "read again";
  owner.owns = true;
  box.is_full = true;
  EXPECT_EQ(letters.OldestUnacknowledged(3), 7) << "a checkpoint waits for it";
  EXPECT_FALSE(Send(9)) << "no letter overtakes it";
  box.is_full = false;
  EXPECT_EQ(letters.OldestUnacknowledged(3), -1);
  EXPECT_TRUE(Send(9));
  EXPECT_EQ(box.offsets, (std::vector<int64_t>{7, 8, 9}));
  EXPECT_EQ(box.values.front(), "bad 7");
}

TEST_F(ReplicaLettersTest, KeepsTheLastOnesWithinItsLimit) {
  const std::string large(1 << 20, 'x');
  for (int64_t offset = 0; offset < 10; ++offset) EXPECT_TRUE(Send(offset, large));
  owner.owns = true;
  EXPECT_EQ(letters.OldestUnacknowledged(3), -1);
  EXPECT_EQ(box.offsets, (std::vector<int64_t>{7, 8, 9}));
}

TEST_F(ReplicaLettersTest, ForgetsWhatIsNoLongerItsOwn) {
  EXPECT_TRUE(Send(5));
  letters.Forget(3);
  owner.owns = true;
  EXPECT_EQ(letters.OldestUnacknowledged(3), -1);
  EXPECT_TRUE(box.offsets.empty());
  EXPECT_EQ(box.forgotten, 1);
}

}  // namespace
}  // namespace seen
