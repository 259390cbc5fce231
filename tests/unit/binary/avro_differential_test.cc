// Random schemas and data: both ways of reading agree with one another and with the data.

#include <gtest/gtest.h>

#include "unit/binary/avro_random.h"
#include "unit/binary/avro_reader_of.h"

namespace seen {
namespace {

using nlohmann::json;

struct Counts {
  size_t accepted = 0, short_way = 0;
};

/// The payload may be anything. If both ways read it, they read the same. What is wrong with a field that
/// every format needs, both see.
void CompareWays(BothWays& ways, const std::string& payload, Counts& counts) {
  Event event;
  const std::string read = ways.Short(payload);
  std::string written;
  if (const auto appended = ways.reader->AppendJson(payload, written); !appended) {
    for (const std::string field : {"user_id", "exposed_at", "data.uid", "ts"}) {
      if (appended.error().message.find(": field " + field + ": ") != std::string::npos) {
        EXPECT_EQ(read, "long way") << appended.error().message;
      }
    }
    return;
  }
  const auto decoded = ways.decoder.Decode(written);
  counts.accepted += decoded.has_value();
  if (read == "long way") return;
  counts.short_way += decoded.has_value();
  if (decoded) {
    EXPECT_EQ(read, EventText(*decoded)) << written;
  } else if (decoded.error().reason != RejectReason::kInvalidUtf8) {  // in a value that the short way skips
    ADD_FAILURE() << read << "\n" << decoded.error().message << "\n" << written;
  }
}

TEST(AvroReader, BothWaysAgreeOnRandomSchemasAndData) {
  constexpr size_t kData = 4;
  const Seeds seeds(1000);
  Counts counts;
  size_t made = 0;
  for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count && !HasFailure(); ++seed) {
    Random random(seed);
    const bool nested = random() % 2 == 0;
    const std::string text = TypeMaker(random).Event(nested);
    SCOPED_TRACE("seed " + std::to_string(seed) + " " + text);
    const auto schema = SchemaOf(text);
    const EventFormat format = RandomFormat(random, nested);
    BothWays ways(schema, format);
    BothWays resolved(schema, format, schema);
    ASSERT_EQ(ways.error, resolved.error);
    ASSERT_TRUE(ways.reader) << ways.error;
    ++made;
    for (size_t i = 0; i < kData && !HasFailure(); ++i) {
      const json datum = RandomDatum(*schema, schema->root(), random, 5);
      const std::string payload = AvroEncoder(*schema, &random).Encode(datum);
      const std::string written = ways.Json(payload);
      EXPECT_EQ(json::parse(written, nullptr, false), *JsonOf(*schema, schema->root(), datum)) << written;
      EXPECT_EQ(resolved.Json(payload), written);
      CompareWays(ways, payload, counts);
      EXPECT_EQ(resolved.Short(payload), ways.Short(payload));
      EXPECT_EQ(ways.Short(payload + '\0'), "long way");
      EXPECT_TRUE(ways.Json(payload + '\0').starts_with("not_decodable"));
    }
  }
  EXPECT_GT(counts.accepted, made * kData / 10);
  EXPECT_GT(counts.short_way, counts.accepted / 3);
}

TEST(AvroReader, StandsTruncatedAndChangedBytes) {
  constexpr size_t kChanges = 200;
  const Seeds seeds(100);
  Counts counts;
  for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count && !HasFailure(); ++seed) {
    Random random(seed + 1'000'000);
    const bool nested = random() % 2 == 0;
    const auto schema = SchemaOf(TypeMaker(random).Event(nested));
    SCOPED_TRACE("seed " + std::to_string(seed));
    BothWays ways(schema, RandomFormat(random, nested));
    ASSERT_TRUE(ways.reader) << ways.error;
    const std::string payload =
        AvroEncoder(*schema, &random).Encode(RandomDatum(*schema, schema->root(), random, 5));
    for (size_t size = 0; size < payload.size() && !HasFailure(); size += 1 + size / 256) {
      const std::string part = payload.substr(0, size);
      EXPECT_TRUE(ways.Json(part).starts_with("not_decodable")) << size;
      EXPECT_EQ(ways.Short(part), "long way") << size;
    }
    for (size_t i = 0; i < kChanges && !HasFailure(); ++i) {
      const std::string changed = Changed(payload, random);
      CompareWays(ways, changed, counts);
      EXPECT_LE(ways.Json(changed).size(), 32 * changed.size() + (size_t{1} << 17));
    }
  }
  EXPECT_GT(counts.accepted, 0u);
}

}  // namespace
}  // namespace seen
