// Compares the decoder with a second reader of the same rules, which uses another JSON library.

#include <gtest/gtest.h>

#include <random>

#include "decode/event_decoder.h"
#include "unit/decode/event_cases.h"
#include "unit/decode/format_of.h"
#include "unit/decode/second_reading.h"

namespace seen {
namespace {

using Random = std::mt19937_64;

/// A way to write events. The pieces below have the names of all ways.
struct Way {
  const char* name;
  EventFormat format;
};

EventFormat Everything() {
  EventFormat format;
  format.wanted = {true, true, true, true, true};
  format.declared_kinds = {{"clicked", EventKind{kDeclaredKindFirst}}};
  return format;
}

/// All fields are at the top of the event: the decoder reads such events in one pass.
EventFormat Renamed() {
  EventFormat format = Everything();
  SetField(format, Field::kUserId, "/uid");
  SetField(format, Field::kExposedAt, "/ts", TimeUnit::kSeconds);
  SetField(format, Field::kScene, "/page");
  SetField(format, Field::kKind, "/event");
  SetField(format, Field::kItemCreatedAt, "/born", TimeUnit::kRfc3339);
  format.kinds = {{"item_show", "exposed"}, {"1", "served"},    {"undo", "removed"},
                  {"ping", std::nullopt},   {"gone", "erased"}, {"buy", "clicked"}};
  format.only_if = {AnyOf("/event", {"item_show", "undo", "ping", "gone", "buy"})};
  format.filters = {{{"home_feed", "video*"}, {}}, {}, {{}, {AnyOf("/os", {"ios", "曝光"})}}};
  return format;
}

EventFormat Nested() {
  EventFormat format = Everything();
  SetField(format, Field::kUserId, "/data/uid");
  SetField(format, Field::kExposedAt, "/ts", TimeUnit::kMicroseconds);
  SetField(format, Field::kItems, "/data/pages/*/items");
  SetField(format, Field::kItemId, "/item/id");
  SetField(format, Field::kPosition, "/at/0");
  format.filters = {{{}, {AnyOf("/data/a~1b", {"x", "y"})}}};
  return format;
}

const std::vector<Way>& Ways() {
  static const std::vector<Way> ways = {
      {"the default", {}}, {"everything wanted", Everything()}, {"renamed", Renamed()}, {"nested", Nested()}};
  return ways;
}

/// True if the event was accepted.
bool CompareOneWay(EventDecoder& decoder, const EventFormat& format, const std::string& payload,
                   size_t event_bytes_max) {
  const auto expected = SecondReading(format, payload, event_bytes_max);
  const auto event = decoder.Decode(payload);
  EXPECT_EQ(event.has_value(), expected.has_value())
      << payload << "\n"
      << (event ? std::string("accepted") : event.error().message);
  if (!event || !expected) return false;
  for (const ExposedItem& item : event->items) EXPECT_EQ(item.fingerprint, FingerprintOf(item.item_id));
  const ReadEvent read = Copied(*event);
  EXPECT_EQ(read, *expected) << payload << "\n" << Shown(read) << "\n" << Shown(*expected);
  return event->skip == SkipReason::kNone;
}

/// Compares both paths of the decoder. The decoder skips a byte-order mark, but a payload that begins with
/// such a mark isn't plain.
bool Compare(EventDecoder& decoder, const EventFormat& format, const std::string& payload,
             size_t event_bytes_max) {
  CompareOneWay(decoder, format, "\xef\xbb\xbf" + payload, event_bytes_max);
  return CompareOneWay(decoder, format, payload, event_bytes_max);
}

EventDecoder DecoderOf(const EventFormat& format, size_t event_bytes_max) {
  return EventDecoder(event_bytes_max, *EventPlan::Make(format));
}

std::string_view PickOne(Random& random, std::span<const std::string_view> choices) {
  return choices[random() % choices.size()];
}

/// Pieces of JSON, to make events and to mutate them.
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
                                                 R"("kind")",
                                                 R"("item_created_at")",
                                                 R"("served")",
                                                 R"("removed")",
                                                 R"("erased")",
                                                 R"("uid")",
                                                 R"("event")",
                                                 R"("item_show")",
                                                 R"("undo")",
                                                 R"("gone")",
                                                 R"("page")",
                                                 R"("ts")",
                                                 R"("data")",
                                                 R"("pages")",
                                                 R"("1763700000")",
                                                 "1763700000.25",
                                                 R"("2025-11-21T04:40:00.5Z")",
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
                                                 R"({"item_id":7,"position":1})",
                                                 R"("{\"item_id\":7,\"item\":{\"id\":8}}")",
                                                 R"("{}")"};
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

std::string Value(Random& random, std::span<const std::string_view> likely) {
  return std::string(random() % 12 == 0 ? Piece(random) : PickOne(random, likely));
}

constexpr std::string_view kIds[] = {R"("u1")",     "7",        R"("曝光")", "18446744073709551615",
                                     R"("\u0000")", R"("a b")", "-5"};
constexpr std::string_view kPositions[] = {"0", "3", "null", "-1", "18446744073709551615"};

std::string ObjectOf(Random& random, std::vector<std::string> members) {
  for (auto more = random() % 3; more > 0; --more) {
    members.push_back(std::string(Piece(random)) + ":" + std::string(Piece(random)));
  }
  std::shuffle(members.begin(), members.end(), random);
  std::string event = "{";
  for (const std::string& member : members) event += (event.size() > 1 ? "," : "") + member;
  return event + "}";
}

/// A JSON object of likely members with likely and unlikely values.
std::string MadeEvent(Random& random) {
  static constexpr std::string_view kTimes[] = {"0", "1763700000123", "4294967295999", "1"};
  static constexpr std::string_view kKinds[] = {R"("exposed")", R"("served")", R"("removed")", R"("clicked")",
                                                "null"};
  std::vector<std::string> members;
  if (random() % 16 != 0) members.push_back(R"("user_id":)" + Value(random, kIds));
  if (random() % 16 != 0) members.push_back(R"("exposed_at":)" + Value(random, kTimes));
  if (random() % 2 == 0) members.push_back(R"("kind":)" + Value(random, kKinds));
  if (random() % 3 == 0) members.push_back(R"("item_created_at":)" + Value(random, kTimes));
  if (random() % 3 == 0) members.push_back(R"("position":)" + Value(random, kPositions));
  if (random() % 3 == 0) members.push_back(R"("scene":)" + Value(random, kIds));
  if (random() % 8 == 0) {
    members.push_back(R"("kind":"erased")");
  } else if (random() % 2 == 0) {
    members.push_back(R"("item_id":)" + Value(random, kIds));
  } else {
    std::string items;
    for (auto count = random() % 6; count > 0; --count) {
      if (!items.empty()) items += ',';
      const std::string id = Value(random, kIds);
      items += random() % 2 == 0 ? id
                                 : R"({"item_id":)" + id + R"(,"position":)" + Value(random, kPositions) +
                                       (random() % 2 == 0 ? R"(,"item_created_at":)" + Value(random, kTimes)
                                                          : std::string()) +
                                       "}";
    }
    members.push_back(R"("items":[)" + items + "]");
  }
  return ObjectOf(random, std::move(members));
}

std::string MadeRenamed(Random& random) {
  static constexpr std::string_view kTimes[] = {"0", "1763700000", R"("1763700000")", "1763700000.25"};
  static constexpr std::string_view kEvents[] = {R"("item_show")", R"("item_show")", R"("undo")",
                                                 R"("buy")",       R"("ping")",      R"("other")"};
  static constexpr std::string_view kBorn[] = {R"("2025-11-21T04:40:00Z")",
                                               R"("2025-11-21T12:40:00.5+08:00")", "null"};
  static constexpr std::string_view kPages[] = {R"("home_feed")", R"("video_tab")", "null", "7"};
  static constexpr std::string_view kSystems[] = {R"("ios")", R"("曝光")", "1"};
  std::vector<std::string> members = {R"("event":)" + Value(random, kEvents)};
  if (random() % 16 != 0) members.push_back(R"("uid":)" + Value(random, kIds));
  if (random() % 16 != 0) members.push_back(R"("ts":)" + Value(random, kTimes));
  if (random() % 2 == 0) members.push_back(R"("page":)" + Value(random, kPages));
  if (random() % 2 == 0) members.push_back(R"("os":)" + Value(random, kSystems));
  if (random() % 2 == 0) members.push_back(R"("born":)" + Value(random, kBorn));
  members.push_back(random() % 2 == 0 ? R"("item_id":)" + Value(random, kIds)
                                      : R"("items":[{"item_id":)" + Value(random, kIds) + R"(,"born":)" +
                                            Value(random, kBorn) + "}]");
  return ObjectOf(random, std::move(members));
}

std::string MadeNested(Random& random) {
  static constexpr std::string_view kTimes[] = {"0", "1763700000123456", R"("1763700000123456")"};
  static constexpr std::string_view kAttributes[] = {R"("x")", R"("z")", "null"};
  std::string pages;
  for (auto count = random() % 4; count > 0; --count) {
    std::string items;
    for (auto more = random() % 3; more > 0; --more) {
      items += (items.empty() ? "" : ",") + (random() % 4 == 0
                                                 ? Value(random, kIds)
                                                 : R"({"item":{"id":)" + Value(random, kIds) + R"(},"at":[)" +
                                                       Value(random, kPositions) + "]}");
    }
    const std::string page = random() % 8 == 0 ? R"({"items":null})" : R"({"items":[)" + items + "]}";
    pages += (pages.empty() ? "" : ",") + (random() % 16 == 0 ? Value(random, kIds) : page);
  }
  const std::string data = R"({"uid":)" + Value(random, kIds) + R"(,"a/b":)" + Value(random, kAttributes) +
                           R"(,"pages":[)" + pages + "]}";
  return ObjectOf(random, {R"("data":)" + data, R"("ts":)" + Value(random, kTimes)});
}

TEST(EventDecoder, AgreesWithAnotherLibraryOnTheTable) {
  for (const Way& way : {Ways()[0], Ways()[1]}) {
    SCOPED_TRACE(way.name);
    EventDecoder decoder = DecoderOf(way.format, kCaseEventBytesMax);
    for (const EventCase& c : EventCases()) {
      if (c.name == "nested too deeply") continue;  // the other library nests without limit
      SCOPED_TRACE(c.name);
      EXPECT_EQ(Compare(decoder, way.format, c.payload, kCaseEventBytesMax), !c.reason);
    }
  }
}

TEST(EventDecoder, AgreesWithAnotherLibraryOnMutatedEvents) {
  std::vector<std::string> seeds;
  for (const EventCase& c : EventCases()) {
    // Good events more often, because most edits make an event bad.
    if (c.payload.size() < 600) seeds.insert(seeds.end(), c.reason ? 1 : 6, c.payload);
  }
  constexpr size_t kRounds = 40'000;
  for (const Way& way : {Ways()[0], Ways()[1]}) {
    EventDecoder decoder = DecoderOf(way.format, 8192);
    size_t accepted = 0;
    for (uint64_t seed = 0; seed < kRounds && !::testing::Test::HasFailure(); ++seed) {
      SCOPED_TRACE(std::string(way.name) + ", seed " + std::to_string(seed));
      Random random(seed);
      accepted += Compare(decoder, way.format, MutatedEvent(random, seeds[random() % seeds.size()]), 8192);
    }
    EXPECT_GT(accepted, kRounds / 20) << way.name;
  }
}

TEST(EventDecoder, AgreesWithAnotherLibraryOnMadeEvents) {
  constexpr size_t kRounds = 30'000;
  for (const Way& way : Ways()) {
    EventDecoder decoder = DecoderOf(way.format, 8192);
    const auto make = way.name == std::string_view("renamed")  ? MadeRenamed
                      : way.name == std::string_view("nested") ? MadeNested
                                                               : MadeEvent;
    size_t accepted = 0;
    for (uint64_t seed = 0; seed < kRounds && !::testing::Test::HasFailure(); ++seed) {
      SCOPED_TRACE(std::string(way.name) + ", seed " + std::to_string(seed));
      Random random(seed);
      std::string event = make(random);
      accepted += Compare(decoder, way.format, event, 8192);
      if (seed % 2 == 0) Compare(decoder, way.format, MutatedEvent(random, event), 8192);
    }
    EXPECT_GT(accepted, kRounds / 8) << way.name;
  }
}

}  // namespace
}  // namespace seen
