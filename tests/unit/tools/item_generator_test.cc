#include "tools/load/item_generator.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tools/load/exposure_generator.h"

namespace seen {
namespace {

constexpr TimeMs kAt{1'763'700'000'000};

std::string TextOf(const ItemGenerator::Item& item) {
  return nlohmann::json::parse(item.payload).at("text").get<std::string>();
}

TEST(ItemGenerator, GivesTheSameItemsInAnyOrder) {
  const ItemGenerator first({.seed = 7}), second({.seed = 7}), other({.seed = 8});
  for (const uint64_t number : {99u, 3u, 50u})
    EXPECT_EQ(first.Make(number, kAt).payload, second.Make(number, kAt).payload);
  EXPECT_NE(first.Make(3, kAt).payload, other.Make(3, kAt).payload);
}

TEST(ItemGenerator, GivesTheItemsThatAStreamOfExposuresShows) {
  std::set<std::string> ids;
  const ItemGenerator items({});
  for (uint64_t number = 0; number < 500; ++number) ids.insert(items.IdOf(number));
  EXPECT_EQ(ids.size(), 500u);
  ExposureGenerator exposures({.users = 10, .items = 500});
  for (int i = 0; i < 200; ++i) {
    const auto shown = nlohmann::json::parse(exposures.Next(kAt).payload).at("item_id").get<std::string>();
    EXPECT_TRUE(ids.contains(shown)) << shown;
  }
}

TEST(ItemGenerator, CopiesAsManyAsAskedFromOriginals) {
  const ItemGenerator items({.copies = 0.3, .chinese = 0.5});
  int copies = 0, verbatim = 0;
  std::set<std::string> originals;
  for (uint64_t number = 0; number < 1000; ++number) {
    const auto item = items.Make(number, kAt);
    if (!item.original) {
      originals.insert(TextOf(item));
      continue;
    }
    ++copies;
    EXPECT_LT(*item.original, number);
    const auto original = items.Make(*item.original, kAt);
    EXPECT_FALSE(original.original) << "an original is no copy";
    EXPECT_NE(TextOf(item), TextOf(original)) << "edited";
    const bool holds = TextOf(item).find(TextOf(original)) != std::string::npos;
    EXPECT_EQ(holds, item.edit != CopyEdit::kWords);
    verbatim += item.edit == CopyEdit::kVerbatim ? 1 : 0;
  }
  EXPECT_NEAR(copies, 300, 60);
  EXPECT_NEAR(verbatim, 100, 40);
  EXPECT_EQ(originals.size(), static_cast<size_t>(1000 - copies)) << "no two by chance";
}

TEST(ItemGenerator, NamesAnOptionOutOfRange) {
  const ItemGeneratorOptions bad[] = {{.copies = 1}, {.copies = -1}, {.chinese = 2}, {.sentences = 0}};
  for (const auto& options : bad) {
    const auto valid = ItemGenerator::Validate(options);
    ASSERT_FALSE(valid);
    EXPECT_EQ(valid.error().code, Code::kInvalidArgument);
    EXPECT_TRUE(valid.error().message.starts_with("--")) << valid.error().message;
  }
  EXPECT_TRUE(ItemGenerator::Validate({}));
}

}  // namespace
}  // namespace seen
