#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "scratch_folder.h"
#include "tools/load/random.h"
#include "tools/replay/history_source.h"
#include "tools/replay/manifest.h"
#include "tools/replay/rejects.h"

namespace seen {
namespace {

Manifest AManifest() {
  return {.run = "0123",
          .target = "exposures",
          .files = {{.name = "/a \"quoted\" file.gz",
                     .size = 123,
                     .first_block_hash = 0xfedcba9876543210,
                     .lines = {.sent = uint64_t{1} << 40, .rejected = 2, .skipped = 3},
                     .bytes_not_read = 7,
                     .state = ManifestFile::State::kDone,
                     .damage = {}},
                    {.name = "/b",
                     .size = 1,
                     .first_block_hash = 1,
                     .lines = {},
                     .state = ManifestFile::State::kDamaged,
                     .damage = "cut off"}},
          .topics = {{.name = "archive",
                      .range = "from its start to its end",
                      .next_offsets = {{0, 5}, {11, int64_t{1} << 40}},
                      .records = {.sent = 5, .rejected = 0, .skipped = 0},
                      .done = true,
                      .anchors = {{11, {int64_t{1} << 40, TimeMs{5}, 0xfedcba9876543210}}}}},
          .finished = true,
          .rules = "0123",
          .acknowledged = {{1, 2}},
          .by_rules = 3};
}

TEST(Manifest, ComesBackAsItWasWritten) {
  const ScratchFolder folder;
  const std::string path = folder.Path("progress");
  const auto none = ReadManifest(path);
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
  ASSERT_TRUE(WriteManifest(path, AManifest()));
  const auto read = ReadManifest(path);
  ASSERT_TRUE(read && *read);
  EXPECT_EQ(**read, AManifest());
  EXPECT_EQ((*read)->Counts().done(), (uint64_t{1} << 40) + 10);
  EXPECT_FALSE(std::filesystem::exists(path + ".tmp")) << "nothing is left beside it";
}

TEST(Manifest, KeepsTheOldFileWhereTheNewOneCantBeWritten) {
  const ScratchFolder folder;
  const std::string path = folder.Path("progress");
  ASSERT_TRUE(WriteManifest(path, AManifest()));
  ASSERT_TRUE(std::filesystem::create_directory(path + ".tmp"));  // blocks the temporary file
  const auto written = WriteManifest(path, {.run = "new", .target = {}, .files = {}, .topics = {}});
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find(path), std::string::npos);
  EXPECT_EQ((*ReadManifest(path))->run, AManifest().run);
}

TEST(Manifest, RefusesAFileThatIsNotOne) {
  const ScratchFolder folder;
  for (const char* bytes : {"", "{", "[]", R"({"source":"x"})", R"({"version":1})", R"({"version":2})"}) {
    const auto read = ReadManifest(folder.Write("progress", bytes));
    ASSERT_FALSE(read) << bytes;
    EXPECT_EQ(read.error().code, Code::kMalformed);
    EXPECT_NE(read.error().message.find("delete it"), std::string::npos);
  }
  for (const std::string& path : {folder.Path(""), std::string("/dev/full")}) {
    const auto read = ReadManifest(path);
    ASSERT_FALSE(read) << path;
    EXPECT_EQ(read.error().code, Code::kInvalidArgument);
    EXPECT_NE(read.error().message.find("not a file"), std::string::npos);
  }
}

TEST(LineOutcomes, CountOnlyWhatIsFinishedWithoutAGap) {
  LineOutcomes lines({.sent = 7, .rejected = 2, .skipped = 1});
  EXPECT_EQ(lines.Begin(), 10u);
  EXPECT_EQ(lines.Begin(), 11u);
  EXPECT_EQ(lines.Begin(), 12u);
  lines.Finish(11, LineOutcome::kRejected);
  EXPECT_EQ(lines.done(), 10u);
  EXPECT_EQ(lines.outstanding(), 2u);
  lines.Finish(10, LineOutcome::kSent);
  EXPECT_EQ(lines.done(), 12u);
  EXPECT_EQ(lines.counts(), (LineCounts{.sent = 8, .rejected = 3, .skipped = 1}));
  lines.Finish(12, LineOutcome::kSkipped);
  EXPECT_EQ(lines.counts(), (LineCounts{.sent = 8, .rejected = 3, .skipped = 2}));
  EXPECT_EQ(lines.outstanding(), 0u);
}

TEST(LineOutcomes, AgreeWithASetOverAMillionEntriesInAnyOrder) {
  LineOutcomes lines;
  std::vector<uint64_t> open;
  std::set<uint64_t> unfinished;
  Random random(3);
  for (int i = 0; i < 1'000'000; ++i) {
    if (open.size() < 1000 && random.Below(2) == 0) {
      open.push_back(lines.Begin());
      unfinished.insert(open.back());
    } else if (!open.empty()) {
      const size_t at = random.Below(static_cast<uint32_t>(open.size()));
      lines.Finish(open[at], LineOutcome::kSent);
      unfinished.erase(open[at]);
      open[at] = open.back();
      open.pop_back();
    }
    if (i % 1000 == 0 && !unfinished.empty()) {
      ASSERT_EQ(lines.done(), *unfinished.begin());
    }
  }
  EXPECT_EQ(lines.outstanding(), open.size());
}

std::unique_ptr<HistorySource> Source(const std::vector<std::string>& names, const Manifest& manifest = {}) {
  auto files = FindHistoryFiles(names);
  EXPECT_TRUE(files) << files.error().message;
  auto source = MakeFileSource(std::move(*files), manifest);
  EXPECT_TRUE(source) << source.error().message;
  return std::move(*source);
}

std::vector<std::string> Take(HistorySource& source, size_t most, bool finish) {
  std::vector<std::string> taken;
  const auto use = [&](const HistoryEntry& entry) -> Status {
    if (taken.size() == most) return Fail(Code::kUnavailable, "enough");
    taken.emplace_back(entry.event);
    if (finish) source.Finish(entry.ticket, LineOutcome::kSent);
    return {};
  };
  while (true) {
    const auto more = source.Next(use);
    if (!more || !*more) return taken;
  }
}

std::string Numbered(const char* prefix, int lines) {
  std::string text;
  for (int i = 0; i < lines; ++i) text += std::string("{") + prefix + std::to_string(i) + "\n";
  return text;
}

TEST(FileSource, GoesOnBehindWhatWasFinishedOverSeveralFiles) {
  const ScratchFolder folder;
  const std::vector<std::string> paths = {folder.Write("first", Numbered("a", 700)),
                                          folder.Write("second", Numbered("b", 700))};
  auto source = Source(paths);
  EXPECT_EQ(Take(*source, 900, true).size(), 900u);
  Manifest manifest;
  source->Describe(manifest);
  EXPECT_EQ(manifest.Counts().sent, 900u);
  EXPECT_EQ(manifest.FindFile(paths[0])->state, ManifestFile::State::kDone);
  EXPECT_EQ(manifest.FindFile(paths[1])->lines.sent, 200u);

  auto rest = Source(paths, manifest);
  const auto taken = Take(*rest, 10'000, true);
  ASSERT_EQ(taken.size(), 500u);
  EXPECT_EQ(taken.front(), "{b200");
  EXPECT_EQ(taken.back(), "{b699");
  rest->Describe(manifest);
  EXPECT_EQ(manifest.Counts().sent, 1400u);
  EXPECT_EQ(rest->Position(), rest->Total());

  folder.Write("third", Numbered("c", 5));  // a new file, for a new day
  auto added = Source({folder.Path("")}, manifest);
  EXPECT_EQ(Take(*added, 10'000, true).size(), 5u);
}

TEST(FileSource, CountsNothingDoneThatWasNotFinished) {
  const ScratchFolder folder;
  auto source = Source({folder.Write("file", "{a\n{b\n{c\n")});
  EXPECT_EQ(Take(*source, 10, false).size(), 3u);
  Manifest manifest;
  source->Finish(1, LineOutcome::kSent);  // acknowledged before the first
  source->Describe(manifest);
  EXPECT_EQ(manifest.Counts().sent, 0u);
  source->Finish(0, LineOutcome::kSent);
  source->Describe(manifest);
  EXPECT_EQ(manifest.Counts().sent, 2u);
  EXPECT_EQ(manifest.files[0].state, ManifestFile::State::kPartly);
}

/// Reads all of `source`. `outcome` has the number of the taken line, from 0.
Manifest Finished(HistorySource& source, Manifest manifest,
                  const std::function<LineOutcome(size_t)>& outcome) {
  size_t taken = 0;
  const auto use = [&](const HistoryEntry& entry) -> Status {
    source.Finish(entry.ticket, outcome(taken++));
    return {};
  };
  while (source.Next(use).value_or(false)) {
  }
  source.Describe(manifest);
  return manifest;
}

TEST(FileSource, TriesRejectedLinesAgainAndCountsEachLineOnce) {
  const ScratchFolder folder;
  const std::vector<std::string> paths = {folder.Write("file", Numbered("a", 1000))};
  const auto every_third = [](size_t i) {
    return i % 3 == 0 ? LineOutcome::kRejected : i % 3 == 1 ? LineOutcome::kSent : LineOutcome::kSkipped;
  };
  const Manifest first = Finished(*Source(paths), {}, every_third);
  EXPECT_EQ(first.files[0].lines, (LineCounts{.sent = 333, .rejected = 334, .skipped = 333}));

  // Of those, the first half succeeds, and the run ends.
  auto half = Source(paths, first);
  EXPECT_EQ(Take(*half, 167, true).size(), 167u);
  Manifest second = first;
  half->Describe(second);
  EXPECT_EQ(second.files[0].lines, (LineCounts{.sent = 500, .rejected = 167, .skipped = 333}));
  EXPECT_EQ(CountOf(second.files[0].rejected), 167u);
  EXPECT_EQ(second.files[0].rejected.front().first, 501);
  EXPECT_EQ(second.files[0].rejected.back().second, 999);

  auto rest = Source(paths, second);
  const Manifest third =
      Finished(*rest, second, [](size_t i) { return i == 5 ? LineOutcome::kRejected : LineOutcome::kSent; });
  EXPECT_EQ(third.files[0].lines, (LineCounts{.sent = 666, .rejected = 1, .skipped = 333}));
  EXPECT_EQ(third.files[0].rejected, (OffsetRanges{{516, 516}}));
}

TEST(FileSource, CountsEachLineOnceAfterAVersionThatKeptNoNumbers) {
  const ScratchFolder folder;
  const std::vector<std::string> paths = {folder.Write("file", Numbered("a", 100))};
  Manifest old;
  auto begun = Source(paths);
  EXPECT_EQ(Take(*begun, 60, true).size(), 60u);
  begun->Describe(old);
  old.files[0].lines = {.sent = 20, .rejected = 10, .skipped = 30};
  old.files[0].rejected.clear();
  auto source = Source(paths, old);
  size_t taken = 0;
  const auto use = [&](const HistoryEntry& entry) -> Status {
    if (taken == 50) return Fail(Code::kUnavailable, "killed");
    source->Finish(entry.ticket, taken++ < 45 ? LineOutcome::kSkipped : LineOutcome::kRejected);
    return {};
  };
  EXPECT_FALSE(source->Next(use));
  Manifest now = old;
  source->Describe(now);
  EXPECT_EQ(now.files[0].lines.done(), 60u) << "no line counts twice";
  EXPECT_EQ(now.files[0].rejected, (OffsetRanges{{45, 59}})) << "these, and those that weren't tried";
  auto last = Source(paths, now);
  EXPECT_EQ(Take(*last, 1000, true).size(), 15u + 40u);
}

TEST(FileSource, RefusesAFileThatChangedAfterItWasRecorded) {
  const ScratchFolder folder;
  const std::string path = folder.Write("file", Numbered("a", 10));
  Manifest manifest;
  auto source = Source({path});
  Take(*source, 100, true);
  source->Describe(manifest);
  ASSERT_TRUE(MakeFileSource(*FindHistoryFiles(std::vector{path}), manifest));
  const struct {
    std::string text;
    const char* remedy;
  } changed[] = {{Numbered("a", 11), "tail -c +41 "},
                 {Numbered("b", 10), "begins differently"},
                 {"", "begins differently"}};
  for (const auto& c : changed) {
    folder.Write("file", c.text);
    const auto refused = MakeFileSource(*FindHistoryFiles(std::vector{path}), manifest);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::kRefused);
    EXPECT_NE(refused.error().message.find(c.remedy), std::string::npos) << refused.error().message;
  }
}

TEST(FileSource, GoesOnUpToTheSizeThatAFileHadAtTheStart) {
  const ScratchFolder folder;
  const std::string path = folder.Write("file", Numbered("a", 10));
  auto source = Source({path});
  EXPECT_EQ(Take(*source, 4, true).size(), 4u);
  Manifest manifest;
  source->Describe(manifest);
  folder.Write("file", Numbered("a", 10) + "{more");  // the run was killed here, then the file grew
  auto rest = Source({path}, manifest);
  EXPECT_EQ(Take(*rest, 100, true).size(), 6u);
  rest->Describe(manifest);
  EXPECT_EQ(manifest.files[0].bytes_not_read, 5u);
  EXPECT_EQ(manifest.files[0].state, ManifestFile::State::kDone);
}

TEST(FileSource, ReadsADamagedFileAgainOnceItIsMended) {
  const ScratchFolder folder;
  const std::string whole =
      ScratchFolder::Read(std::string(SEEN_SOURCE_DIR) + "/examples/open_bandit_exposures.jsonl.gz");
  const std::string path = folder.Write("file", whole.substr(0, whole.size() / 2));
  Manifest manifest;
  auto source = Source({path});
  const size_t before = Take(*source, 100'000, true).size();
  EXPECT_GT(before, 1000u);
  source->Describe(manifest);
  EXPECT_EQ(manifest.files[0].state, ManifestFile::State::kDamaged);
  EXPECT_NE(manifest.files[0].damage.find("cut off"), std::string::npos);
  auto again = Source({path}, manifest);
  EXPECT_EQ(Take(*again, 100'000, true).size(), 0u);
  folder.Write("file", whole);
  auto mended = Source({path}, manifest);
  EXPECT_EQ(Take(*mended, 100'000, true).size(), 60'000u);
}

TEST(FileSource, OrdersFilesByTheTimeOfTheirFirstEvent) {
  const ScratchFolder folder;
  const auto write = [&](const char* name, const char* time) {
    folder.Write(name,
                 std::string("broken\n") + R"({"user_id":"u","item_id":"i","exposed_at":)" + time + "}\n");
  };
  write("a", "1763700000300");
  write("b", "1763700000100");
  write("c", "1763700000200");
  folder.Write("0", "no event at all\n");
  const auto files = OrderedByTime(*FindHistoryFiles(std::vector{folder.Path("")}), {}, 1 << 20);
  ASSERT_TRUE(files);
  std::string order;
  for (const HistoryFile& file : *files) order += file.name.back();
  EXPECT_EQ(order, "bca0");
}

TEST(Rejects, EndARunBeyondTheirShare) {
  const ScratchFolder folder;
  const auto source = Source({folder.Write("history.jsonl", "odd\n")});
  Rejects rejects(0.01);
  EXPECT_TRUE(rejects.CheckShare(0, 0, *source));
  EXPECT_TRUE(rejects.CheckShare(1, 100, *source));
  ASSERT_TRUE(rejects.Add("missing_field", "user_id: missing", R"({"file":"f","line":3})", "{}"));
  const auto many = rejects.CheckShare(2, 100, *source);
  ASSERT_FALSE(many);
  for (const char* part : {"2 of 100", "1%", "missing_field", R"("line":3)", "user_id: missing"})
    EXPECT_NE(many.error().message.find(part), std::string::npos) << many.error().message;
}

TEST(Rejects, NameNoEncodingThatTheyDontKnow) {
  const ScratchFolder folder;
  const auto source = Source({folder.Write("history.jsonl", "odd\n")});
  Rejects rejects(0);
  ASSERT_TRUE(rejects.Add("invalid_utf8", "value: broken", R"({"file":"f","line":3})", "\xff"));
  const auto many = rejects.CheckShare(1, 1, *source);
  ASSERT_FALSE(many);
  EXPECT_NE(many.error().message.find("iconv -f ENCODING "), std::string::npos) << many.error().message;
}

TEST(Rejects, RefuseAFileThatIsReadOrAFullDisk) {
  const ScratchFolder folder;
  const std::string path = folder.Write("history.jsonl", "odd\n");
  const auto source = Source({path});
  Rejects itself(1);
  EXPECT_TRUE(itself.CheckNotReadBy(*source)) << "no file";
  ASSERT_TRUE(itself.OpenFile(path));
  const Status refused = itself.CheckNotReadBy(*source);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kInvalidArgument);
  EXPECT_NE(refused.error().message.find("--rejects: " + path), std::string::npos);
  Rejects full(1);
  ASSERT_TRUE(full.OpenFile("/dev/full"));
  EXPECT_TRUE(full.CheckNotReadBy(*source));
  const Status written = full.Add("a", "m", "{}", "x");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, "--rejects: /dev/full: No space left on device");
}

TEST(Rejects, KeepThreeExamplesOfEachReason) {
  Rejects rejects(1);
  for (int i = 0; i < 10; ++i)
    ASSERT_TRUE(rejects.Add(i % 2 == 0 ? "a" : "b", "m", "{}", std::string(10'000, 'x')));
  ASSERT_EQ(rejects.reasons().size(), 2u);
  EXPECT_EQ(rejects.reasons().at("a").count, 5u);
  EXPECT_EQ(rejects.reasons().at("a").examples.size(), 3u);
  EXPECT_LT(rejects.reasons().at("a").examples[0].text.size(), 1000u);
}

TEST(ParseShare, TakesPercentAlone) {
  EXPECT_DOUBLE_EQ(*ParseShare("--rejects-max", "1%"), 0.01);
  EXPECT_DOUBLE_EQ(*ParseShare("--rejects-max", "0.5%"), 0.005);
  EXPECT_DOUBLE_EQ(*ParseShare("--rejects-max", "100%"), 1);
  for (const char* bad : {"", "1", "%", "-1%", "101%", "x%", "1%%"})
    EXPECT_FALSE(ParseShare("--rejects-max", bad)) << bad;
}

TEST(Offsets, AreReadAsTheyAreWritten) {
  const std::map<int32_t, int64_t> offsets = {{0, 17}, {3, int64_t{1} << 40}};
  EXPECT_EQ(ParseOffsets("0:17,3:1099511627776").value(), offsets);
  EXPECT_TRUE(ParseOffsets("")->empty());
  for (const char* bad : {"x", "0", "0:", ":1", "0:1,", "0:1;1:2", "-1:5", "0:-5", "0:1,0:2", "0:1 "})
    EXPECT_FALSE(ParseOffsets(bad)) << bad;
}

}  // namespace
}  // namespace seen
