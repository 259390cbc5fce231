// Bytes of updates: what a reader says about wrong ones, and that none of them makes it crash or read beyond
// the end (the build with AddressSanitizer sees it).

#include "seen/update.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

#include "encoders.h"
#include "seen/filter_reader.h"
#include "updates.h"

namespace seen::client {
namespace {

std::string ErrorOf(const std::string& bytes) {
  const auto update = Update::Parse(bytes);
  return update ? "" : update.error().message;
}

TEST(Update, SaysWhatIsWrong) {
  const test::UpdateParts good = {
      3, 7, 500, 501, 1763700000123, {"default"}, {{1, {}, 0, {{9, {Fingerprint{8}}}}}}};
  const auto with = [&](auto change) {
    test::UpdateParts parts = good;
    change(parts);
    return ErrorOf(test::Encoded(parts));
  };
  EXPECT_EQ(ErrorOf(test::Encoded(good)), "");
  EXPECT_EQ(ErrorOf(""), "not an update: no bytes");
  EXPECT_EQ(ErrorOf("SEEN"), "not an update: it doesn't start with SEEU");
  EXPECT_EQ(ErrorOf("SEEU"), "cut off: 4 bytes, a header has 56 or more");
  EXPECT_EQ(with([](auto& parts) { parts.generation = 0; }), "generation is 0, must be 1 or more");
  EXPECT_EQ(with([](auto& parts) { parts.to = 499; }), "to is 499, must be 500 or more");
  EXPECT_EQ(with([](auto& parts) { parts.filters.clear(); }), "filter_count is 0, must be 1 to 16");
  EXPECT_EQ(with([](auto& parts) { parts.filters = {"a", "a"}; }), "name 1 of 2 filters comes twice");
  EXPECT_EQ(with([](auto& parts) { parts.sections[0].mask = 2; }),
            "section: mask is 2, must be 1 or more, and below 2^1");
  EXPECT_EQ(with([](auto& parts) { parts.sections[0].kind = AdditionKind{2}; }),
            "section: kind is 2, this reader knows 0 and 1: update the reader");
  EXPECT_EQ(with([](auto& parts) { parts.sections[0].entries[0].items.clear(); }),
            "section: items is 0, must be 1 or more");
}

TEST(Update, KnowsTheBitsOfItsFilters) {
  const std::string bytes = test::Encoded(test::UpdateParts{0, 1, 0, 0, -1, {"default", "clicks"}, {}});
  const auto update = Update::Parse(bytes);
  ASSERT_TRUE(update) << update.error().message;
  EXPECT_EQ(update->BitOf("default"), 1);
  EXPECT_EQ(update->BitOf("clicks"), 2);
  EXPECT_EQ(update->BitOf("click"), 0);
}

/// Whether the bytes are taken. In a heap buffer of just their size.
bool TryUpdate(const std::string& bytes, FilterReader& reader) {
  const std::unique_ptr<char[]> exact(new char[bytes.size()]);
  std::copy(bytes.begin(), bytes.end(), exact.get());
  const std::string_view input(exact.get(), bytes.size());
  const auto update = Update::Parse(input);
  EXPECT_EQ(reader.TakeUpdate(input).has_value(), !update);
  if (!update) return false;
  std::size_t items = 0, counted = 0;
  update->ForEachSection([&](const UpdateSection& section) {
    items += section.items();
    section.ForEach([&](const UpdateEntry& entry) {
      for (std::uint32_t i = 0; i < entry.count; ++i) counted += entry[i] == Fingerprint{0} ? 1U : 1U;
    });
  });
  EXPECT_EQ(items, counted);
  return true;
}

TEST(Update, MutationsAreTakenOrRefused) {
  std::mt19937 random(20251129);
  std::vector<test::Section> sections;
  for (std::uint16_t mask = 1; mask <= 3; ++mask)
    sections.push_back({mask, {}, 0, {{1, {Fingerprint{1}, Fingerprint{2}}}, {2, {Fingerprint{3}}}}});
  const std::string bytes = test::Encoded(test::UpdateParts{0, 1, 0, 10, 5, {"default", "clicks"}, sections});
  FilterReader reader("default", {0}, 1000);
  ASSERT_TRUE(TryUpdate(bytes, reader));
  int taken = 0, refused = 0;
  for (int i = 0; i < 30'000; ++i) {
    std::string mutated = bytes;
    for (std::uint32_t changes = random() % 3 + 1; changes > 0; --changes) {
      const std::size_t at = random() % 2 == 0 ? 6 + random() % 90 : random() % bytes.size();
      switch (random() % 4) {
        case 0:
          mutated[at % mutated.size()] = static_cast<char>(random());
          break;
        case 1:
          mutated[at % mutated.size()] = static_cast<char>(random() % 2 == 0 ? 0 : 0xff);
          break;
        case 2:
          mutated.resize(std::max<std::size_t>(12, mutated.size() - random() % 16));
          break;
        default:
          mutated.append(random() % 16, static_cast<char>(random() % 4));
      }
    }
    (TryUpdate(test::SignedUpdate(std::move(mutated)), reader) ? taken : refused) += 1;
  }
  EXPECT_GT(taken, 1000) << "else nothing but refusals was tried";
  EXPECT_GT(refused, 1000);
  EXPECT_LE(reader.additions(), 1000U);
}

TEST(Update, OfEveryLengthIsRefused) {
  const std::string bytes =
      test::Encoded(test::UpdateParts{0, 1, 0, 10, 5, {"default"}, {{1, {}, 0, {{1, {Fingerprint{1}}}}}}});
  FilterReader reader("default");
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(TryUpdate(bytes.substr(0, length), reader));
    const bool without_sections = length == 57;  // the header's end
    if (length >= 12) {
      EXPECT_EQ(TryUpdate(test::SignedUpdate(bytes.substr(0, length)), reader), without_sections) << length;
    }
  }
}

}  // namespace
}  // namespace seen::client
