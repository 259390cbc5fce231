// The files of tests/golden/update, by what they say of themselves. schemas/update.md, "Golden files".

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "seen/filter_reader.h"
#include "seen/update.h"

namespace seen::client {
namespace {

using nlohmann::json;
using Ids = std::vector<std::string>;

json Contents(const std::string& file) {
  std::ifstream stream(std::string(SEEN_SOURCE_DIR) + "/tests/golden/update/" + file, std::ios::binary);
  EXPECT_TRUE(stream) << file;
  return json::parse(std::string{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()});
}

std::string FromBase64(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<std::uint32_t>(digits.find(c));
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xff);
  }
  return bytes;
}

json SectionsOf(const Update& update) {
  json sections = json::array();
  update.ForEachSection([&](const UpdateSection& section) {
    json entries = json::array();
    section.ForEach([&](const UpdateEntry& entry) {
      json fingerprints = json::array();
      for (std::uint32_t i = 0; i < entry.count; ++i)
        fingerprints.push_back(static_cast<std::uint32_t>(entry[i]));
      entries.push_back({{"user", std::to_string(entry.user)}, {"fingerprints", fingerprints}});
    });
    sections.push_back({{"mask", section.mask()},
                        {"kind", static_cast<int>(section.kind())},
                        {"until_s", section.until_s()},
                        {"entries", entries}});
  });
  return sections;
}

TEST(GoldenUpdates, AreReadAsTheIndexSays) {
  const json index = Contents("index.json");
  ASSERT_FALSE(index["records"].empty());
  for (const json& record : index["records"]) {
    SCOPED_TRACE(record["name"]);
    const std::string bytes = FromBase64(record["bytes"]);
    const auto update = Update::Parse(bytes);
    ASSERT_TRUE(update) << update.error().message;
    EXPECT_EQ(record["part"], update->part());
    EXPECT_EQ(record["partition"], update->partition());
    EXPECT_EQ(record["generation"], update->generation());
    EXPECT_EQ(record["from"], update->from());
    EXPECT_EQ(record["to"], update->to());
    EXPECT_EQ(record["as_of_ms"], update->as_of_ms());
    Ids filters;
    for (std::size_t i = 0; i < update->filter_count(); ++i) filters.emplace_back(update->filter(i));
    EXPECT_EQ(record["filters"].get<Ids>(), filters);
    EXPECT_TRUE(record["sections"] == SectionsOf(*update));
  }
}

/// Of "What to refuse".
int StepOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kNotAnUpdate:
    case ErrorCode::kCutOff:
      return 1;
    case ErrorCode::kUnknownVersion:
      return 2;
    case ErrorCode::kBadHeader:
      return 3;
    case ErrorCode::kWrongChecksum:
      return 4;
    case ErrorCode::kBadField:
      return 5;
    case ErrorCode::kBadNames:
      return 6;
    case ErrorCode::kUnknownKind:
    case ErrorCode::kBadSection:
      return 7;
    default:
      return 0;
  }
}

TEST(GoldenUpdates, WhatMustBeRefusedIsRefusedAtItsStep) {
  const json index = Contents("index.json");
  ASSERT_FALSE(index["refused"].empty());
  for (const json& record : index["refused"]) {
    const std::string bytes = FromBase64(record["bytes"]);
    const auto update = Update::Parse(bytes);
    ASSERT_FALSE(update) << record["name"] << ": " << record["why"];
    EXPECT_EQ(record["step"], StepOf(update.error().code))
        << record["name"] << ": " << update.error().message;
  }
}

/// Each id by itself, and all of them as candidates.
void ExpectUser(const json& its, const FilterReader& reader, TimeMs now) {
  const auto user = its["user"].get<std::string>();
  SCOPED_TRACE("user " + user);
  EXPECT_EQ(its["refused"], reader.IsRefused(user));
  const Ids seen = its["seen"], unseen = its["unseen"];
  for (const std::string& id : seen) EXPECT_TRUE(reader.MightContain(user, id, now)) << id;
  for (const std::string& id : unseen) EXPECT_FALSE(reader.MightContain(user, id, now)) << id;
  Ids candidates = seen;
  candidates.insert(candidates.end(), unseen.begin(), unseen.end());
  EXPECT_EQ(reader.Unseen(user, candidates, {}, now), unseen);
  for (const std::string id : its["near"]) EXPECT_TRUE(reader.MightBeNear(user, id, now)) << id;
  for (const std::string id : its["not_near"]) EXPECT_FALSE(reader.MightBeNear(user, id, now)) << id;
  for (const std::string id : its["groups"]) EXPECT_TRUE(reader.MightHoldGroup(user, id, now)) << id;
  for (const std::string id : its["not_groups"]) EXPECT_FALSE(reader.MightHoldGroup(user, id, now)) << id;
}

void Expect(const json& its, const FilterReader& reader) {
  for (const json& partition : its["partitions"]) {
    const auto number = partition["partition"].get<std::int32_t>();
    const auto as_of = reader.AsOf(number);
    EXPECT_EQ(partition["as_of_ms"], as_of ? json(as_of->time_since_epoch().count()) : json()) << partition;
    const auto complete_to = reader.CompleteTo(number);
    EXPECT_EQ(partition["complete_to"], complete_to ? json(*complete_to) : json()) << partition;
    EXPECT_EQ(partition.value("must_restart", false), reader.MustRestart(number)) << partition;
    EXPECT_EQ(partition.value("moved_to", ""), reader.MovedTo(number).value_or("")) << partition;
    const auto since = reader.CompleteSince(number);
    EXPECT_EQ(partition.value("complete_since_ms", std::int64_t{-1}),
              since ? since->time_since_epoch().count() : -1)
        << partition;
  }
  EXPECT_EQ(its["additions"], reader.additions());
  for (const json& user : its["users"])
    ExpectUser(user, reader, TimeMs(TimeMs::duration(its["now_ms"].get<std::int64_t>())));
}

/// Whether the reader refused it.
bool Take(const json& step, FilterReader& reader) {
  if (step.contains("beat")) {
    const auto value = step["beat"]["value"].get<std::string>();
    return reader.TakeBeat(step["beat"]["key"].get<std::string>(), value).has_value();
  }
  if (step.contains("update")) return reader.TakeUpdate(FromBase64(step["update"])).has_value();
  const json& snapshot = step["snapshot"];
  const auto user = snapshot["user"].get<std::string>();
  if (snapshot["value"].is_null())
    return reader.TakeSnapshot(snapshot["partition"], user, std::nullopt).has_value();
  return reader.TakeSnapshot(snapshot["partition"], user, FromBase64(snapshot["value"])).has_value();
}

TEST(GoldenUpdates, SequencesAreAnsweredStepByStep) {
  const json golden = Contents("sequences.json");
  ASSERT_FALSE(golden["sequences"].empty());
  for (const json& sequence : golden["sequences"]) {
    SCOPED_TRACE(sequence["name"]);
    FilterReader reader(sequence["filter"], {}, sequence["additions_max"], sequence.value("topic", ""));
    for (std::size_t i = 0; i < sequence["steps"].size(); ++i) {
      SCOPED_TRACE("step " + std::to_string(i));
      const json& step = sequence["steps"][i];
      if (step.contains("expect")) {
        Expect(step["expect"], reader);
      } else if (step.contains("end")) {
        reader.SnapshotsEnd(step["end"]["partition"], step["end"]["position"]);
      } else if (step.contains("restart")) {
        reader.SnapshotsRestart(step["restart"]);
      } else {
        EXPECT_EQ(Take(step, reader), step.value("refused", false));
      }
    }
  }
}

}  // namespace
}  // namespace seen::client
