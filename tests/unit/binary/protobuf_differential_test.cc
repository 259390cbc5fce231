// Random schemas, messages and changed bytes: the two ways of reading against each other, and the long way
// against a walk over the message as protobuf itself reads it.

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "unit/binary/protobuf_reader_of.h"

namespace seen {
namespace {

namespace pb = google::protobuf;

std::string PickFrom(Random& random, std::initializer_list<std::string_view> words) {
  return std::string(words.begin()[random() % words.size()]);
}

/// Writes a .proto file with a message Event that some plan can read.
class ProtoMaker {
 public:
  explicit ProtoMaker(Random& random) : random_(random), proto3_(random() % 3 != 0) {}

  std::string File(bool nested) {
    std::string text = proto3_ ? "syntax = \"proto3\";" : "syntax = \"proto2\";";
    text +=
        "import \"google/protobuf/timestamp.proto\"; import \"google/protobuf/duration.proto\";"
        "import \"google/protobuf/wrappers.proto\"; import \"google/protobuf/struct.proto\";"
        "enum Page { option allow_alias = true; none = 0; home = 1; video = 2; x = -1; feed = 1; served = 7; "
        "}";
    const std::string id = PickFrom(random_, {"string", "string", "int64", "bytes", "uint64", "Page",
                                              "sint32", "google.protobuf.StringValue", "fixed32"});
    const std::string time = PickFrom(
        random_, {"int64", "google.protobuf.Timestamp", "uint64", "sfixed64", "google.protobuf.Int64Value"});
    text += Message("Inner", Fields(4));
    text += Message("Item", Field(id, "item_id") + Field("int32", "position") +
                                Field(time, "item_created_at") + Fields(3));
    const std::string items = random_() % 3 == 0 ? id : std::string("Item");
    text += Message("Data", Field(id, "uid") + Fields(3) + Repeated(items, "items"));
    const std::string item = random_() % 3 == 0 ? Field(id, "item_id") : Repeated(items, "items");
    text += Message("Event", (nested ? Field("Data", "data") + Field(time, "ts")
                                     : Field(id, "user_id") + Field(time, "exposed_at") + item) +
                                 Field(PickFrom(random_, {"string", "Page", "bytes"}), "scene") +
                                 Field(PickFrom(random_, {"string", "string", "Page"}), "kind") + Fields(6));
    return text;
  }

 private:
  std::string Number() {
    constexpr int kFirstReserved = 19'000, kLastReserved = 19'999;
    int number = 0;
    do {
      number = static_cast<int>(1 + random_() % (random_() % 4 == 0 ? 100'000 : 90));
    } while ((number >= kFirstReserved && number <= kLastReserved) || !numbers_.insert(number).second);
    return std::to_string(number);
  }
  std::string Message(const std::string& name, const std::string& fields) {
    numbers_.clear();
    field_ = 0;
    return "message " + name + " {" + fields + "}\n";
  }
  std::string Field(const std::string& type, const std::string& name) {
    const std::string label = random_() % 3 == 0 || !proto3_ ? "optional " : "";
    return label + type + " " + name + " = " + Number() + ";";
  }
  std::string Repeated(const std::string& type, const std::string& name) {
    static const std::set<std::string> kNumbers{"int64", "uint64", "sint32", "fixed32",
                                                "int32", "double", "bool",   "Page"};
    const std::string packed =
        kNumbers.contains(type) ? PickFrom(random_, {"", "[packed = true]", "[packed = false]"}) : "";
    return "repeated " + type + " " + name + " = " + Number() + packed + ";";
  }
  std::string Type() {
    return PickFrom(random_, {"int32",
                              "int64",
                              "uint32",
                              "uint64",
                              "sint32",
                              "sint64",
                              "fixed32",
                              "fixed64",
                              "sfixed32",
                              "sfixed64",
                              "bool",
                              "string",
                              "bytes",
                              "float",
                              "double",
                              "Page",
                              "Inner",
                              "Inner",
                              "google.protobuf.Timestamp",
                              "google.protobuf.Duration",
                              "google.protobuf.StringValue",
                              "google.protobuf.DoubleValue",
                              "google.protobuf.BoolValue",
                              "google.protobuf.Value"});
  }
  // Fields are made in groups, since the numbers must differ within the message, which Message begins.
  std::string Fields(int count) {
    std::string fields;
    for (int i = 0; i < count; ++i) {
      const std::string name = "f" + std::to_string(field_++);
      const auto form = random_() % 8;
      if (form == 0) {
        fields += Repeated(Type(), name);
      } else if (form == 1) {
        fields += "map<" + PickFrom(random_, {"string", "int32", "uint64", "bool", "sfixed64"}) + "," +
                  Type() + "> " + name + " = " + Number() + ";";
      } else if (form == 2) {
        fields += "oneof of" + name + " {" + Type() + " " + name + " = " + Number() + ";" + Type() + " o" +
                  name + " = " + Number() + ";}";
      } else if (form == 3 && !proto3_) {
        fields += "optional group G" + name + " = " + Number() + " { optional int32 a = 1; }";
      } else {
        fields += Field(Type(), name);
      }
    }
    return fields;
  }

  Random& random_;
  const bool proto3_;
  std::set<int> numbers_;
  int field_ = 0;
};

int64_t RandomInteger(Random& random, const pb::FieldDescriptor& field) {
  if (field.name() == "exposed_at" || field.name() == "ts" || field.name() == "item_created_at")
    return 1'763'700'000'000 + static_cast<int64_t>(random() % 1000);
  if (field.name() == "seconds") return static_cast<int64_t>(random() % 2'000'000'000);
  if (field.name() == "nanos") return static_cast<int64_t>(random() % 1'000'000'000);
  // Perhaps a time in a wrapper.
  if (field.name() == "value" && random() % 4 != 0) return 1'763'700'000'000;
  switch (random() % 6) {
    case 0:
      return 0;
    case 1:
      return static_cast<int64_t>(random());
    case 2:
      return INT64_MIN;
    default:
      return static_cast<int64_t>(random() % 20) - 4;
  }
}

bool IsOfEvent(const pb::FieldDescriptor& field) {
  return field.name().find_first_of("0123456789") == std::string::npos;
}

std::string RandomText(Random& random, const pb::FieldDescriptor& field) {
  if (IsOfEvent(field) && random() % 16 != 0)
    return field.name() == "kind" ? PickFrom(random, {"exposed", "served"})
                                  : PickFrom(random, {"u1", "7", "曝光", "home"});
  const bool may_be_bytes = field.type() == pb::FieldDescriptor::TYPE_BYTES && random() % 4 == 0;
  return may_be_bytes ? std::string("\xff\x80", 1 + random() % 2)
                      : PickFrom(random, {"u1", "exposed", "served", "7", "曝光", "a\"b\\c", "home", "",
                                          R"({"item_id":"z"})", "x", std::string_view("\0x", 2)});
}

void Fill(pb::Message& message, Random& random, size_t depth);

void FillField(pb::Message& message, const pb::FieldDescriptor& field, Random& random, size_t depth) {
  const pb::Reflection& reflection = *message.GetReflection();
  const bool list = field.is_repeated();
  const int64_t integer = RandomInteger(random, field);
  double fraction = static_cast<double>(integer) / 4;
  if (random() % 8 == 0) fraction = std::numeric_limits<double>::quiet_NaN();
  if (random() % 16 == 0) fraction = -0.0;
  const auto set = [&](auto one, auto add, auto value) {
    list ? (reflection.*add)(&message, &field, value) : (reflection.*one)(&message, &field, value);
  };
  using R = pb::Reflection;
  switch (field.cpp_type()) {
    case pb::FieldDescriptor::CPPTYPE_INT32:
      return set(&R::SetInt32, &R::AddInt32, static_cast<int32_t>(integer));
    case pb::FieldDescriptor::CPPTYPE_INT64:
      return set(&R::SetInt64, &R::AddInt64, integer);
    case pb::FieldDescriptor::CPPTYPE_UINT32:
      return set(&R::SetUInt32, &R::AddUInt32, static_cast<uint32_t>(integer));
    case pb::FieldDescriptor::CPPTYPE_UINT64:
      return set(&R::SetUInt64, &R::AddUInt64, static_cast<uint64_t>(integer));
    case pb::FieldDescriptor::CPPTYPE_BOOL:
      return set(&R::SetBool, &R::AddBool, integer % 2 != 0);
    case pb::FieldDescriptor::CPPTYPE_FLOAT:
      return set(&R::SetFloat, &R::AddFloat, static_cast<float>(fraction));
    case pb::FieldDescriptor::CPPTYPE_DOUBLE:
      return set(&R::SetDouble, &R::AddDouble, fraction);
    case pb::FieldDescriptor::CPPTYPE_ENUM: {
      const pb::EnumDescriptor& type = *field.enum_type();
      const bool may_be_unknown = reflection.SupportsUnknownEnumValues() && random() % 6 == 0;
      const int named =
          type.value(static_cast<int>(random() % static_cast<size_t>(type.value_count())))->number();
      return set(&R::SetEnumValue, &R::AddEnumValue, may_be_unknown ? 99 : named);
    }
    case pb::FieldDescriptor::CPPTYPE_STRING: {
      const std::string text = RandomText(random, field);
      list ? reflection.AddString(&message, &field, text) : reflection.SetString(&message, &field, text);
      return;
    }
    case pb::FieldDescriptor::CPPTYPE_MESSAGE: {
      pb::Message* const within =
          list ? reflection.AddMessage(&message, &field) : reflection.MutableMessage(&message, &field);
      if (depth > 0) Fill(*within, random, depth - 1);
      return;
    }
  }
}

void Fill(pb::Message& message, Random& random, size_t depth) {
  const pb::Descriptor& type = *message.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const pb::FieldDescriptor& field = *type.field(i);
    if (random() % (IsOfEvent(field) ? 32 : 6) == 0) continue;
    for (auto count = field.is_repeated() ? random() % 4 + IsOfEvent(field) : 1; count > 0; --count)
      FillField(message, field, random, depth);
  }
}

/// The JSON of a message, written again.
class Walk {
 public:
  /// `asked`: places of the plan ("data/items/*/position") whose defaults without presence are written.
  explicit Walk(const std::set<std::string>& asked) : asked_(asked) {}

  nlohmann::json Of(const pb::Message& message, const std::string& path) const {
    nlohmann::json object = nlohmann::json::object();
    const pb::Descriptor& type = *message.GetDescriptor();
    for (int i = 0; i < type.field_count(); ++i) {
      const pb::FieldDescriptor& field = *type.field(i);
      const std::string place = path + field.name();
      if (IsSet(message, field)) {
        nlohmann::json value =
            field.is_repeated() ? List(message, field, place) : One(message, field, -1, place);
        if (!value.is_null()) object[field.name()] = std::move(value);
      } else if (asked_.contains(place) && !field.has_presence() && !field.is_repeated() &&
                 field.cpp_type() != pb::FieldDescriptor::CPPTYPE_STRING) {
        object[field.name()] = One(message, field, -1, place);
      }
    }
    return object;
  }

 private:
  static bool IsSet(const pb::Message& message, const pb::FieldDescriptor& field) {
    std::vector<const pb::FieldDescriptor*> set;
    message.GetReflection()->ListFields(message, &set);
    return std::find(set.begin(), set.end(), &field) != set.end();
  }

  nlohmann::json List(const pb::Message& message, const pb::FieldDescriptor& field,
                      const std::string& path) const {
    const pb::Reflection& reflection = *message.GetReflection();
    nlohmann::json list = field.is_map() ? nlohmann::json::object() : nlohmann::json::array();
    for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
      if (!field.is_map()) {
        list.push_back(One(message, field, i, path + "/*"));
        continue;
      }
      const pb::Message& entry = reflection.GetRepeatedMessage(message, &field, i);
      const nlohmann::json key = One(entry, *entry.GetDescriptor()->map_key(), -1, "");
      list[key.is_string() ? key.get<std::string>() : key.dump()] =
          One(entry, *entry.GetDescriptor()->map_value(), -1, path + "/key");
    }
    return list;
  }

  nlohmann::json One(const pb::Message& message, const pb::FieldDescriptor& field, int index,
                     const std::string& path) const {
    const pb::Reflection& reflection = *message.GetReflection();
    const auto get = [&](auto one, auto element) {
      return index < 0 ? (reflection.*one)(message, &field) : (reflection.*element)(message, &field, index);
    };
    using R = pb::Reflection;
    switch (field.cpp_type()) {
      case pb::FieldDescriptor::CPPTYPE_INT32:
        return get(&R::GetInt32, &R::GetRepeatedInt32);
      case pb::FieldDescriptor::CPPTYPE_INT64:
        return get(&R::GetInt64, &R::GetRepeatedInt64);
      case pb::FieldDescriptor::CPPTYPE_UINT32:
        return get(&R::GetUInt32, &R::GetRepeatedUInt32);
      case pb::FieldDescriptor::CPPTYPE_UINT64:
        return get(&R::GetUInt64, &R::GetRepeatedUInt64);
      case pb::FieldDescriptor::CPPTYPE_BOOL:
        return get(&R::GetBool, &R::GetRepeatedBool);
      case pb::FieldDescriptor::CPPTYPE_FLOAT: {
        const float number = get(&R::GetFloat, &R::GetRepeatedFloat);
        std::array<char, 64> text{};
        std::to_chars(text.data(), text.data() + text.size(),
                      number);  // the text decides which double is read
        return std::isfinite(number) ? nlohmann::json(std::strtod(text.data(), nullptr)) : nlohmann::json();
      }
      case pb::FieldDescriptor::CPPTYPE_DOUBLE: {
        const double number = get(&R::GetDouble, &R::GetRepeatedDouble);
        return std::isfinite(number) ? nlohmann::json(number) : nlohmann::json();
      }
      case pb::FieldDescriptor::CPPTYPE_ENUM: {
        const int number = get(&R::GetEnumValue, &R::GetRepeatedEnumValue);
        for (int i = 0; i < field.enum_type()->value_count(); ++i) {
          if (field.enum_type()->value(i)->number() == number) return field.enum_type()->value(i)->name();
        }
        return number;
      }
      case pb::FieldDescriptor::CPPTYPE_STRING:
        return Text(get(&R::GetString, &R::GetRepeatedString));
      case pb::FieldDescriptor::CPPTYPE_MESSAGE:
        break;
    }
    const pb::Message& within = index < 0 ? reflection.GetMessage(message, &field)
                                          : reflection.GetRepeatedMessage(message, &field, index);
    const std::string& file = within.GetDescriptor()->file()->name();
    const auto part = [&](int number) {
      return One(within, *within.GetDescriptor()->FindFieldByNumber(number), -1, "");
    };
    if (file == "google/protobuf/wrappers.proto") return part(1);
    if (file != "google/protobuf/timestamp.proto") return Of(within, path + "/");
    return part(1).get<int64_t>() * 1000 + part(2).get<int64_t>() / 1'000'000;
  }

  static nlohmann::json Text(const std::string& bytes) {
    if (IsUtf8(bytes)) return bytes;
    std::string hex;
    for (const char c : bytes) hex += "0123456789abcdef"[(c >> 4) & 15], hex += "0123456789abcdef"[c & 15];
    return hex;
  }

  const std::set<std::string>& asked_;
};

struct RandomPlan {
  RandomPlan(Random& random, bool nested) {
    if (random() % 4 != 0) format.wanted = {true, true, true, true, true};
    const std::string items = nested ? "data/items" : "items";
    if (nested) {
      SetField(format, Field::kUserId, "/data/uid");
      SetField(format, Field::kItems, "/data/items");
      SetField(format, Field::kExposedAt, "/ts");
      SetField(format, Field::kItemCreatedAt, "/item_created_at");
    }
    if (random() % 2 == 0) Look("f0", random);
    if (random() % 2 == 0) Look("f1/f0", random);
    if (random() % 3 == 0) Look("data/f0", random);
    if (random() % 8 == 0) Look(items, random);
    if (random() % 8 == 0) Look("f2/0", random);
    if (random() % 4 == 0) Look("f3", random);
    if (random() % 4 == 0) format.filters.push_back({{"home"}, {}});
    if (random() % 4 == 0) format.ids_ignored = {"u1"};
    if (random() % 2 == 0)
      format.kinds = {{"exposed", "exposed"},
                      {"served", "served"},
                      {"7", std::nullopt},
                      {"none", "exposed"},
                      {"0", "exposed"}};
  }

  EventFormat format;
  /// The places whose defaults without presence are written.
  std::set<std::string> Asked() const {
    const auto plan = *EventPlan::Make(format);
    std::set<std::string> asked, ids_and_times;
    const auto add = [&](const EventPlan::Place& place, const std::string& prefix) {
      std::string path = prefix;
      for (const std::string& step : place.steps)
        path += (path.empty() ? "" : "/") + (step == "0" ? std::string("*") : step);
      const auto field = static_cast<Field>(place.slot);
      const bool is_attribute = place.slot >= kFields && place.slot < EventPlan::kUserSlots;
      const bool is_absent = !is_attribute && (place.slot >= kFields || field == Field::kUserId ||
                                               field == Field::kItemId || IsTime(field));
      (is_absent ? ids_and_times : asked).insert(path);
    };
    for (const auto& place : plan->event_places) add(place, "");
    const std::string items = format.fields[static_cast<size_t>(Field::kItems)] ? "data/items/*" : "items/*";
    for (const auto& place : plan->element_places) add(place, items);
    for (const std::string& place : ids_and_times) asked.erase(place);
    return asked;
  }

 private:
  void Look(const std::string& place, Random& random) {
    Condition condition = AnyOf("/" + place, {"home", "x", "u1", "7", "2"});
    if (random() % 2 == 0) condition.test = Condition::Test::kExists, condition.values.clear();
    if (random() % 4 == 0) condition.values.push_back({ScalarKind::kInteger, "0"});
    format.filters.push_back({{}, {condition}});
  }
};

struct ProtobufCounts {
  size_t inputs = 0, accepted = 0, short_way = 0;
};

/// The payload may be anything. If both ways read it, they read the same.
void CompareProtobufWays(ProtobufWays& ways, const std::string& payload, ProtobufCounts& counts) {
  const std::string read = ways.Short(payload);
  ++counts.inputs;
  std::string written;
  if (!ways.reader->AppendJson(payload, written)) return;
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

/// SEEN_FUZZ_SEED moves the seeds, and SEEN_FUZZ_TIMES is how many times as many there are.
uint64_t FuzzNumber(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

void Report(const ProtobufCounts& counts) {
  if (FuzzNumber("SEEN_FUZZ_TIMES", 0) == 0) return;
  std::cout << "inputs " << counts.inputs << ", accepted " << counts.accepted << ", of these the short way "
            << counts.short_way << "\n";
}

/// A random schema with a reader, and messages of it.
struct RandomCase {
  explicit RandomCase(uint64_t seed) : random(seed), nested(random() % 2 == 0), plan(random, nested) {
    text = ProtoMaker(random).File(nested);
    const auto first = ProtobufOf(text);
    schema = first->MessageAt(std::vector{first->message().file()->message_type_count() - 1}).value();
    ways = std::make_unique<ProtobufWays>(schema, plan.format);
    prototype = factory.GetPrototype(&schema->message());
  }

  std::string Payload() {
    std::string payload;
    // Two messages, one behind the other, are merged.
    for (int parts = random() % 4 == 0 ? 2 : 1; parts > 0; --parts) {
      const std::unique_ptr<pb::Message> message(prototype->New());
      Fill(*message, random, 4);
      payload += message->SerializePartialAsString();
    }
    return payload;
  }

  Random random;
  bool nested;
  RandomPlan plan;
  std::string text;
  std::shared_ptr<const ProtobufSchema> schema;
  std::unique_ptr<ProtobufWays> ways;
  pb::DynamicMessageFactory factory;
  const pb::Message* prototype;
};

TEST(ProtobufReader, BothWaysAgreeOnRandomSchemasAndMessages) {
  const uint64_t from = FuzzNumber("SEEN_FUZZ_SEED", 0), count = 600 * FuzzNumber("SEEN_FUZZ_TIMES", 1);
  ProtobufCounts counts;
  size_t made = 0;
  for (uint64_t seed = from; seed < from + count && !HasFailure(); ++seed) {
    RandomCase one(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + " " + one.text);
    ASSERT_TRUE(one.ways->reader || one.ways->error.starts_with("input.fields.")) << one.ways->error;
    if (!one.ways->reader) continue;
    ++made;
    const std::set<std::string> asked = one.plan.Asked();
    for (int i = 0; i < 6 && !HasFailure(); ++i) {
      const std::string payload = one.Payload();
      const std::unique_ptr<pb::Message> message(one.prototype->New());
      ASSERT_TRUE(message->ParsePartialFromString(payload));
      const std::string written = one.ways->Json(payload);
      EXPECT_EQ(nlohmann::json::parse(written, nullptr, false), Walk(asked).Of(*message, "")) << written;
      CompareProtobufWays(*one.ways, payload, counts);
      EXPECT_EQ(one.ways->Short(payload + '\0'), "long way");
    }
  }
  EXPECT_GT(made, count / 2);
  EXPECT_GT(counts.accepted, made);
  EXPECT_GT(counts.short_way, counts.accepted / 5);
  Report(counts);
}

TEST(ProtobufReader, StandsTruncatedAndChangedBytes) {
  const uint64_t from = FuzzNumber("SEEN_FUZZ_SEED", 0) + 1'000'000,
                 count = 100 * FuzzNumber("SEEN_FUZZ_TIMES", 1);
  constexpr size_t kChanges = 300;
  ProtobufCounts counts;
  for (uint64_t seed = from; seed < from + count && !HasFailure(); ++seed) {
    RandomCase one(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + " " + one.text);
    if (!one.ways->reader) continue;
    const std::string payload = one.Payload();
    for (size_t size = 0; size < payload.size() && !HasFailure(); size += 1 + size / 256)
      CompareProtobufWays(*one.ways, payload.substr(0, size), counts);
    for (size_t i = 0; i < kChanges && !HasFailure(); ++i) {
      std::string changed = payload;
      for (auto edits = 1 + one.random() % 3; edits > 0 && !changed.empty(); --edits) {
        const size_t at = one.random() % changed.size();
        const auto byte = static_cast<char>(one.random() % 2 == 0 ? changed[at] ^ 1 << one.random() % 8
                                                                  : static_cast<int>(one.random() % 256));
        switch (one.random() % 4) {
          case 0:
            changed.insert(at, 1, byte);
            break;
          case 1:
            changed.erase(at, 1);
            break;
          default:
            changed[at] = byte;
        }
      }
      CompareProtobufWays(*one.ways, changed, counts);
    }
  }
  EXPECT_GT(counts.accepted, 0u);
  EXPECT_GT(counts.short_way, 0u);
  Report(counts);
}

}  // namespace
}  // namespace seen
