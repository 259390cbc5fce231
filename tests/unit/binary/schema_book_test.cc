#include "binary/schema_book.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

namespace seen {
namespace {

using namespace std::chrono_literals;
using Kind = SchemaProblem::Kind;

class NoSchema final : public WriterSchema {
 public:
  tl::expected<std::unique_ptr<BinaryReader>, FormatError> NewReader(
      std::shared_ptr<const EventPlan> /*plan*/) const override {
    return tl::unexpected(FormatError{"input.fields.user_id", "leads nowhere"});
  }
};

/// A registry whose answers a test changes.
struct Registry {
  std::atomic<bool> away{false}, knows{true};
  std::atomic<int> asked{0};

  SchemaBook::Options Options(std::chrono::milliseconds unknown_after = 10'000ms) {
    SchemaBook::Options options;
    options.registry = "http://registry";
    options.unknown_after = unknown_after;
    options.retry = 1ms;
    options.fetch = [this](uint32_t id) -> tl::expected<WriterSchemaPointer, SchemaProblem> {
      ++asked;
      if (away) return tl::unexpected(SchemaProblem{Kind::kAway, "connection refused"});
      if (id == 13) return tl::unexpected(SchemaProblem{Kind::kUnusable, "no schema"});
      if (!knows) return tl::unexpected(SchemaProblem{Kind::kUnknown, "not found"});
      return std::make_shared<NoSchema>();
    };
    return options;
  }
};

/// Asks until the condition holds; a test that hangs fails after a minute.
template <typename Condition>
bool Eventually(Condition holds) {
  for (int i = 0; i < 60'000 && !holds(); ++i) std::this_thread::sleep_for(1ms);
  return holds();
}

TEST(SchemaBook, AsksOnceForEachIdAndNobodyWaits) {
  Registry registry;
  SchemaBook book(registry.Options());
  EXPECT_FALSE(book.Find(1, MissingSchema::kGiveUp).is_final) << "the first question gets no answer yet";
  EXPECT_TRUE(Eventually([&] { return book.Find(1, MissingSchema::kGiveUp).schema != nullptr; }));
  EXPECT_NE(book.Find(2, MissingSchema::kWait).schema, nullptr);
  EXPECT_NE(book.Find(1, MissingSchema::kGiveUp).schema, nullptr);
  EXPECT_EQ(registry.asked, 2);
  EXPECT_TRUE(book.Troubles().empty());
}

TEST(SchemaBook, SaysThatTheRegistryIsAwayAndAsksAgain) {
  Registry registry;
  registry.away = true;
  SchemaBook book(registry.Options());
  EXPECT_TRUE(Eventually([&] {
    (void)book.Find(1, MissingSchema::kGiveUp);
    return !book.Troubles().empty();
  }));
  EXPECT_EQ(book.Troubles(), std::vector<std::string>{
                                 "the schema registry doesn't answer, so records of schemas 1 wait, and all "
                                 "behind them: connection refused"});
  EXPECT_FALSE(book.Find(1, MissingSchema::kGiveUp).is_final);
  registry.away = false;
  EXPECT_NE(book.Find(1, MissingSchema::kWait).schema, nullptr);
  EXPECT_TRUE(book.Troubles().empty());
}

TEST(SchemaBook, AnUnknownIdIsFinalAfterATimeAndAnotherAtOnce) {
  Registry registry;
  registry.knows = false;
  SchemaBook book(registry.Options(50ms));
  const auto before = std::chrono::steady_clock::now();
  const auto first = book.Find(1, MissingSchema::kWait);
  EXPECT_EQ(first.problem.kind, Kind::kUnknown);
  EXPECT_TRUE(first.is_final);
  EXPECT_GE(std::chrono::steady_clock::now() - before, 50ms);
  const int asked = registry.asked;
  EXPECT_GT(asked, 1) << "a registry's copy may know it later";
  EXPECT_TRUE(book.Find(2, MissingSchema::kWait).is_final);
  EXPECT_EQ(registry.asked, asked + 1) << "garbage has many ids, and none of them waits";
  ASSERT_EQ(book.Troubles().size(), 1U);
  EXPECT_NE(book.Troubles().front().find("doesn't know schemas 1, 2, so"), std::string::npos);
  // Ids of garbage don't fill the memory, and known ones stay.
  registry.knows = true;
  EXPECT_NE(book.Find(3, MissingSchema::kWait).schema, nullptr);
}

TEST(SchemaBook, AnUnknownIdIsAskedForAgainLater) {
  Registry registry;
  registry.knows = false;
  auto options = registry.Options(0ms);
  options.unknown_again = 5ms;
  SchemaBook book(std::move(options));
  EXPECT_TRUE(book.Find(1, MissingSchema::kWait).is_final);
  registry.knows = true;
  EXPECT_TRUE(Eventually([&] { return book.Find(1, MissingSchema::kGiveUp).schema != nullptr; }));
}

TEST(SchemaBook, ASchemaThatCannotBeUsedIsFinal) {
  Registry registry;
  SchemaBook book(registry.Options());
  EXPECT_EQ(book.Find(13, MissingSchema::kWait).problem.message, "no schema");
  EXPECT_NE(book.Find(1, MissingSchema::kWait).schema, nullptr);
  book.Refuse(1, {"input.fields.user_id", "leads nowhere"}, true);
  const auto refused = book.Find(1, MissingSchema::kWait);
  EXPECT_EQ(refused.schema, nullptr);
  EXPECT_EQ(refused.problem.path, "input.fields.user_id");
  EXPECT_EQ(registry.asked, 2);
  const std::vector<std::string> expected = {
      "records of schemas 1, 13 become dead letters. Schema 1: input.fields.user_id: leads nowhere"};
  EXPECT_EQ(book.Troubles(), expected);
}

TEST(SchemaBook, OneMessageThatDoesntFitLeavesTheOthers) {
  Registry registry;
  SchemaBook book(registry.Options());
  EXPECT_NE(book.Find(1, MissingSchema::kWait).schema, nullptr);
  book.Refuse(1, {"", "input.fields.user_id: leads nowhere"}, false);
  EXPECT_NE(book.Find(1, MissingSchema::kWait).schema, nullptr);
  EXPECT_EQ(book.Troubles().size(), 1U);
}

TEST(SchemaBook, EndsWhileTheRegistryIsAway) {
  Registry registry;
  registry.away = true;
  auto options = registry.Options();
  options.retry = 1h;
  SchemaBook book(std::move(options));
  EXPECT_FALSE(book.Find(1, MissingSchema::kGiveUp).is_final);
  EXPECT_TRUE(Eventually([&] { return registry.asked > 0; }));
}

}  // namespace
}  // namespace seen
