#pragma once
// Random schemas of Avro, their data, and formats of their events.

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "unit/binary/avro_encoder.h"
#include "unit/binary/avro_reader_of.h"

namespace seen {

/// The first seed of a test, and how many. SEEN_AVRO_SEEDS="1000 5000" in the environment: 5000 from 1000 on.
struct Seeds {
  uint64_t first = 0, count;

  explicit Seeds(uint64_t count_without) : count(count_without) {
    const char* const given = std::getenv("SEEN_AVRO_SEEDS");
    if (given == nullptr) return;
    char* end = nullptr;
    first = std::strtoull(given, &end, 10);
    count = std::strtoull(end, nullptr, 10);
  }
};

inline std::string PickOne(Random& random, std::initializer_list<std::string_view> choices) {
  return std::string(choices.begin()[random() % choices.size()]);
}

inline constexpr std::string_view kTimes[] = {"timestamp-millis", "timestamp-micros", "timestamp-nanos",
                                              "local-timestamp-millis", "local-timestamp-micros"};

/// Types as JSON text. Names are numbered, so none is there twice.
class TypeMaker {
 public:
  explicit TypeMaker(Random& random) : random_(random) {}

  std::string Any(size_t depth) {
    const size_t kinds = depth == 0 ? 13 : 18;
    switch (random_() % kinds) {
      case 0:
        return R"("null")";
      case 1:
        return R"("boolean")";
      case 2:
        return R"("float")";
      case 3:
        return R"("double")";
      case 4:
        return R"("bytes")";
      case 5:
        return Fixed();
      case 6:
        return R"({"type":"bytes","logicalType":"decimal","precision":12,"scale":)" +
               std::to_string(random_() % 4) + "}";
      case 7:
        return R"({"type":"fixed","size":12,"logicalType":"duration",)" + Name() + "}";
      case 8:
        return R"({"type":"int","logicalType":")" + PickOne(random_, {"date", "time-millis"}) + "\"}";
      case 9:
        return Time();
      case 10:
      case 11:
      case 12:
        return Id();
      case 13:
        return R"({"type":"array","items":)" + Any(depth - 1) + "}";
      case 14:
        return R"({"type":"map","values":)" + Any(depth - 1) + "}";
      case 15:
        return R"(["null",)" + Record(depth - 1) + R"(,"string","long"])";
      case 16:
        return R"(["null","Event"])";  // the event holds itself
      default:
        return Record(depth - 1);
    }
  }
  std::string Id() {
    switch (random_() % 6) {
      case 0:
        return R"({"type":"enum","symbols":["home","served","x","y"],)" + Name() + "}";
      case 1:
        return Fixed();
      case 2:
        return R"("bytes")";
      default:
        return PickOne(random_, {R"("string")", R"("string")", R"("int")", R"("long")"});
    }
  }
  std::string Time() {
    return R"({"type":"long","logicalType":")" + std::string(kTimes[random_() % std::size(kTimes)]) + "\"}";
  }
  std::string MaybeNull(const std::string& type) {
    if (type.starts_with('[') || random_() % 3 != 0) return type;
    return random_() % 2 == 0 ? R"(["null",)" + type + "]" : "[" + type + R"(,"null"])";
  }
  std::string Record(size_t depth) { return RecordOf(Fillers(depth)); }
  std::string RecordOf(std::vector<std::string> fields) {
    std::shuffle(fields.begin(), fields.end(), random_);
    std::string list;
    for (const std::string& field : fields) list += (list.empty() ? "" : ",") + field;
    return R"({"type":"record",)" + Name() + R"(,"fields":[)" + list + "]}";
  }
  std::vector<std::string> Fillers(size_t depth) {
    std::vector<std::string> fields;
    for (size_t i = 0, count = random_() % 4; i < count; ++i)
      fields.push_back(Field("f" + std::to_string(i), Any(depth)));
    return fields;
  }
  static std::string Field(const std::string& name, const std::string& type) {
    return R"({"name":")" + name + R"(","type":)" + type + "}";
  }

  /// A schema for the default names (flat), or for those of NestedFormat.
  std::string Event(bool nested) {
    auto fields = Fillers(3);
    const auto maybe = [&](std::vector<std::string>& to, const std::string& name, const std::string& type) {
      if (random_() % 2 == 0) to.push_back(Field(name, MaybeNull(type)));
    };
    auto within = nested ? Fillers(2) : std::vector<std::string>();
    auto item = Fillers(2);
    item.push_back(Field("item_id", MaybeNull(Id())));
    maybe(item, "position", PickOne(random_, {R"("int")", R"("long")"}));
    maybe(item, "item_created_at", Time());
    std::string element = RecordOf(std::move(item));
    if (random_() % 3 == 0) element = "[" + element + R"(,"string","long"])";
    if (random_() % 4 == 0) element = Id();
    const std::string items = Field("items", MaybeNull(R"({"type":"array","items":)" + element + "}"));
    (nested ? within : fields).push_back(Field(nested ? "uid" : "user_id", MaybeNull(Id())));
    fields.push_back(Field(nested ? "ts" : "exposed_at", MaybeNull(Time())));
    if (nested || random_() % 2 == 0) (nested ? within : fields).push_back(items);
    if (!nested && (random_() % 2 == 0 || fields.back() != items))
      fields.push_back(Field("item_id", MaybeNull(Id())));
    maybe(fields, "scene", PickOne(random_, {R"("string")", R"("bytes")"}));
    maybe(fields, "kind", PickOne(random_, {R"("string")", R"("int")"}));
    maybe(fields, "request_id", R"("string")");
    if (nested) fields.push_back(Field("data", MaybeNull(RecordOf(std::move(within)))));
    std::shuffle(fields.begin(), fields.end(), random_);
    std::string list;
    for (const std::string& field : fields) list += (list.empty() ? "" : ",") + field;
    return R"({"type":"record","name":"Event","fields":[)" + list + "]}";
  }

 private:
  std::string Name() { return R"("name":"T)" + std::to_string(named_++) + "\""; }
  std::string Fixed() { return R"({"type":"fixed","size":3,)" + Name() + "}"; }

  Random& random_;
  size_t named_ = 0;
};

inline nlohmann::json RandomBytes(Random& random, size_t size) {
  std::vector<uint8_t> bytes(size);
  const bool is_ascii = random() % 4 != 0;
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(is_ascii ? 'a' + random() % 26 : random());
  return nlohmann::json::binary(bytes);
}

inline nlohmann::json RandomDatum(const AvroSchema& schema, uint32_t at, Random& random, size_t depth) {
  const AvroSchema::Node& node = schema[at];
  switch (node.type) {
    case AvroType::kNull:
      return nullptr;
    case AvroType::kBoolean:
      return random() % 2 == 0;
    case AvroType::kInt:
      if (node.logical != AvroLogical::kNone) return static_cast<int64_t>(random() % 20'000) - 100;
      return random() % 4 == 0 ? static_cast<int64_t>(static_cast<int32_t>(random()))
                               : static_cast<int64_t>(random() % 4);
    case AvroType::kLong: {
      if (random() % 8 == 0) return random() % 2 == 0 ? INT64_MIN : static_cast<int64_t>(random());
      const std::string_view name = AvroLogicalName(node.logical);
      const int64_t unit = name.ends_with("nanos") ? 1'000'000 : name.ends_with("micros") ? 1000 : 1;
      return 1'763'700'000'000 * unit + static_cast<int64_t>(random() % 1'000'000'000);
    }
    case AvroType::kFloat:
    case AvroType::kDouble:
      if (random() % 16 == 0) return std::numeric_limits<double>::quiet_NaN();
      return static_cast<double>(static_cast<int64_t>(random() % 2000) - 1000) / 4;
    case AvroType::kBytes:
      return RandomBytes(random, random() % 6);
    case AvroType::kFixed:
      return RandomBytes(random, node.size);
    case AvroType::kString:
      return PickOne(random, {"u1", "exposed", "served", "7", "曝光", "a\"b\\c", "home", "",
                              R"({"item_id":"z"})", "removed", std::string_view("\0x", 2)});
    case AvroType::kEnum:
      return node.symbols[random() % node.symbols.size()];
    case AvroType::kUnion: {
      size_t branch = random() % node.within.size();
      for (size_t i = 0; depth == 0 && i < node.within.size(); ++i) {
        if (schema[node.within[i]].type == AvroType::kNull) branch = i;
      }
      return {branch, RandomDatum(schema, node.within[branch], random, depth)};
    }
    case AvroType::kRecord: {
      nlohmann::json record = nlohmann::json::object();
      for (const auto& field : node.fields)
        record[field.name] = RandomDatum(schema, field.node, random, depth > 0 ? depth - 1 : 0);
      return record;
    }
    case AvroType::kArray: {
      nlohmann::json array = nlohmann::json::array();
      for (size_t i = 0, count = depth == 0 ? 0 : random() % 4; i < count; ++i)
        array.push_back(RandomDatum(schema, node.within[0], random, depth - 1));
      return array;
    }
    case AvroType::kMap: {
      nlohmann::json map = nlohmann::json::object();
      for (size_t i = 0, count = depth == 0 ? 0 : random() % 3; i < count; ++i)
        map[std::string(1 + 2 * i, 'k')] = RandomDatum(schema, node.within[0], random, depth - 1);
      return map;
    }
  }
  return nullptr;
}

/// With one to three other bytes.
inline std::string Changed(std::string payload, Random& random) {
  for (auto edits = 1 + random() % 3; edits > 0 && !payload.empty(); --edits) {
    char& byte = payload[random() % payload.size()];
    byte = static_cast<char>(random() % 2 == 0 ? byte ^ 1 << random() % 8 : static_cast<int>(random() % 256));
  }
  return payload;
}

inline EventFormat NestedFormat() {
  EventFormat format = EverythingWanted();
  SetField(format, Field::kUserId, "/data/uid");
  SetField(format, Field::kItems, "/data/items");
  SetField(format, Field::kExposedAt, "/ts");
  return format;
}

inline EventFormat RandomFormat(Random& random, bool nested) {
  EventFormat format = nested ? NestedFormat() : random() % 4 == 0 ? EventFormat() : EverythingWanted();
  const auto look = [&](std::string_view at) {
    Condition condition = AnyOf(at, {"home", "x", "u1", "7", "2"});
    if (random() % 2 == 0) condition.test = Condition::Test::kExists;
    if (random() % 4 == 0) condition.as_text = true;
    format.filters.push_back({{}, {condition}});
  };
  if (random() % 2 == 0) look("/f0");
  if (random() % 2 == 0) look("/f1/f0");
  if (random() % 3 == 0) look("/data/f0");
  if (random() % 3 == 0) look(nested ? "/data/items" : "/items");
  if (random() % 4 == 0) format.filters.push_back({{"home"}, {}});
  if (random() % 4 == 0) format.ids_ignored = {"u1"};
  if (random() % 4 == 0)
    format.kinds = {{"exposed", "exposed"}, {"served", "served"}, {"7", std::nullopt}, {"2", "exposed"}};
  return format;
}

}  // namespace seen
