#include "tools/load/exposure_generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "decode/event_decoder.h"

namespace seen {
namespace {

std::string Stream(const GeneratorOptions& options, int events) {
  ExposureGenerator generator(options);
  std::string bytes;
  for (int i = 0; i < events; ++i)
    bytes.append(generator.Next({1'763'700'000'000 + i}).payload).push_back('\n');
  return bytes;
}

TEST(ExposureGenerator, GivesTheSameBytesForTheSameSeed) {
  for (const uint32_t batch : {1u, 5u}) {
    const GeneratorOptions options{.users = 1000, .items = 1000, .seed = 7, .items_per_event = batch};
    GeneratorOptions other = options;
    other.seed = 8;
    EXPECT_EQ(Stream(options, 5000), Stream(options, 5000));
    EXPECT_NE(Stream(options, 5000), Stream(other, 5000));
  }
}

// Benchmarks and their oracles compare streams of different versions.
TEST(ExposureGenerator, GivesTheSameBytesAsEveryVersionBefore) {
  constexpr uint64_t kAll = uint64_t{1} << 32;
  const std::vector<std::pair<GeneratorOptions, uint64_t>> cases = {
      {{}, 0xc722ff0f4fceb65eu},
      {{.users = 1'000'000, .seed = 2, .sessions = 20'000}, 0xdb54b59cc8bc8fd1u},
      {{.users = 50, .items_per_event = 6, .sessions = 7}, 0x5a01199be815013cu},
      {{.items = 30, .items_per_event = 20, .user_skew = 1, .item_skew = 2.5, .event_bytes = 700},
       0x21cef65cba2e8200u},
      {{.users = 1, .items = 1}, 0x21960d03a478303fu},
      {{.users = kAll, .items = kAll, .user_skew = 1.3, .item_skew = 0.1}, 0x68a875e48b6a687fu},
  };
  for (const auto& [options, expected] : cases) {
    ExposureGenerator generator(options);
    uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
    const auto add = [&](std::string_view bytes) {
      for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
    };
    for (int i = 0; i < 30'000; ++i) {
      const auto generated = generator.Next({1'763'700'000'000 + i});
      add(generated.user_id);
      add(generated.payload);
    }
    EXPECT_EQ(hash, expected) << options.users << " users, " << options.items << " items";
  }
}

TEST(ExposureGenerator, WritesEventsOfAbout150BytesThatTheDecoderTakes) {
  ExposureGenerator generator({.users = 500, .items = 2000});
  EventDecoder decoder(1 << 20);
  for (int i = 0; i < 5000; ++i) {
    const auto generated = generator.Next({1'763'700'000'000 + i});
    EXPECT_NEAR(static_cast<double>(generated.payload.size()), 145, 20);
    const auto event = decoder.Decode(generated.payload);
    ASSERT_TRUE(event) << generated.payload << ": " << event.error().message;
    EXPECT_EQ(event->user_id, generated.user_id);
    EXPECT_EQ(event->exposed_at.value, 1'763'700'000'000 + i);
    EXPECT_EQ(event->items.size(), 1u);
    EXPECT_EQ(generated.items, 1u);
  }
}

TEST(ExposureGenerator, MakesEventsAsLongAsAskedWithoutChangingWhatTheyTell) {
  ExposureGenerator plain({.users = 500}), padded({.users = 500, .event_bytes = 1000});
  EventDecoder decoder(1 << 20);
  for (int i = 0; i < 1000; ++i) {
    const auto expected = plain.Next({1'763'700'000'000});
    const auto generated = padded.Next({1'763'700'000'000});
    EXPECT_EQ(generated.payload.size(), 1000u);
    const std::string_view head = expected.payload.substr(0, expected.payload.size() - 1);
    EXPECT_TRUE(generated.payload.starts_with(head)) << generated.payload;
    ASSERT_TRUE(decoder.Decode(generated.payload)) << generated.payload;
  }
}

TEST(ExposureGenerator, SpreadsEventsOverAsManySessionsAsAsked) {
  for (const uint64_t sessions : {10u, 10'000u}) {
    ExposureGenerator generator({.users = 1'000'000, .sessions = sessions});
    std::set<std::string> users;
    for (int i = 0; i < 100; ++i) users.emplace(generator.Next({1'763'700'000'000}).user_id);
    EXPECT_EQ(users.size() > 50, sessions > 50) << users.size() << " users of " << sessions << " sessions";
  }
}

TEST(ExposureGenerator, PutsAsManyItemsIntoABatchEventAsItSays) {
  ExposureGenerator generator({.users = 500, .items = 2000, .items_per_event = 6});
  EventDecoder decoder(1 << 20);
  uint64_t items = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto generated = generator.Next({1'763'700'000'000});
    const auto event = decoder.Decode(generated.payload);
    ASSERT_TRUE(event) << generated.payload << ": " << event.error().message;
    EXPECT_EQ(event->items.size(), generated.items);
    EXPECT_LE(generated.items, 6u);
    items += generated.items;
  }
  EXPECT_GT(items, 2000u * 4);
}

TEST(ExposureGenerator, MakesSessionsOf10To20DistinctItemsInOrderOfPosition) {
  ExposureGenerator generator({.users = 300, .items = 100'000});
  struct Session {
    std::string user;
    std::set<std::string> items;
    uint32_t shown = 0;
  };
  std::map<std::string, Session> sessions;
  for (int i = 0; i < 40'000; ++i) {
    const auto event = nlohmann::json::parse(generator.Next({1'763'700'000'000}).payload);
    Session& session = sessions[event["request_id"].get<std::string>()];
    if (session.shown == 0) session.user = event["user_id"].get<std::string>();
    EXPECT_EQ(session.user, event["user_id"].get<std::string>());
    EXPECT_EQ(event["position"].get<uint32_t>(), ++session.shown);
    EXPECT_TRUE(session.items.insert(event["item_id"].get<std::string>()).second)
        << "shown twice on one page";
  }
  size_t whole = 0;
  std::set<uint32_t> lengths;
  for (const auto& [request, session] : sessions) {
    EXPECT_LE(session.shown, 20u);
    if (session.shown >= 10) {
      ++whole;
      lengths.insert(session.shown);
    }
  }
  EXPECT_GT(whole, sessions.size() * 8 / 10) << "all but those under way at the end are whole";
  EXPECT_EQ(lengths.size(), 11u) << "every length from 10 to 20 occurs";
}

TEST(ZipfDistribution, DrawsRanksInProportionToThePowerOfTheirRank) {
  for (const double skew : {0.6, 0.9, 1.0, 1.3}) {
    constexpr uint64_t kCount = 1000;
    constexpr int kDraws = 400'000;
    ZipfDistribution distribution(kCount, skew);
    Random random(42);
    std::vector<int> counts(kCount + 1);
    for (int i = 0; i < kDraws; ++i) {
      const uint64_t rank = distribution(random);
      ASSERT_GE(rank, 1u);
      ASSERT_LE(rank, kCount);
      ++counts[rank];
    }
    double norm = 0;
    for (uint64_t rank = 1; rank <= kCount; ++rank) norm += std::pow(rank, -skew);
    for (const uint64_t rank : {1u, 2u, 3u, 10u, 100u}) {
      const double expected = kDraws * std::pow(rank, -skew) / norm;
      EXPECT_NEAR(counts[rank], expected, 6 * std::sqrt(expected)) << "rank " << rank << ", skew " << skew;
    }
  }
}

TEST(ZipfDistribution, OfOneRankDrawsIt) {
  ZipfDistribution distribution(1, 0.8);
  Random random(1);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(distribution(random), 1u);
}

TEST(ExposureGenerator, WorksWithFewerItemsThanASessionShows) {
  ExposureGenerator generator({.users = 1, .items = 1});
  for (int i = 0; i < 100; ++i) EXPECT_EQ(generator.Next({1}).items, 1u);
}

TEST(ExposureGenerator, NamesAnOptionThatIsOutOfRange) {
  const auto error = ExposureGenerator::Validate({.items_per_event = 21});
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().message, "--batch: 21 is outside 1 to 20");
  EXPECT_FALSE(ExposureGenerator::Validate({.users = 0}));
  EXPECT_FALSE(ExposureGenerator::Validate({.items = 0}));
  EXPECT_FALSE(ExposureGenerator::Validate({.user_skew = 0}));
  EXPECT_FALSE(ExposureGenerator::Validate({.item_skew = 99}));
  EXPECT_TRUE(ExposureGenerator::Validate({}));
}

}  // namespace
}  // namespace seen
