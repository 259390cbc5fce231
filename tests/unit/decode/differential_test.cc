// The decoder against a second reading of the same rules, written over another JSON library.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "decode/event_decoder.h"
#include "unit/decode/event_cases.h"

namespace seen {
namespace {

using nlohmann::json;
using Random = std::mt19937_64;

struct Read {
  std::string user_id;
  int64_t exposed_at = 0;
  std::vector<std::string> item_ids;
  friend bool operator==(const Read&, const Read&) = default;
};

std::optional<std::string> OracleId(const json& value) {
  if (value.is_number_unsigned()) return std::to_string(value.get<uint64_t>());
  if (value.is_number_integer()) return std::to_string(value.get<int64_t>());
  if (!value.is_string()) return std::nullopt;
  auto id = value.get<std::string>();
  if (id.empty() || id.size() > kIdBytesMax) return std::nullopt;
  return id;
}

bool OracleNullable(const json& event, const char* name, bool integer) {
  if (!event.contains(name) || event[name].is_null()) return true;
  if (!integer) return event[name].is_string();
  // An integer beyond 64 bits is a float to this library: not 64 bits either way.
  return event[name].is_number_integer();
}

std::optional<Read> OracleDecode(const std::string& payload, size_t event_bytes_max) {
  if (payload.size() > event_bytes_max) return std::nullopt;
  // This library takes a zero byte for the end of the text.
  if (payload.find('\0') != std::string::npos) return std::nullopt;
  const json event = json::parse(payload, nullptr, /*allow_exceptions=*/false);
  if (!event.is_object()) return std::nullopt;
  if (!event.contains("user_id") || !event.contains("exposed_at")) return std::nullopt;
  if (event.contains("item_id") == event.contains("items")) return std::nullopt;

  Read read;
  const auto user = OracleId(event["user_id"]);
  if (!user) return std::nullopt;
  read.user_id = *user;

  const json& time = event["exposed_at"];
  if (!time.is_number_integer()) return std::nullopt;
  if (time.is_number_unsigned() ? time.get<uint64_t>() >= 4'294'967'296'000U : time.get<int64_t>() < 0) {
    return std::nullopt;
  }
  read.exposed_at = time.get<int64_t>();

  if (!OracleNullable(event, "scene", false) || !OracleNullable(event, "request_id", false) ||
      !OracleNullable(event, "position", true)) {
    return std::nullopt;
  }
  json items = json::array();
  if (event.contains("items")) {
    items = event["items"];
    if (!items.is_array()) return std::nullopt;
  } else {
    items.push_back(json{{"item_id", event["item_id"]}});
  }
  if (items.empty() || items.size() > 10'000) return std::nullopt;
  for (const json& item : items) {
    if (item.is_object() && (!item.contains("item_id") || !OracleNullable(item, "position", true)))
      return std::nullopt;
    const auto id = OracleId(item.is_object() ? item["item_id"] : item);
    if (!id) return std::nullopt;
    read.item_ids.push_back(*id);
  }
  return read;
}

/// True if the event was accepted.
bool CompareOneWay(EventDecoder& decoder, const std::string& payload, size_t event_bytes_max) {
  const auto expected = OracleDecode(payload, event_bytes_max);
  const auto event = decoder.Decode(payload);
  EXPECT_EQ(event.has_value(), expected.has_value())
      << payload << "\n"
      << (event ? std::string("accepted") : event.error().message);
  if (!event || !expected) return false;
  Read read{std::string(event->user_id), event->exposed_at.value, {}};
  for (const ExposedItem& item : event->items) {
    read.item_ids.emplace_back(item.item_id);
    EXPECT_EQ(item.fingerprint, FingerprintOf(item.item_id));
  }
  EXPECT_EQ(read, *expected) << payload;
  return true;
}

/// Compares both ways of reading: a byte-order mark is skipped, and what begins with one isn't plain.
bool Compare(EventDecoder& decoder, const std::string& payload, size_t event_bytes_max) {
  CompareOneWay(decoder, "\xef\xbb\xbf" + payload, event_bytes_max);
  return CompareOneWay(decoder, payload, event_bytes_max);
}

std::string_view PickOne(Random& random, std::span<const std::string_view> choices) {
  return choices[random() % choices.size()];
}

/// Pieces of JSON that events are made of, and mutated with.
std::string_view Piece(Random& random) {
  static constexpr std::string_view kPieces[] = {R"("user_id")",
                                                 R"("item_id")",
                                                 R"("items")",
                                                 R"("exposed_at")",
                                                 R"("scene")",
                                                 R"("position")",
                                                 R"("request_id")",
                                                 R"("other")",
                                                 R"("\u0069tems")",
                                                 "null",
                                                 "true",
                                                 "{}",
                                                 "[]",
                                                 "\"\"",
                                                 "0",
                                                 "-0",
                                                 "-1",
                                                 "1.5",
                                                 "1.0",
                                                 "1e3",
                                                 "1E+2",
                                                 "1763700000123",
                                                 "4294967295999",
                                                 "4294967296000",
                                                 "9223372036854775807",
                                                 "9223372036854775808",
                                                 "-9223372036854775808",
                                                 "-9223372036854775809",
                                                 "18446744073709551615",
                                                 "18446744073709551616",
                                                 "100000000000000000000000",
                                                 "1e400",
                                                 "-",
                                                 "01",
                                                 ".5",
                                                 R"("u1")",
                                                 R"("曝光")",
                                                 R"("\ud83c\udfac")",
                                                 R"("\ud83c")",
                                                 R"("\udfac")",
                                                 R"("\u0000")",
                                                 R"("a\\")",
                                                 R"("\"")",
                                                 R"("\q")",
                                                 "\"\xff\"",
                                                 "\"\xed\xa0\x80\"",
                                                 "\"\t\"",
                                                 "{",
                                                 "}",
                                                 "[",
                                                 "]",
                                                 ",",
                                                 ":",
                                                 "\"",
                                                 "\\",
                                                 " ",
                                                 "\n",
                                                 "\xef\xbb\xbf",
                                                 "[1,\"n2\"]",
                                                 R"([{"item_id":"n3"}])",
                                                 R"({"item_id":7,"position":1})"};
  return PickOne(random, kPieces);
}

std::string MutatedEvent(Random& random, std::string text) {
  for (auto edits = 1 + random() % 2; edits > 0 && !text.empty(); --edits) {
    const size_t at = random() % (text.size() + 1);
    const size_t length = random() % std::min<size_t>(text.size() - at + 1, 12);
    switch (random() % 5) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(at, length));
        break;
      case 3:
        text.insert(at, Piece(random));
        break;
      default:
        text.replace(at, length, Piece(random));
    }
  }
  return text;
}

/// A JSON object of likely members with likely and unlikely values.
std::string MadeEvent(Random& random) {
  static constexpr std::string_view kIds[] = {R"("u1")",     "7",        R"("曝光")", "18446744073709551615",
                                              R"("\u0000")", R"("a b")", "-5"};
  static constexpr std::string_view kTimes[] = {"0", "1763700000123", "4294967295999", "1"};
  const auto value = [&](std::span<const std::string_view> likely) {
    return std::string(random() % 12 == 0 ? Piece(random) : PickOne(random, likely));
  };
  std::vector<std::string> members;
  if (random() % 16 != 0) members.push_back(R"("user_id":)" + value(kIds));
  if (random() % 16 != 0) members.push_back(R"("exposed_at":)" + value(kTimes));
  if (random() % 2 == 0) {
    members.push_back(R"("item_id":)" + value(kIds));
  } else {
    std::string items;
    for (auto count = random() % 6; count > 0; --count) {
      if (!items.empty()) items += ',';
      const std::string id = value(kIds);
      items += random() % 2 == 0 ? id : R"({"item_id":)" + id + R"(,"position":3})";
    }
    members.push_back(R"("items":[)" + items + "]");
  }
  for (auto more = random() % 3; more > 0; --more) {
    members.push_back(std::string(Piece(random)) + ":" + std::string(Piece(random)));
  }
  std::shuffle(members.begin(), members.end(), random);
  std::string event = "{";
  for (const std::string& member : members) event += (event.size() > 1 ? "," : "") + member;
  return event + "}";
}

TEST(EventDecoder, AgreesWithAnotherLibraryOnTheTable) {
  EventDecoder decoder(kCaseEventBytesMax);
  for (const EventCase& c : EventCases()) {
    if (c.name == "nested too deeply") continue;  // that library nests without limit
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Compare(decoder, c.payload, kCaseEventBytesMax), !c.reason);
  }
}

TEST(EventDecoder, AgreesWithAnotherLibraryOnMutatedEvents) {
  std::vector<std::string> seeds;
  for (const EventCase& c : EventCases()) {
    // Good ones more often: most edits make a bad one.
    if (c.payload.size() < 600) seeds.insert(seeds.end(), c.reason ? 1 : 6, c.payload);
  }
  EventDecoder decoder(8192);
  size_t accepted = 0;
  constexpr size_t kRounds = 40'000;
  for (uint64_t seed = 0; seed < kRounds && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    accepted += Compare(decoder, MutatedEvent(random, seeds[random() % seeds.size()]), 8192);
  }
  EXPECT_GT(accepted, kRounds / 20);
}

TEST(EventDecoder, AgreesWithAnotherLibraryOnMadeEvents) {
  EventDecoder decoder(8192);
  size_t accepted = 0;
  constexpr size_t kRounds = 40'000;
  for (uint64_t seed = 0; seed < kRounds && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    accepted += Compare(decoder, MadeEvent(random), 8192);
  }
  EXPECT_GT(accepted, kRounds / 5);
}

}  // namespace
}  // namespace seen
