// Random schemas, data and changed bytes: the long way reads what Apache's library for C reads.

#include <avro.h>
#include <simdjson.h>

#include <array>
#include <charconv>
#include <cstdlib>

#include "unit/binary/avro_random.h"
#include "unit/binary/avro_reader_of.h"

namespace seen {
namespace {

using nlohmann::json;

/// Decodes payloads of one schema to data as AvroEncoder takes them.
class AvroC {
 public:
  explicit AvroC(const std::string& schema) {
    EXPECT_EQ(avro_schema_from_json_length(schema.data(), schema.size(), &schema_), 0) << avro_strerror();
    class_ = avro_generic_class_from_schema(schema_);
    EXPECT_EQ(avro_generic_value_new(class_, &value_), 0) << avro_strerror();
  }
  AvroC(const AvroC&) = delete;
  AvroC& operator=(const AvroC&) = delete;
  ~AvroC() {
    avro_value_decref(&value_);
    avro_value_iface_decref(class_);
    avro_schema_decref(schema_);
  }

  /// nullopt: it isn't one. Bytes behind the datum are no error.
  std::optional<json> Decode(const std::string& payload) {
    avro_value_reset(&value_);
    avro_reader_t reader = avro_reader_memory(payload.data(), static_cast<int64_t>(payload.size()));
    const int failed = avro_value_read(reader, &value_);
    avro_reader_free(reader);
    if (failed != 0) return std::nullopt;
    return DatumOf(value_);
  }

 private:
  // The double that the shortest text of a float means.
  static double AsShown(float number) {
    std::array<char, 32> text{};
    std::to_chars(text.data(), text.data() + text.size() - 1, number);
    return std::strtod(text.data(), nullptr);
  }

  static json BytesOf(const void* bytes, size_t size) {
    const auto* const first = static_cast<const uint8_t*>(bytes);
    return json::binary({first, first + size});
  }

  static json DatumOf(const avro_value_t& value) {
    size_t size = 0;
    const void* bytes = nullptr;
    avro_value_t within;
    switch (avro_value_get_type(&value)) {
      case AVRO_BOOLEAN: {
        int is_true = 0;
        avro_value_get_boolean(&value, &is_true);
        return is_true != 0;
      }
      case AVRO_INT32: {
        int32_t number = 0;
        avro_value_get_int(&value, &number);
        return number;
      }
      case AVRO_INT64: {
        int64_t number = 0;
        avro_value_get_long(&value, &number);
        return number;
      }
      case AVRO_FLOAT: {
        float number = 0;
        avro_value_get_float(&value, &number);
        return AsShown(number);
      }
      case AVRO_DOUBLE: {
        double number = 0;
        avro_value_get_double(&value, &number);
        return number;
      }
      case AVRO_BYTES:
        avro_value_get_bytes(&value, &bytes, &size);
        return BytesOf(bytes, size);
      case AVRO_FIXED:
        avro_value_get_fixed(&value, &bytes, &size);
        return BytesOf(bytes, size);
      case AVRO_STRING: {
        const char* text = nullptr;
        avro_value_get_string(&value, &text, &size);
        return std::string(text, size - 1);  // with the zero behind it
      }
      case AVRO_ENUM: {
        int symbol = 0;
        avro_value_get_enum(&value, &symbol);
        return avro_schema_enum_get(avro_value_get_schema(&value), symbol);
      }
      case AVRO_UNION: {
        int branch = 0;
        avro_value_get_discriminant(&value, &branch);
        avro_value_get_current_branch(&value, &within);
        return {branch, DatumOf(within)};
      }
      case AVRO_ARRAY: {
        json array = json::array();
        avro_value_get_size(&value, &size);
        for (size_t i = 0; i < size; ++i) {
          avro_value_get_by_index(&value, i, &within, nullptr);
          array.push_back(DatumOf(within));
        }
        return array;
      }
      case AVRO_MAP:
      case AVRO_RECORD: {
        json object = json::object();
        avro_value_get_size(&value, &size);
        for (size_t i = 0; i < size; ++i) {
          const char* name = nullptr;
          avro_value_get_by_index(&value, i, &within, &name);
          object[name] = DatumOf(within);
        }
        return object;
      }
      default:
        return nullptr;
    }
  }

  avro_schema_t schema_ = nullptr;
  avro_value_iface_t* class_ = nullptr;
  avro_value_t value_{};
};

/// Some list may have elements without bytes. Apache's library then takes hours for a changed count, and
/// reads no list of empty records.
bool HasListOfNothing(const AvroSchema& schema) {
  const auto is_nothing = [&](const auto& self, uint32_t at, size_t depth) -> bool {
    const AvroSchema::Node& node = schema[at];
    if (node.type == AvroType::kNull || (node.type == AvroType::kFixed && node.size == 0)) return true;
    return node.type == AvroType::kRecord && depth < 8 &&
           std::all_of(node.fields.begin(), node.fields.end(),
                       [&](const AvroSchema::Field& field) { return self(self, field.node, depth + 1); });
  };
  const auto has = [&](const auto& self, uint32_t at, size_t depth) -> bool {
    const AvroSchema::Node& node = schema[at];
    if (node.type == AvroType::kArray && is_nothing(is_nothing, node.within.front(), 0)) return true;
    const auto is = [&](uint32_t within) { return depth < 8 && self(self, within, depth + 1); };
    return std::any_of(node.within.begin(), node.within.end(), is) ||
           std::any_of(node.fields.begin(), node.fields.end(),
                       [&](const AvroSchema::Field& field) { return is(field.node); });
  };
  return has(has, schema.root(), 0);
}

/// Rules of the specification that Apache's library doesn't check, and limits of this project.
bool IsStricter(const std::string& rejection) {
  for (const std::string_view rule : {"bytes behind its end", "a boolean that is neither 0 nor 1",
                                      " of an enum of ", "of more than 32 bits", "of more than 64 bits",
                                      "a block says that it has", "nested too deeply", "too many values"}) {
    if (rejection.find(rule) != std::string::npos) return true;
  }
  return false;
}

/// The oracle of this file can't judge the value: text that isn't UTF-8, a key of a map that ends early in C,
/// a decimal of more than 7 bytes.
bool IsBeyondTheOracle(const std::string& written, const json& datum, bool has_decimals) {
  if (!simdjson::validate_utf8(written.data(), written.size())) return true;
  for (size_t zero = written.find("\\u0000"); zero != std::string::npos;
       zero = written.find("\\u0000", zero + 1)) {
    const size_t end = written.find('"', zero);
    if (written.compare(end, 2, "\":") == 0) return true;
  }
  const auto is_long = [](const auto& self, const json& value) -> bool {
    if (value.is_binary()) return value.get_binary().size() > 7;
    return value.is_structured() &&
           std::any_of(value.begin(), value.end(), [&](const json& each) { return self(self, each); });
  };
  return has_decimals && is_long(is_long, datum);
}

struct OracleCounts {
  size_t read = 0, rejected = 0, stricter = 0, beyond = 0;
};

void CompareWithC(const AvroSchema& schema, bool has_decimals, BothWays& ways, AvroC& oracle,
                  const std::string& payload, OracleCounts& counts) {
  const std::string written = ways.Json(payload);
  const bool is_read = !written.starts_with("not_decodable");
  // A length that is too great would be allocated.
  if (!is_read && (IsStricter(written) || written.find("cut off") != std::string::npos)) {
    ++counts.stricter;
    return;
  }
  const auto datum = oracle.Decode(payload);
  EXPECT_EQ(datum.has_value(), is_read) << written << "\n" << avro_strerror();
  if (!is_read || !datum) {
    ++counts.rejected;
  } else if (IsBeyondTheOracle(written, *datum, has_decimals)) {
    ++counts.beyond;
  } else {
    ++counts.read;
    EXPECT_EQ(json::parse(written, nullptr, false), *JsonOf(schema, schema.root(), *datum)) << written;
  }
}

TEST(AvroC, ReadsTheSameFromRandomDataAndChangedBytes) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return;  // avro-c allocates what a changed length says, and sanitizers end the process then
#endif
  constexpr size_t kData = 3, kChanges = 20;
  OracleCounts counts;
  const Seeds seeds(400);
  for (uint64_t seed = seeds.first; seed < seeds.first + seeds.count && !HasFailure(); ++seed) {
    Random random(seed + 2'000'000);
    const std::string text = TypeMaker(random).Event(random() % 2 == 0);
    SCOPED_TRACE("seed " + std::to_string(seed) + " " + text);
    const auto schema = SchemaOf(text);
    if (HasListOfNothing(*schema)) continue;
    BothWays ways(schema, RandomFormat(random, text.find("\"uid\"") != std::string::npos));
    ASSERT_TRUE(ways.reader) << ways.error;
    AvroC oracle(text);
    const bool has_decimals = text.find("decimal") != std::string::npos;
    for (size_t i = 0; i < kData && !HasFailure(); ++i) {
      const std::string payload =
          AvroEncoder(*schema, &random).Encode(RandomDatum(*schema, schema->root(), random, 5));
      CompareWithC(*schema, has_decimals, ways, oracle, payload, counts);
      EXPECT_FALSE(oracle.Decode(payload.substr(0, random() % payload.size())));
      for (size_t change = 0; change < kChanges && !HasFailure(); ++change) {
        CompareWithC(*schema, has_decimals, ways, oracle, Changed(payload, random), counts);
      }
    }
  }
  EXPECT_GT(counts.read, seeds.count * kData);
  std::printf("%zu read alike, %zu rejected by both, %zu by rules that the library lacks, %zu not judged\n",
              counts.read, counts.rejected, counts.stricter, counts.beyond);
}

}  // namespace
}  // namespace seen
