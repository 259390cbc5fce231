// Every file of tests/golden/snapshot, by what its index says.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "seen/snapshot.h"
#include "seen/watermarks.h"

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

void ExpectRecallSizes(const json& sizes, const Snapshot& snapshot, const AlsoSeen& also_seen) {
  for (const auto& [want, size] : sizes.items()) {
    if (want[0] == '-') continue;  // what this reader takes has no sign
    EXPECT_EQ(snapshot.RecallSize(std::stoull(want), also_seen), size.get<std::uint64_t>()) << want;
  }
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
    ExpectRecallSizes(entry["recall_size"], snapshot, {});
  }
}

void ExpectAnswers(const json& entry, const Snapshot& snapshot) {
  for (const json& id : entry["seen"]) EXPECT_TRUE(snapshot.MightContain(id.get<std::string>())) << id;
  for (const json& id : entry["unseen"]) EXPECT_FALSE(snapshot.MightContain(id.get<std::string>())) << id;
  const auto unseen = entry["unseen"].get<std::vector<std::string>>();
  auto candidates = entry["seen"].get<std::vector<std::string>>();
  candidates.insert(candidates.end(), unseen.begin(), unseen.end());
  EXPECT_EQ(snapshot.Unseen(candidates), unseen);
  for (const std::string& id : unseen) EXPECT_TRUE(snapshot.Details(id).empty()) << id;
  for (const char* list : {"seen_fingerprints", "unseen_fingerprints"}) {
    if (!entry.contains(list)) continue;
    for (const json& value : entry[list]) {
      const Fingerprint fingerprint{value.get<std::uint32_t>()};
      EXPECT_EQ(snapshot.MightContain(fingerprint), list[0] == 's') << value;
    }
  }
}

/// The fingerprints of the ids that every snapshot is asked about.
const std::vector<Fingerprint>& RandomIds(std::uint32_t count) {
  static std::vector<Fingerprint> fingerprints;
  for (auto i = static_cast<std::uint32_t>(fingerprints.size()); i < count; ++i) {
    const char bytes[4] = {static_cast<char>(i & 0xff), static_cast<char>(i >> 8 & 0xff),
                           static_cast<char>(i >> 16 & 0xff), static_cast<char>(i >> 24)};
    fingerprints.push_back(FingerprintOf(XXH64(bytes, sizeof(bytes), 0)));
  }
  return fingerprints;
}

void ExpectRandomAnswers(const json& random, const Snapshot& snapshot, const DayLimits& limits = {}) {
  const auto count = random["count"].get<std::uint32_t>();
  const std::vector<Fingerprint>& ids = RandomIds(count);
  std::string answers;
  for (std::uint32_t i = 0; i < count; ++i) {
    answers += static_cast<char>(snapshot.MightContain(ids[i], limits) ? 1 : 0);
  }
  EXPECT_EQ(random["might_contain"], std::count(answers.begin(), answers.end(), 1));
  EXPECT_EQ(random["xxh64_of_answers"], Hex(XXH64(answers.data(), answers.size(), 0)));
  std::vector<std::uint8_t> each(count);
  snapshot.MightContainEach(ids.data(), count, each.data(), limits);
  EXPECT_EQ(std::string(each.begin(), each.end()), answers);
}

/// What a day chain answers where days are left out.
void ExpectDays(const json& entry, const Snapshot& snapshot) {
  const auto second = [](std::int64_t seconds) { return TimeMs(TimeMs::duration(1000 * seconds)); };
  if (entry.contains("random_created")) {
    ExpectRandomAnswers(entry["random_created"], snapshot,
                        {second(entry["created_second"]), Day(Days::min())});
  }
  if (entry.contains("random_from")) {
    ExpectRandomAnswers(entry["random_from"], snapshot, {TimeMs(), Day(Days(entry["from_day"].get<int>()))});
  }
  for (const json& day : entry["days"]) {
    const DayLimits just_in = {second(day["last_second"]), Day(Days(day["day"].get<int>()))};
    for (const json& id : day["seen"])
      EXPECT_TRUE(snapshot.MightContain(id.get<std::string>(), just_in)) << id;
  }
  if (!entry.contains("unseen_created")) return;
  const DayLimits created = {second(entry["created_second"]), Day(Days::min())};
  for (const json& id : entry["unseen_created"])
    EXPECT_FALSE(snapshot.MightContain(id.get<std::string>(), created)) << id;
  const DayLimits from = {TimeMs(), Day(Days(entry["from_day"].get<int>()))};
  for (const json& id : entry["unseen_from"])
    EXPECT_FALSE(snapshot.MightContain(id.get<std::string>(), from)) << id;
}

/// The entries that an indexed cuckoo filter leads to: of each id all that are listed, and no other.
void ExpectEntries(const json& entries, const Snapshot& snapshot) {
  using Entries = std::multiset<std::tuple<std::uint32_t, json, json>>;  // number; day and rank, or null
  std::map<std::string, Entries> listed;
  for (const json& entry : entries) {
    listed[entry["id"]].emplace(entry["number"], entry["day"], entry["rank"]);
  }
  for (const auto& [id, expected] : listed) {
    Entries found;
    for (const EntryDetails& details : snapshot.Details(id)) {
      if (details.day) {
        found.emplace(details.number, details.day->time_since_epoch().count(), details.rank);
      } else {
        found.emplace(details.number, nullptr, nullptr);
        EXPECT_EQ(details.rank, 0U);
      }
    }
    EXPECT_EQ(found, expected) << id;
  }
}

/// `one` and `each` ask for one id or fingerprint, and for many.
template <typename One, typename Each>
void ExpectSimilarAnswers(const json& yes, const json& no, const json& random, One one, Each each) {
  for (const json& id : yes) EXPECT_TRUE(one(id.get<std::string>())) << id;
  for (const json& id : no) EXPECT_FALSE(one(id.get<std::string>())) << id;
  const auto count = random["count"].get<std::uint32_t>();
  const std::vector<Fingerprint>& ids = RandomIds(count);
  std::vector<std::uint8_t> answers(count);
  each(ids.data(), count, answers.data());
  for (std::uint32_t i = 0; i < 1000; ++i) EXPECT_EQ(answers[i] != 0, one(ids[i]));
  EXPECT_EQ(random["might_contain"], std::count(answers.begin(), answers.end(), 1));
  EXPECT_EQ(random["xxh64_of_answers"], Hex(XXH64(answers.data(), answers.size(), 0)));
}

void ExpectSimilar(const json& entry, const Snapshot& snapshot) {
  EXPECT_EQ(snapshot.has_similar(), entry.contains("similar_format"));
  if (!entry.contains("similar_format")) {
    EXPECT_FALSE(snapshot.MightBeNear("n1"));
    EXPECT_FALSE(snapshot.MightHoldGroup(1));
    EXPECT_EQ(snapshot.similar_count(), 0U);
    return;
  }
  EXPECT_EQ(entry["similar_format"], std::string(NameOf(snapshot.similar_format())));
  EXPECT_EQ(entry["similar_count"], snapshot.similar_count());
  ExpectSimilarAnswers(
      entry["near"], entry["not_near"], entry["random_near"],
      [&](const auto& id) { return snapshot.MightBeNear(id); },
      [&](auto... arguments) { snapshot.MightBeNearEach(arguments...); });
  ExpectSimilarAnswers(
      entry["groups"], entry["not_groups"], entry["random_groups"],
      [&](const auto& id) { return snapshot.MightHoldGroup(id); },
      [&](auto... arguments) { snapshot.MightHoldGroupEach(arguments...); });
  const auto near = entry["near"].get<std::vector<std::string>>();
  std::vector<std::uint8_t> answers(near.size());
  snapshot.MightBeNearEach(near.data(), near.size(), answers.data());
  EXPECT_EQ(answers, std::vector<std::uint8_t>(near.size(), 1));
}

TEST(Golden, IdsHashAsTheIndexSays) {
  ASSERT_FALSE(Index()["hashes"].empty());
  for (const json& entry : Index()["hashes"]) {
    const auto id = entry["id"].get<std::string>();
    const Fingerprint fingerprint = FingerprintOf(id);
    EXPECT_EQ(entry["fingerprint"], static_cast<std::uint32_t>(fingerprint)) << id;
    EXPECT_EQ(entry["xxh64_of_fingerprint"], Hex(internal::HashOf(fingerprint))) << id;
    const auto near = internal::InDomain(fingerprint, internal::kNearDomain);
    const auto group = internal::InDomain(fingerprint, internal::kGroupDomain);
    EXPECT_EQ(entry["near_fingerprint"], static_cast<std::uint32_t>(near)) << id;
    EXPECT_EQ(entry["group_fingerprint"], static_cast<std::uint32_t>(group)) << id;
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
    ExpectSimilar(entry, *snapshot);
    if (entry.contains("days")) ExpectDays(entry, *snapshot);
    if (entry.contains("entries")) ExpectEntries(entry["entries"], *snapshot);
  }
}

/// Of "What to refuse".
int StepOf(const Error& error) {
  const auto says = [&](const char* text) { return error.message.find(text) != std::string::npos; };
  switch (error.code) {
    case ErrorCode::kNotASnapshot:
    case ErrorCode::kCutOff:
      return 1;
    case ErrorCode::kUnknownVersion:
      return 2;
    case ErrorCode::kBadHeader:
      return says("similar_bytes") || says("with flags bit 0") ? 8 : 3;
    case ErrorCode::kWrongLength:
      return 4;
    case ErrorCode::kWrongChecksum:
      return 5;
    case ErrorCode::kUnknownFormat:
      return says("similar_format") ? 8 : 6;
    case ErrorCode::kUnknownHash:
    case ErrorCode::kUnknownFlags:
    case ErrorCode::kNeedsUpdates:
      return 6;
    case ErrorCode::kBadRate:
      return 7;
    case ErrorCode::kBadPayload:
      return 9;
    default:
      break;
  }
  return 0;
}

TEST(Golden, WhatMustBeRefusedIsRefusedAtItsStep) {
  ASSERT_FALSE(Index()["refused"].empty());
  for (const json& entry : Index()["refused"]) {
    const auto file = entry["file"].get<std::string>();
    const std::string bytes = Contents(file);
    const auto snapshot = Snapshot::Parse(bytes);
    ASSERT_FALSE(snapshot) << file << ": " << entry["why"];
    EXPECT_EQ(entry["step"], StepOf(snapshot.error())) << file << ": " << snapshot.error().message;
  }
}

TEST(Golden, WatermarksAreTakenOrRefusedAndThenAnswered) {
  const json golden = json::parse(Contents("watermarks.json"));
  const auto text = [](const json& value, std::size_t spaces) {
    std::optional<std::string> bytes;
    if (!value.is_null()) bytes = value.get<std::string>() + std::string(spaces, ' ');
    return bytes;
  };
  for (const json& one : golden["cases"]) {
    SCOPED_TRACE(one["note"]);
    Watermarks watermarks;
    for (const json& record : one["records"]) {
      const auto key = text(record["key"], 0);
      const auto value = text(record["value"], record.value("spaces", std::size_t{0}));
      const std::size_t before = watermarks.size();
      const auto refused = watermarks.Apply(key, value);
      EXPECT_EQ(refused.has_value(), record["refused"].get<bool>()) << record.dump().substr(0, 300);
      if (refused) {
        EXPECT_EQ(watermarks.size(), before);
      }
    }
    const TimeMs now{TimeMs::duration(one["now_ms"])};
    EXPECT_EQ(watermarks.size(), one["watermarks"].size());
    for (const json& row : one["watermarks"]) {
      const Watermark* const watermark = watermarks.Of(row["partition"]);
      ASSERT_NE(watermark, nullptr) << row;
      EXPECT_EQ(row["as_of_ms"], watermark->AsOf().time_since_epoch().count());
      EXPECT_EQ(row["stale_by_ms"], watermark->StaleBy(now).count());
    }
    for (const json& row : one["snapshots"]) {
      const auto snapshot = Snapshot::ParseCopy(Contents(row["file"]));
      ASSERT_TRUE(snapshot);
      EXPECT_EQ(row["as_of_ms"], watermarks.AsOf(*snapshot).time_since_epoch().count());
      EXPECT_EQ(row["stale_by_ms"], watermarks.StaleBy(*snapshot, now).count());
    }
  }
}

TEST(Golden, IdsThatAreSeenBesidesCount) {
  const json golden = json::parse(Contents("also_seen.json"));
  ASSERT_FALSE(golden["cases"].empty());
  for (const json& one : golden["cases"]) {
    SCOPED_TRACE(one["note"]);
    using Ids = std::vector<std::string>;
    const auto snapshot = Snapshot::ParseCopy(Contents(one["file"]));
    ASSERT_TRUE(snapshot);
    const AlsoSeen also_seen(one["also_seen"].get<Ids>());
    EXPECT_EQ(snapshot->Unseen(one["candidates"].get<Ids>(), also_seen), one["unseen"].get<Ids>());
    ExpectRecallSizes(one["recall_size"], *snapshot, also_seen);
  }
}

}  // namespace
}  // namespace seen::client
