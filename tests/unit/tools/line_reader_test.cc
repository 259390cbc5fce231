#include "tools/history/line_reader.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
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
  }
}

TEST(LineReader, ReadsPlainAndGzipAlike) {
  const ScratchFolder folder;
  const struct {
    std::string text;
    std::vector<std::string> lines;
  } cases[] = {
      {"", {}},
      {"\n", {}},
      {"a", {"a"}},
      {"a\nb\n", {"a", "b"}},
      {"a\r\nb", {"a", "b"}},
      {"\n\nlast", {"last"}},
      {std::string(700'000, 'x') + "\n" + std::string(300'000, 'y'),
       {std::string(700'000, 'x'), std::string(300'000, 'y')}},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(Lines(folder.Write("plain.jsonl", c.text)).value(), c.lines);
    EXPECT_EQ(Lines(Gzip(folder, "packed.gz", c.text)).value(), c.lines);
    EXPECT_EQ(Lines(Gzip(folder, "packed-without-a-name-for-it", c.text)).value(), c.lines);
  }
}

struct Text {
  uint64_t line;
  std::string text;
  friend bool operator==(const Text&, const Text&) = default;
};

std::vector<Text> Texts(const std::string& path) {
  auto reader = LineReader::Open(path);
  EXPECT_TRUE(reader) << reader.error().message;
  std::vector<Text> texts;
  std::string_view text;
  while (reader->Next(text).value_or(false)) texts.push_back({reader->line_number(), std::string(text)});
  return texts;
}

TEST(LineReader, TellsAnArrayThatWasCutBetweenItsElements) {
  const ScratchFolder folder;
  for (const char* const cut :
       {"[\n{\"a\":1},\n", "[{\"a\":1}", "[{\"a\":[{}]},", "[[{}]\n", "[\n{\"a\":{"}) {
    const auto lines = Lines(folder.Write("cut", cut));
    ASSERT_FALSE(lines) << cut;
    EXPECT_EQ(lines.error().code, Code::kMalformed);
    EXPECT_NE(lines.error().message.find("cut: cut off"), std::string::npos) << lines.error().message;
  }
  for (const char* const whole : {"[\n{\"a\":1},\n]\n", "[]", "[{}]\n[{}]\n", "{}\n[\n{}\n", "[1,2]\n[{}]",
                                  "[{},1]", "[{},[\"]\"]]\n{}"})
    EXPECT_TRUE(Lines(folder.Write("whole", whole))) << whole;
}

TEST(LineReader, FindsObjectsWhereverTheyStand) {
  const ScratchFolder folder;
  const struct {
    const char* name;
    std::string text;
    std::vector<Text> texts;
  } cases[] = {
      {"back to back",
       R"({"a":1}{"b":{"c":[{}]}}{"d":"}{"})",
       {{1, R"({"a":1})"}, {1, R"({"b":{"c":[{}]}})"}, {1, R"({"d":"}{"})"}}},
      {"with blanks and commas",
       "{\"a\":1} \t,{\"b\":\"\\\"}\"}\n{}\n",
       {{1, "{\"a\":1}"}, {1, "{\"b\":\"\\\"}\"}"}, {2, "{}"}}},
      {"an array", R"([{"a":1}, {"b":2}])", {{1, R"({"a":1})"}, {1, R"({"b":2})"}}},
      {"an array of lines", "[\n{\"a\":1},\n{\"b\":{}}\n]\n", {{2, "{\"a\":1}"}, {3, "{\"b\":{}}"}}},
      {"laid out",
       "[\n  {\n    \"a\": [\n      {}\n    ]\n  },\n  {\n    \"b\": 2\n  }\n]\n",
       {{2, "{\n    \"a\": [\n      {}\n    ]\n  }"}, {7, "{\n    \"b\": 2\n  }"}}},
      {"CR alone",
       "{\"a\":1}\r{\"b\":{}}\rodd\r{}",
       {{1, "{\"a\":1}"}, {2, "{\"b\":{}}"}, {3, "odd"}, {4, "{}"}}},
      {"RFC 7464", "\x1e{\"a\":1}\n\x1e{\"b\":{}}\n", {{1, "{\"a\":1}"}, {2, "{\"b\":{}}"}}},
      {"a line that is cut off",
       "{\"a\":1\n{\"b\":2}\n{\"c\":\"x\n{\"d\":[{\n{}\n",
       {{1, "{\"a\":1"}, {2, "{\"b\":2}"}, {3, "{\"c\":\"x"}, {4, "{\"d\":[{"}, {5, "{}"}}},
      {"a file that is cut off", "{\"a\":1}\n{\"b\":{}", {{1, "{\"a\":1}"}, {2, "{\"b\":{}"}}},
      {"text behind an object",
       "{\"a\":{}} odd, x\n[1,2]\n",
       {{1, "{\"a\":{}}"}, {1, "odd"}, {1, "x"}, {2, "[1,2]"}}},
      {"an odd element between objects of a line",
       R"([{"a":1},null,"},{\",",[1,{}],{"b":{}}])",
       {{1, R"({"a":1})"}, {1, "null"}, {1, R"("},{\",")"}, {1, "1"}, {1, "{}"}, {1, R"({"b":{}})"}}},
      {"an odd element before the objects of a line",
       "[\"{a\", [{\"a\":1}]\n1,{}\n",
       {{1, "[\"{a\""}, {1, "{\"a\":1}"}, {2, "1,{}"}}},
      {"another separator",
       R"({"a":1};{"b":2};;{})",
       {{1, R"({"a":1})"}, {1, ";"}, {1, R"({"b":2})"}, {1, ";;"}, {1, "{}"}}},
      {"a quote that nothing closes",
       R"([{"a":1},"x,{"b":2},{"c":3}])"
       "\n{}",
       {{1, R"({"a":1})"}, {1, "\"x"}, {1, R"({"b":2})"}, {1, R"({"c":3})"}, {2, "{}"}}},
      {"an element without its brace",
       R"([{"a":1},{"b":2,{"c":3},{"d":[{"e":{}},{}]}])",
       {{1, R"({"a":1})"}, {1, R"({"b":2,)"}, {1, R"({"c":3})"}, {1, R"({"d":[{"e":{}},{}]})"}}},
      {"an object without its brace, back to back",
       R"({"a":1}{"b":2{"c":3}{ "d":4})",
       {{1, R"({"a":1})"}, {1, R"({"b":2)"}, {1, R"({"c":3})"}, {1, R"({ "d":4})"}}},
      {"an element without a quote",
       R"([{"a":1},{"b":"x,"c":2},{"d":"3"},{"e":"4"}])"
       "\n{}",
       {{1, R"({"a":1})"}, {1, R"({"b":"x,"c":2},)"}, {1, R"({"d":"3"})"}, {1, R"({"e":"4"})"}, {2, "{}"}}},
      {"a single object with a quote too many",
       R"({"a":"he said "x","b":[{},{"c":1}]})"
       "\n{}",
       {{1, R"({"a":"he said "x","b":[{},{"c":1}]})"}, {2, "{}"}}},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(Texts(folder.Write("plain", c.text)), c.texts) << c.name;
    EXPECT_EQ(Texts(Gzip(folder, "packed", c.text)), c.texts) << c.name;
  }
}

TEST(LineReader, ReadsALineOfManyObjectsAsItComes) {
  const ScratchFolder folder;
  const std::string object =
      R"({"user_id":"u","items":[{"item_id":"a"},{"item_id":"b"}],"exposed_at":1763700000500})";
  std::string line;
  const size_t objects = 2 * LineReader::kLineBytesMax / object.size();
  line.reserve(objects * object.size());
  for (size_t i = 0; i < objects; ++i) line += object;
  auto reader = LineReader::Open(folder.Write("long", line));
  ASSERT_TRUE(reader);
  size_t found = 0;
  std::string_view text;
  while (reader->Next(text).value_or(false)) found += text == object ? 1 : 0;
  EXPECT_EQ(found, objects);
}

TEST(LineReader, AnOddElementHidesNoneOfManyObjects) {
  const ScratchFolder folder;
  std::string line = "[";
  for (int i = 0; i < 500'000; ++i) line += i % 1000 == 7 ? "null," : R"({"a":"b"},)";
  const auto texts = Texts(folder.Write("array", line + "{}]"));
  EXPECT_EQ(texts.size(), 500'001u);
  EXPECT_EQ(std::count(texts.begin(), texts.end(), Text{1, "null"}), 500);
}

TEST(LineReader, AnObjectOverTheLimitIsCutAndTheNextOneIsFound) {
  const ScratchFolder folder;
  const std::string path =
      folder.Write("long", "{\"a\":{\"b\":\"" + std::string(LineReader::kLineBytesMax, 'x') +
                               "\"},\"c\":{}}{\"d\":1}\n{}");
  const auto texts = Texts(path);
  ASSERT_EQ(texts.size(), 3u);
  EXPECT_EQ(texts[0].text.size(), LineReader::kLineBytesMax);
  EXPECT_EQ(texts[1].text, "{\"d\":1}");
  EXPECT_EQ(texts[2], (Text{2, "{}"}));
}

TEST(LineReader, NamesAPackedPartBehindPlainLines) {
  const ScratchFolder folder;
  const std::string packed = ScratchFolder::Read(Gzip(folder, "x", "{\"b\":1}\n"));
  for (const char* plain : {"{\"a\":1}\n", "{\"a\":1}"}) {
    const auto lines = Lines(folder.Write("it's", plain + packed));
    ASSERT_FALSE(lines);
    EXPECT_EQ(lines.error().code, Code::kMalformed);
    const std::string remedy = "tail -c +" + std::to_string(std::string(plain).size() + 1);
    EXPECT_NE(lines.error().message.find(remedy), std::string::npos) << lines.error().message;
    EXPECT_NE(lines.error().message.find("it'\\''s"), std::string::npos) << lines.error().message;
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
