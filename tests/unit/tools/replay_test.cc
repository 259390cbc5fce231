#include <gtest/gtest.h>
#include <sys/stat.h>

#include <deque>
#include <set>

#include "scratch_folder.h"
#include "tools/load/random.h"
#include "tools/replay/replay_progress.h"
#include "tools/replay/replay_source.h"

namespace seen {
namespace {

TEST(ReplayPosition, ComesBackAsItWasWritten) {
  const ScratchFolder folder;
  const std::string path = folder.Path("progress");
  const auto none = ReadReplayPosition(path);
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
  for (const bool finished : {false, true}) {
    const ReplayPosition position{.source = "a \"quoted\" file.gz",
                                  .source_bytes = 123,
                                  .target = "exposures",
                                  .done = uint64_t{1} << 40,
                                  .sent = 17,
                                  .rejected = 2,
                                  .offsets = "0:5,1:7",
                                  .finished = finished};
    ASSERT_TRUE(WriteReplayPosition(path, position));
    const auto read = ReadReplayPosition(path);
    ASSERT_TRUE(read && *read);
    EXPECT_EQ(**read, position);
  }
  EXPECT_FALSE(std::filesystem::exists(path + ".new")) << "nothing is left beside it";
}

TEST(ReplayPosition, KeepsTheOldFileWhereTheNewOneCantBeWritten) {
  const ScratchFolder folder;
  const std::string path = folder.Path("progress");
  ASSERT_TRUE(WriteReplayPosition(path, {.source = "old", .target = {}, .offsets = {}}));
  ASSERT_TRUE(std::filesystem::create_directory(path + ".new"));  // in the way of the temporary file
  const auto written = WriteReplayPosition(path, {.source = "new", .target = {}, .offsets = {}});
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find(path), std::string::npos);
  EXPECT_EQ((*ReadReplayPosition(path))->source, "old");
}

TEST(ReplayPosition, RefusesAFileThatIsNotOne) {
  const ScratchFolder folder;
  for (const char* bytes : {"", "{", "[]", R"({"source":"x"})", R"({"source":1})"}) {
    const auto read = ReadReplayPosition(folder.Write("progress", bytes));
    ASSERT_FALSE(read) << bytes;
    EXPECT_EQ(read.error().code, Code::kMalformed);
    EXPECT_NE(read.error().message.find("delete it"), std::string::npos);
  }
}

TEST(ReplayPosition, OfAnotherReplayIsRefusedByName) {
  const ReplayPosition stored{.source = "a", .source_bytes = 5, .target = "t", .offsets = {}};
  EXPECT_TRUE(CheckSameReplay("p", stored, stored));
  const struct {
    ReplayPosition wanted;
    const char* field;
  } cases[] = {
      {{.source = "b", .source_bytes = 5, .target = "t", .offsets = {}}, "source was a and is now b"},
      {{.source = "a", .source_bytes = 6, .target = "t", .offsets = {}}, "source_bytes was 5 and is now 6"},
      {{.source = "a", .source_bytes = 5, .target = "u", .offsets = {}}, "target was t and is now u"},
  };
  for (const auto& c : cases) {
    const auto same = CheckSameReplay("p", stored, c.wanted);
    ASSERT_FALSE(same);
    EXPECT_EQ(same.error().code, Code::kRefused);
    EXPECT_NE(same.error().message.find(c.field), std::string::npos) << same.error().message;
  }
}

TEST(ContiguousProgress, CountsOnlyWhatIsFinishedWithoutAGap) {
  ContiguousProgress progress(10);
  EXPECT_EQ(progress.Begin(), 10u);
  EXPECT_EQ(progress.Begin(), 11u);
  EXPECT_EQ(progress.Begin(), 12u);
  progress.Finish(11);
  EXPECT_EQ(progress.done(), 10u);
  EXPECT_EQ(progress.outstanding(), 2u);
  progress.Finish(10);
  EXPECT_EQ(progress.done(), 12u);
  progress.Finish(12);
  EXPECT_EQ(progress.done(), 13u);
  EXPECT_EQ(progress.outstanding(), 0u);
}

TEST(ContiguousProgress, AgreesWithASetOverAMillionEntriesInAnyOrder) {
  ContiguousProgress progress(0);
  std::vector<uint64_t> open;
  std::set<uint64_t> unfinished;
  Random random(3);
  for (int i = 0; i < 1'000'000; ++i) {
    if (open.size() < 1000 && random.Below(2) == 0) {
      open.push_back(progress.Begin());
      unfinished.insert(open.back());
    } else if (!open.empty()) {
      const size_t at = random.Below(static_cast<uint32_t>(open.size()));
      progress.Finish(open[at]);
      unfinished.erase(open[at]);
      open[at] = open.back();
      open.pop_back();
    }
    if (i % 1000 == 0 && !unfinished.empty()) {
      ASSERT_EQ(progress.done(), *unfinished.begin());
    }
  }
  EXPECT_EQ(progress.outstanding(), open.size());
}

std::vector<std::string> Take(ReplaySource& source, size_t most, bool finish) {
  std::vector<std::string> taken;
  const auto use = [&](const ReplayEntry& entry) -> Status {
    if (taken.size() == most) return Fail(Code::kUnavailable, "enough");
    taken.emplace_back(entry.bytes);
    if (finish) source.Finish(entry.ticket);
    return {};
  };
  while (true) {
    const auto more = source.Next(use);
    if (!more || !*more) return taken;
  }
}

TEST(FileSource, GoesOnBehindWhatWasFinishedOverSeveralFiles) {
  const ScratchFolder folder;
  std::string first, second;
  for (int i = 0; i < 700; ++i) first += "a" + std::to_string(i) + "\n";
  for (int i = 0; i < 700; ++i) second += "b" + std::to_string(i) + "\n";
  const std::vector<std::string> paths = {folder.Write("first", first), folder.Write("second", second)};

  auto source = MakeFileSource(paths, nullptr);
  ASSERT_TRUE(source);
  EXPECT_EQ(Take(**source, 900, true).size(), 900u);
  ReplayPosition position;
  (*source)->Describe(position);
  EXPECT_EQ(position.done, 900u);

  auto rest = MakeFileSource(paths, &position);
  ASSERT_TRUE(rest);
  const auto taken = Take(**rest, 10'000, true);
  ASSERT_EQ(taken.size(), 500u);
  EXPECT_EQ(taken.front(), "b200");
  EXPECT_EQ(taken.back(), "b699");
  ReplayPosition end;
  (*rest)->Describe(end);
  EXPECT_EQ(end.done, 1400u);
  EXPECT_EQ((*rest)->Position(), (*rest)->Total());

  auto nothing = MakeFileSource(paths, &end);
  ASSERT_TRUE(nothing);
  EXPECT_TRUE(Take(**nothing, 10, true).empty());
}

TEST(FileSource, CountsNothingDoneThatWasNotFinished) {
  const ScratchFolder folder;
  auto source = MakeFileSource({folder.Write("file", "a\nb\nc\n")}, nullptr);
  ASSERT_TRUE(source);
  EXPECT_EQ(Take(**source, 10, false).size(), 3u);
  (*source)->Finish(1);  // acknowledged before the first
  ReplayPosition position;
  (*source)->Describe(position);
  EXPECT_EQ(position.done, 0u);
  (*source)->Finish(0);
  (*source)->Describe(position);
  EXPECT_EQ(position.done, 2u);
}

TEST(FileSource, NamesAFileThatIsMissing) {
  const auto source = MakeFileSource({"/nowhere/at/all.jsonl"}, nullptr);
  ASSERT_FALSE(source);
  EXPECT_NE(source.error().message.find("/nowhere/at/all.jsonl"), std::string::npos);
}

TEST(Offsets, ComeBackAsTheyWereWritten) {
  const std::map<int32_t, int64_t> offsets = {{0, 17}, {3, int64_t{1} << 40}};
  EXPECT_EQ(FormatOffsets(offsets), "0:17,3:1099511627776");
  EXPECT_EQ(ParseOffsets(FormatOffsets(offsets)).value(), offsets);
  EXPECT_TRUE(ParseOffsets("")->empty());
  for (const char* bad : {"x", "0", "0:", ":1", "0:1,", "0:1;1:2", "-1:5", "0:-5", "0:1,0:2", "0:1 "})
    EXPECT_FALSE(ParseOffsets(bad)) << bad;
}

}  // namespace
}  // namespace seen
