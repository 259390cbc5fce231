// Bytes with a right checksum that no writer wrote: an answer or an error, never a crash or a read beyond the
// end (the build with AddressSanitizer sees it).

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "encoders.h"
#include "one_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace seen::client {
namespace {

constexpr std::uint32_t kSeed = 20251121;

class Mutations : public testing::TestWithParam<int> {};

/// One of the things that go wrong with bytes, or that somebody makes go wrong.
std::string Mutated(std::string bytes, std::mt19937& random, std::uint32_t header = 56) {
  for (std::uint32_t changes = random() % 4 + 1; changes > 0; --changes) {
    // Often in the payload's first bytes: there are its fields.
    const std::size_t reach =
        random() % 2 == 0 ? std::min<std::size_t>(bytes.size(), header + 40) : bytes.size();
    const std::size_t at =
        random() % 8 == 0 || reach <= header ? random() % bytes.size() : header + random() % (reach - header);
    switch (random() % 5) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ 1 << random() % 8);
        break;
      case 2:
        bytes[at] = static_cast<char>(random() % 2 == 0 ? 0 : 0xff);
        break;
      case 3:
        bytes.resize(std::max<std::size_t>(header, bytes.size() - random() % 16));
        break;
      default:
        bytes.append(random() % 16, static_cast<char>(random()));
        break;
    }
  }
  if (random() % 4 != 0) {  // else the length is wrong too
    std::string length;
    test::Put(length, static_cast<std::uint32_t>(bytes.size() - header));
    bytes.replace(48, 4, length);
  }
  return test::Signed(std::move(bytes));
}

TEST_P(Mutations, AreAnsweredOrRefused) {
  std::mt19937 random(kSeed + static_cast<std::uint32_t>(GetParam()));
  int taken = 0, refused = 0;
  for (const int count : {0, 1, 5, 200}) {
    const std::string bytes = test::SnapshotOf(test::FormatOf(GetParam()), test::Numbered("n", count));
    ASSERT_TRUE(test::TryOneInput(bytes));
    for (int i = 0; i < 3000; ++i) {
      (test::TryOneInput(Mutated(bytes, random)) ? taken : refused) += 1;
    }
  }
  EXPECT_GT(taken, 100) << "else nothing but refusals was tried";
  EXPECT_GT(refused, 100);
}

TEST_P(Mutations, OfWhatIsSimilarAreAnsweredOrRefused) {
  std::mt19937 random(kSeed + static_cast<std::uint32_t>(GetParam()));
  const std::string seen = test::SnapshotOf(Format::kBloom, test::Numbered("n", 30));
  const std::string second = test::SnapshotOf(test::FormatOf(GetParam()), test::Numbered("m", 50)).substr(56);
  const std::string bytes = test::WithSimilar(seen, test::FormatOf(GetParam()), second);
  const bool knows_days =
      test::FormatOf(GetParam()) == Format::kIndexedCuckoo || test::FormatOf(GetParam()) == Format::kDayChain;
  ASSERT_EQ(test::TryOneInput(bytes), !knows_days);
  int taken = 0, refused = 0;
  for (int i = 0; i < 3000; ++i) {
    // From the second payload's start on, and what is before it.
    const auto from = static_cast<std::uint32_t>(i % 2 == 0 ? 72 : bytes.size() - second.size());
    std::string mutated = Mutated(bytes, random, from);
    std::string length, similar_length;
    test::Put(length, static_cast<std::uint32_t>(mutated.size() - 72));
    mutated.replace(48, 4, length);
    if (random() % 8 == 0) mutated[56 + random() % 16] = static_cast<char>(random());
    if (random() % 2 == 0) {
      const std::size_t first = bytes.size() - second.size() - 72;
      if (mutated.size() >= 72 + first) {
        test::Put(similar_length, static_cast<std::uint32_t>(mutated.size() - 72 - first));
        mutated.replace(56, 4, similar_length);
      }
    }
    (test::TryOneInput(test::Signed(std::move(mutated))) ? taken : refused) += 1;
  }
  if (!knows_days) {
    EXPECT_GT(taken, 100) << "else nothing but refusals was tried";
  }
  EXPECT_GT(refused, 100);
}

TEST_P(Mutations, OfEveryLengthAreAnsweredOrRefused) {
  const std::string bytes = test::SnapshotOf(test::FormatOf(GetParam()), test::Numbered("n", 20));
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(test::TryOneInput(bytes.substr(0, length)));
    if (length >= 56) {
      std::string cut = bytes.substr(0, length), payload_bytes;
      test::Put(payload_bytes, static_cast<std::uint32_t>(length - 56));
      test::TryOneInput(test::Signed(cut.replace(48, 4, payload_bytes)));
    }
  }
}

TEST(Fuzzer, TakesItsCorpus) {
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(SEEN_SOURCE_DIR "/tests/golden/snapshot")) {
    std::ifstream stream(file.path(), std::ios::binary);
    const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(stream),
                                          std::istreambuf_iterator<char>()};
    EXPECT_EQ(LLVMFuzzerTestOneInput(bytes.data(), bytes.size()), 0);
    ++files;
  }
  EXPECT_GT(files, 20);
}

std::string NameOfKind(const testing::TestParamInfo<int>& info) {
  return std::string(NameOf(test::FormatOf(info.param)));
}
INSTANTIATE_TEST_SUITE_P(All, Mutations, testing::Range(1, test::kFormats + 1), NameOfKind);

}  // namespace
}  // namespace seen::client
