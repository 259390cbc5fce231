#include "tools/history/line_reader.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <vector>

#include "scratch_folder.h"
#include "tools/load/event_sink.h"

namespace seen {
namespace {

const std::string kExample = std::string(SEEN_SOURCE_DIR) + "/examples/open_bandit_exposures.jsonl.gz";

std::string Gzip(const ScratchFolder& folder, const std::string& name, const std::string& text) {
  const std::string path = folder.Path(name);
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  return path;
}

Result<std::vector<std::string>> Lines(const std::string& path) {
  auto reader = LineReader::Open(path);
  if (!reader) return Fail(reader.error());
  std::vector<std::string> lines;
  std::string_view line;
  while (true) {
    const auto more = reader->Next(line);
    if (!more) return Fail(more.error());
    if (!*more) return lines;
    lines.emplace_back(line);
    EXPECT_EQ(reader->line_number(), lines.size());
  }
}

TEST(LineReader, ReadsPlainAndGzipAlike) {
  const ScratchFolder folder;
  const struct {
    std::string text;
    std::vector<std::string> lines;
  } cases[] = {
      {"", {}},
      {"\n", {""}},
      {"a", {"a"}},
      {"a\nb\n", {"a", "b"}},
      {"a\r\nb", {"a", "b"}},
      {"\n\nlast", {"", "", "last"}},
      {std::string(700'000, 'x') + "\n" + std::string(300'000, 'y'),
       {std::string(700'000, 'x'), std::string(300'000, 'y')}},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(Lines(folder.Write("plain.jsonl", c.text)).value(), c.lines);
    EXPECT_EQ(Lines(Gzip(folder, "packed.gz", c.text)).value(), c.lines);
    EXPECT_EQ(Lines(Gzip(folder, "packed-without-a-name-for-it", c.text)).value(), c.lines);
  }
}

TEST(LineReader, ReadsTheExample) {
  const auto lines = Lines(kExample);
  ASSERT_TRUE(lines) << lines.error().message;
  EXPECT_EQ(lines->size(), 60'000u);
}

TEST(LineReader, SaysThatAGzipFileIsCutOff) {
  const ScratchFolder folder;
  const std::string whole = ScratchFolder::Read(kExample);
  const auto lines = Lines(folder.Write("cut.gz", whole.substr(0, whole.size() / 2)));
  ASSERT_FALSE(lines);
  EXPECT_EQ(lines.error().code, Code::kMalformed);
  EXPECT_NE(lines.error().message.find("cut.gz"), std::string::npos) << lines.error().message;
}

TEST(LineReader, NamesAFileThatIsMissing) {
  const auto reader = LineReader::Open("/nowhere/at/all");
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().code, Code::kInvalidArgument);
  EXPECT_EQ(reader.error().message, "/nowhere/at/all: No such file or directory");
}

TEST(ExposureFile, FindsTheLastExposureOfTheExample) {
  const auto last = LastExposure(kExample);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->value, 1'575'158'387'022);
}

TEST(ExposureFile, FindsTheLastExposureWhereverItStandsAndSkipsWhatIsNone) {
  const ScratchFolder folder;
  const auto path = folder.Write("file",
                                 "not json\n"
                                 R"({"user_id":"u","item_id":"a","exposed_at":1763700000500})"
                                 "\n"
                                 R"({"user_id":"u","item_id":"b","exposed_at":1763700000100})"
                                 "\n");
  EXPECT_EQ(LastExposure(path)->value, 1'763'700'000'500);
  const auto none = LastExposure(folder.Write("none", "nothing here\n"));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::kNotFound);
}

TEST(ExposureFile, MovesTheTimeAndNothingElse) {
  const auto shifted = ShiftExposure(
      R"({"user_id":"ü","item_id":7,"exposed_at":1763700000500,"extra":{"exposed_at":5},"position":1.5})",
      -500);
  ASSERT_TRUE(shifted);
  EXPECT_EQ(
      *shifted,
      R"({"user_id":"ü","item_id":7,"exposed_at":1763700000000,"extra":{"exposed_at":5},"position":1.5})");
}

TEST(ExposureFile, RefusesWhatHasNoTimeToMove) {
  for (const char* line :
       {"", "5", "[]", "{}", R"({"exposed_at":"1"})", R"({"exposed_at":1.5})", R"({"exposed_at":1)"})
    EXPECT_FALSE(ShiftExposure(line, 1)) << line;
}

}  // namespace
}  // namespace seen
