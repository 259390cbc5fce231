#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "app/fills.h"

namespace seen {
namespace {

class FillRequestsTest : public testing::Test {
 protected:
  FillRequestsTest() { EXPECT_NE(mkdtemp(folder_.data()), nullptr); }
  ~FillRequestsTest() override { std::filesystem::remove_all(folder_); }
  std::string Path() const { return folder_ + "/fills.json"; }
  std::string folder_ = (std::filesystem::temp_directory_path() / "seen-fills-XXXXXX").string();
};

TEST_F(FillRequestsTest, AreReadAsTheyWereWritten) {
  EXPECT_TRUE(ReadFillRequests(Path())->empty()) << "there is no file yet";
  const std::vector<FillRequest> requests = {{"video", "june", {7}, {0, 3}, {12}},
                                             {"a \"b\"", "x", {8}, {1}, {}}};
  ASSERT_TRUE(WriteFillRequests(Path(), requests));
  EXPECT_EQ(*ReadFillRequests(Path()), requests);
  ASSERT_TRUE(WriteFillRequests(Path(), {}));
  EXPECT_TRUE(ReadFillRequests(Path())->empty());
}

TEST_F(FillRequestsTest, AFileOfBeforeHasNoneThatAreDone) {
  std::ofstream(Path()) << R"({"fills":[{"filter":"video","id":"june","asked_at_ms":7,"partitions":[0,3]}]})";
  EXPECT_EQ(*ReadFillRequests(Path()), (std::vector<FillRequest>{{"video", "june", {7}, {0, 3}, {}}}));
}

TEST_F(FillRequestsTest, AFileOfSomethingElseIsCorrupt) {
  for (const char* text :
       {"", "{", "[]", R"({"fills":[{"filter":"video"}]})", R"({"fills":[{"filter":1}]})"}) {
    std::ofstream(Path()) << text;
    const auto read = ReadFillRequests(Path());
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, Code::kCorrupt);
  }
}

TEST_F(FillRequestsTest, AFolderThatIsMissingIsAnErrorWithItsPath) {
  const Status written = WriteFillRequests(folder_ + "/none/fills.json", {});
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("/none/fills.json"), std::string::npos) << written.error().message;
}

}  // namespace
}  // namespace seen
