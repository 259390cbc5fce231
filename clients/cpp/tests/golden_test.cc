// Every file of tests/golden/snapshot, by what its index says.

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "seen/snapshot.h"

namespace seen::client {
namespace {

using nlohmann::json;

const std::string kFolder = std::string(SEEN_SOURCE_DIR) + "/tests/golden/snapshot/";

std::string Contents(const std::string& file) {
  std::ifstream stream(kFolder + file, std::ios::binary);
  EXPECT_TRUE(stream) << file;
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

const json& Index() {
  static const json index = json::parse(Contents("index.json"));
  return index;
}

std::string Hex(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(value));
  return text;
}

/// Absent: nothing to compare with, not a failure.
template <typename T>
void ExpectMember(const json& entry, const char* name, T actual) {
  if (!entry.contains(name)) return;
  EXPECT_EQ(entry[name].get<T>(), actual) << name;
}

void ExpectMetadata(const json& entry, const Snapshot& snapshot) {
  ASSERT_TRUE(entry.contains("format") && entry.contains("item_count"));
  EXPECT_EQ(entry["format"], std::string(NameOf(snapshot.format())));
  EXPECT_EQ(entry["item_count"], snapshot.item_count());
  ExpectMember<std::int64_t>(entry, "as_of_ms", snapshot.as_of().time_since_epoch().count());
  ExpectMember<std::int32_t>(entry, "horizon_day", snapshot.horizon().time_since_epoch().count());
  ExpectMember<std::int32_t>(entry, "partition", snapshot.partition());
  ExpectMember<std::int64_t>(entry, "input_offset", snapshot.input_offset());
  ExpectMember<double>(entry, "false_positive_rate", snapshot.false_positive_rate());
  if (entry.contains("recall_size")) {
    for (const auto& [want, size] : entry["recall_size"].items()) {
      EXPECT_EQ(snapshot.RecallSize(std::stoull(want)), size.get<std::uint64_t>()) << want;
    }
  }
}

void ExpectAnswers(const json& entry, const Snapshot& snapshot) {
  for (const json& id : entry["seen"]) EXPECT_TRUE(snapshot.MightContain(id.get<std::string>())) << id;
  for (const json& id : entry["unseen"]) EXPECT_FALSE(snapshot.MightContain(id.get<std::string>())) << id;
  const auto unseen = entry["unseen"].get<std::vector<std::string>>();
  auto candidates = entry["seen"].get<std::vector<std::string>>();
  candidates.insert(candidates.end(), unseen.begin(), unseen.end());
  EXPECT_EQ(snapshot.Unseen(candidates), unseen);
}

void ExpectRandomAnswers(const json& random, const Snapshot& snapshot) {
  std::string answers;
  std::vector<Fingerprint> fingerprints;
  std::uint64_t yes = 0;
  for (std::uint32_t i = 0; i < random["count"].get<std::uint32_t>(); ++i) {
    const char bytes[4] = {static_cast<char>(i & 0xff), static_cast<char>(i >> 8 & 0xff),
                           static_cast<char>(i >> 16 & 0xff), static_cast<char>(i >> 24)};
    const std::uint64_t id = XXH64(bytes, sizeof(bytes), 0);
    fingerprints.push_back(FingerprintOf(id));
    answers += static_cast<char>(snapshot.MightContain(id) ? 1 : 0);
    yes += snapshot.MightContain(id) ? 1U : 0U;
  }
  EXPECT_EQ(random["might_contain"].get<std::uint64_t>(), yes);
  EXPECT_EQ(random["xxh64_of_answers"].get<std::string>(), Hex(XXH64(answers.data(), answers.size(), 0)));
  std::vector<std::uint8_t> each(fingerprints.size());
  snapshot.MightContainEach(fingerprints.data(), each.size(), each.data());
  EXPECT_EQ(std::string(each.begin(), each.end()), answers);
}

TEST(Golden, IdsHashAsTheIndexSays) {
  ASSERT_FALSE(Index()["hashes"].empty());
  for (const json& entry : Index()["hashes"]) {
    const auto id = entry["id"].get<std::string>();
    const Fingerprint fingerprint = FingerprintOf(id);
    EXPECT_EQ(entry["fingerprint"], static_cast<std::uint32_t>(fingerprint)) << id;
    EXPECT_EQ(entry["xxh64_of_fingerprint"], Hex(internal::HashOf(fingerprint))) << id;
  }
}

TEST(Golden, SnapshotsAnswerAsTheIndexSays) {
  ASSERT_FALSE(Index()["snapshots"].empty());
  for (const json& entry : Index()["snapshots"]) {
    const auto file = entry["file"].get<std::string>();
    SCOPED_TRACE(file);
    const std::string bytes = Contents(file);
    const auto snapshot = Snapshot::Parse(bytes);
    ASSERT_TRUE(snapshot) << snapshot.error().message;
    ExpectMetadata(entry, *snapshot);
    ExpectAnswers(entry, *snapshot);
    if (entry.contains("random")) ExpectRandomAnswers(entry["random"], *snapshot);
  }
}

TEST(Golden, WhatMustBeRefusedIsRefused) {
  ASSERT_FALSE(Index()["refused"].empty());
  for (const json& entry : Index()["refused"]) {
    const auto file = entry["file"].get<std::string>();
    const std::string bytes = Contents(file);
    const auto snapshot = Snapshot::Parse(bytes);
    ASSERT_FALSE(snapshot) << file << ": " << entry["why"];
    EXPECT_FALSE(snapshot.error().message.empty());
  }
}

}  // namespace
}  // namespace seen::client
