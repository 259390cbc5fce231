#include "binary/avro_schema.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"

namespace seen {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 14> kTypeNames = {"null",   "boolean", "int",    "long",  "float",
                                                         "double", "bytes",   "string", "fixed", "enum",
                                                         "record", "array",   "map",    "union"};
constexpr size_t kPrimitives = 8;
constexpr std::array<std::string_view, 13> kLogicalNames = {"",
                                                            "date",
                                                            "time-millis",
                                                            "time-micros",
                                                            "timestamp-millis",
                                                            "timestamp-micros",
                                                            "timestamp-nanos",
                                                            "local-timestamp-millis",
                                                            "local-timestamp-micros",
                                                            "local-timestamp-nanos",
                                                            "decimal",
                                                            "uuid",
                                                            "duration"};
constexpr size_t kJsonDepthMax = 4 * AvroSchema::kDepthMax;  // a field's type lies in four levels of JSON

// Apache's Java writes other names than the specification allows, if it is asked to: com.my-shop, 标题.
bool IsName(std::string_view name) { return !name.empty() && name.find('.') == std::string_view::npos; }

/// Names with dots between them.
bool IsFullName(std::string_view name) {
  for (size_t dot = 0; dot != std::string_view::npos; name.remove_prefix(dot + 1)) {
    dot = name.find('.');
    if (!IsName(name.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
  }
  return false;
}

bool IsNamespace(std::string_view name) { return name.empty() || IsFullName(name); }

std::optional<AvroType> PrimitiveOf(std::string_view name) {
  for (size_t i = 0; i < kPrimitives; ++i) {
    if (kTypeNames[i] == name) return static_cast<AvroType>(i);
  }
  return std::nullopt;
}

std::string Quoted(std::string_view text) {
  constexpr size_t kBytesMax = 64;
  if (text.size() > kBytesMax) return "a text of " + std::to_string(text.size()) + " bytes";
  return "\"" + Printable(text) + "\"";
}

struct SchemaDocument {
  Json root;
  std::string error;
};

/// nlohmann keeps one of several members with the same name, so they are looked for while it parses.
SchemaDocument ParseSchemaJson(std::string_view text) {
  using ParseEvent = Json::parse_event_t;
  SchemaDocument document;
  std::vector<std::set<std::string>> names;
  const auto watch = [&](int depth, ParseEvent event, Json& value) {
    if (static_cast<size_t>(depth) > kJsonDepthMax && document.error.empty())
      document.error =
          "nested too deeply; at most " + std::to_string(AvroSchema::kDepthMax) + " types in one another";
    if (event == ParseEvent::object_start) names.emplace_back();
    if (event == ParseEvent::object_end) names.pop_back();
    if (event == ParseEvent::key && !names.back().insert(value.get<std::string>()).second &&
        document.error.empty())
      document.error = "the member " + Quoted(value.get<std::string>()) + " is twice in one object; keep one";
    return true;
  };
  try {
    document.root = Json::parse(text, watch);
  } catch (const Json::exception& error) {  // also of a number that no double has
    const std::string_view what = error.what();
    const size_t words = what.find("] ");
    document.error = "not JSON: " + Printable(what.substr(words == std::string_view::npos ? 0 : words + 2)) +
                     "; give the text of an .avsc file";
  }
  return document;
}

}  // namespace

std::string_view AvroTypeName(AvroType type) { return kTypeNames[static_cast<size_t>(type)]; }
std::string_view AvroLogicalName(AvroLogical logical) { return kLogicalNames[static_cast<size_t>(logical)]; }

const AvroSchema::Node& AvroSchema::RootRecord() const {
  const Node& root = nodes_[root_];
  if (root.type == AvroType::kRecord) return root;
  const bool first = nodes_[root.within.front()].type == AvroType::kRecord;
  return nodes_[first ? root.within.front() : root.within.back()];
}

/// Recursive, to kDepthMax. After the first error nothing more is read.
class AvroSchemaParser {
 public:
  tl::expected<std::shared_ptr<const AvroSchema>, std::string> Parse(
      std::string_view text, std::span<const std::string> referenced) {
    for (const std::string& one : referenced) ReadText(one, "a referenced schema");
    schema_->root_ = ReadText(text, "the schema");
    if (!Failed()) CheckRoot();
    if (Failed()) return tl::unexpected(std::move(error_));
    return std::shared_ptr<const AvroSchema>(std::move(schema_));
  }

 private:
  using Type = AvroType;
  using Logical = AvroLogical;
  using Node = AvroSchema::Node;

  bool Failed() const { return !error_.empty(); }
  uint32_t ReadText(std::string_view text, const std::string& place) {
    if (text.size() > AvroSchema::kTextBytesMax)
      Fail(place,
           std::to_string(text.size()) + " bytes; at most " + std::to_string(AvroSchema::kTextBytesMax));
    if (Failed()) return 0;
    const SchemaDocument document = ParseSchemaJson(text);
    error_ = document.error;
    return Failed() ? 0 : Read(document.root, {}, place, 1);
  }
  uint32_t Fail(const std::string& place, const std::string& message) {
    if (!Failed()) error_ = place + ": " + message;
    return 0;
  }
  Node& At(uint32_t node) { return schema_->nodes_[node]; }

  uint32_t Add(Type type, const std::string& place) {
    if (schema_->nodes_.size() == AvroSchema::kNodesMax)
      return Fail(place,
                  "the schema has more than " + std::to_string(AvroSchema::kNodesMax) + " types; use fewer");
    schema_->nodes_.push_back({});
    schema_->nodes_.back().type = type;
    return static_cast<uint32_t>(schema_->nodes_.size() - 1);
  }

  void CheckRoot() {
    const Node& root = At(schema_->root_);
    if (root.type == Type::kRecord) return;
    const bool is_pair = root.type == Type::kUnion && root.within.size() == 2;
    const auto has = [&](Type type) {
      return At(root.within[0]).type == type || At(root.within[1]).type == type;
    };
    if (is_pair && has(Type::kNull) && has(Type::kRecord)) return;
    Fail("the schema", "its type is " + std::string(AvroTypeName(root.type)) +
                           ", and an event is a record; name a record, or a union of null and one record");
  }

  uint32_t Read(const Json& type, const std::string& space, const std::string& place, size_t depth) {
    if (Failed()) return 0;
    if (depth > AvroSchema::kDepthMax)
      return Fail(place, "nested too deeply; at most " + std::to_string(AvroSchema::kDepthMax) +
                             " types in one another");
    if (type.is_string()) return ReadName(type.get_ref<const std::string&>(), space, place);
    if (type.is_array()) return ReadUnion(type, space, place, depth);
    if (!type.is_object())
      return Fail(place, "a type is " + std::string(type.type_name()) + "; give a name, an object or a list");
    const auto name = type.find("type");
    if (name == type.end()) return Fail(place, "a type without the member \"type\"; add it");
    if (!name->is_string()) return Read(*name, space, place, depth + 1);
    const std::string& kind = name->get_ref<const std::string&>();
    if (const auto primitive = PrimitiveOf(kind)) {
      const uint32_t node = Add(*primitive, place);
      if (!Failed()) ReadLogical(type, node);
      return node;
    }
    if (kind == "array") return ReadSeries(type, Type::kArray, "items", space, place, depth);
    if (kind == "map") return ReadSeries(type, Type::kMap, "values", space, place, depth);
    if (kind == "record" || kind == "error") return ReadRecord(type, space, place, depth);
    if (kind == "enum") return ReadEnum(type, space, place);
    if (kind == "fixed") return ReadFixed(type, space, place);
    return ReadName(kind, space, place);
  }

  uint32_t ReadName(const std::string& name, const std::string& space, const std::string& place) {
    if (const auto primitive = PrimitiveOf(name)) return Add(*primitive, place);
    auto found = named_.end();
    if (name.find('.') == std::string::npos && !space.empty()) found = named_.find(space + "." + name);
    if (found == named_.end()) found = named_.find(name);
    if (found != named_.end()) return found->second;
    return Fail(place, "unknown type " + Quoted(name) +
                           "; define it where it stands first, or write its namespace: \"shop.Item\"");
  }

  uint32_t ReadUnion(const Json& branches, const std::string& space, const std::string& place, size_t depth) {
    const uint32_t node = Add(Type::kUnion, place);
    if (branches.empty()) Fail(place, "a union without a branch; name at least one type");
    std::set<std::string> kinds;
    for (const Json& each : branches) {
      const uint32_t branch = Read(each, space, place, depth + 1);
      if (Failed()) return 0;
      const Node& read = At(branch);
      if (read.type == Type::kUnion) Fail(place, "a union directly in a union; join their branches");
      const std::string kind = read.name.empty() ? std::string(AvroTypeName(read.type)) : read.name;
      if (!kinds.insert(kind).second) Fail(place, "a union with " + kind + " twice; keep one");
      At(node).within.push_back(branch);
    }
    return node;
  }

  uint32_t ReadSeries(const Json& type, Type kind, const char* member, const std::string& space,
                      const std::string& place, size_t depth) {
    const std::string of = std::string(AvroTypeName(kind));
    const uint32_t node = Add(kind, place);
    if (!type.contains(member))
      return Fail(place, (kind == Type::kMap ? "a " : "an ") + of + " without the member \"" + member +
                             "\"; name the type there");
    const uint32_t within = Read(type[member], space, place + ", " + member, depth + 1);
    if (!Failed()) At(node).within = {within};
    return node;
  }

  /// The full name of the type that begins here. `space` becomes its namespace.
  std::string NameOf(const Json& type, const std::string& kind, std::string& space,
                     const std::string& place) {
    const auto name = type.find("name");
    if (name == type.end() || !name->is_string()) {
      Fail(place, "a type " + kind + " without a name; add the member \"name\"");
      return {};
    }
    std::string full = name->get<std::string>();
    if (full.find('.') == std::string::npos) {
      if (const auto own = type.find("namespace"); own != type.end() && !own->is_null()) {
        if (!own->is_string() || !IsNamespace(own->get_ref<const std::string&>())) {
          Fail(kind + " " + Quoted(full),
               "its namespace isn't a list of names with dots between them, such as \"com.shop\"");
          return {};
        }
        space = own->get<std::string>();
      }
      full = space.empty() ? full : space + "." + full;
    } else {
      space = full.substr(0, full.rfind('.'));
    }
    const std::string simple = full.substr(full.rfind('.') + 1);
    if (!IsFullName(full)) {
      Fail(place, "the name " + Quoted(full) + " of a type " + kind +
                      " is empty, or is so between two dots; give each part of it");
    } else if (PrimitiveOf(simple)) {
      Fail(place, "a type " + kind + " has the name of the primitive type " + simple + "; choose another");
    } else if (named_.contains(full)) {
      Fail(place, "the type " + full + " is defined twice; use its name alone where it stands again");
    }
    return full;
  }

  std::vector<std::string> Aliases(const Json& of, const std::string& space, bool are_types,
                                   const std::string& place) {
    std::vector<std::string> aliases;
    const auto list = of.find("aliases");
    if (list == of.end() || list->is_null()) return aliases;
    const bool is_list = list->is_array();
    if (!is_list) Fail(place, "aliases are " + std::string(list->type_name()) + "; give a list of names");
    for (const Json& each : is_list ? *list : Json::array()) {
      std::string alias = each.is_string() ? each.get<std::string>() : std::string();
      if (!(are_types ? IsFullName(alias) : IsName(alias))) {
        Fail(place, "the alias " + (each.is_string() ? Quoted(alias) : each.type_name()) +
                        " isn't a name; give a text that isn't empty, without a dot");
      }
      if (are_types && alias.find('.') == std::string::npos && !space.empty()) alias = space + "." + alias;
      aliases.push_back(std::move(alias));
    }
    return aliases;
  }

  /// A new node with its name, which the types within may use already.
  uint32_t AddNamed(const Json& type, Type kind, std::string& space, std::string& place) {
    const std::string kind_name(AvroTypeName(kind));
    const std::string name = NameOf(type, kind_name, space, place);
    if (Failed()) return 0;
    place = kind_name + " " + name;
    const uint32_t node = Add(kind, place);
    if (Failed()) return 0;
    At(node).name = name;
    At(node).aliases = Aliases(type, space, true, place);
    named_.emplace(name, node);
    return node;
  }

  uint32_t ReadRecord(const Json& type, std::string space, std::string place, size_t depth) {
    const uint32_t node = AddNamed(type, Type::kRecord, space, place);
    if (Failed()) return 0;
    const auto fields = type.find("fields");
    if (fields == type.end() || !fields->is_array())
      return Fail(place, "a record without the list \"fields\"; add it");
    std::set<std::string> names;
    for (const Json& each : *fields) {
      const auto name = each.is_object() ? each.find("name") : each.end();
      if (!each.is_object() || name == each.end() || !name->is_string())
        return Fail(place, "a field without a name; add the member \"name\"");
      AvroSchema::Field field;
      field.name = name->get<std::string>();
      if (!IsName(field.name))
        return Fail(place,
                    "the name " + Quoted(field.name) + " of a field is empty, or has a dot; rename it");
      if (!names.insert(field.name).second)
        return Fail(place, "the field " + field.name + " is defined twice; rename one");
      const std::string here = place + ", field " + field.name;
      if (!each.contains("type")) return Fail(here, "a field without a type; add the member \"type\"");
      field.aliases = Aliases(each, {}, false, here);
      if (each.contains("default")) field.default_json = JsonText(each["default"]);
      field.node = Read(each["type"], space, here, depth + 1);
      if (Failed()) return 0;
      At(node).fields.push_back(std::move(field));
    }
    return node;
  }

  uint32_t ReadEnum(const Json& type, std::string space, std::string place) {
    const uint32_t node = AddNamed(type, Type::kEnum, space, place);
    if (Failed()) return 0;
    const auto symbols = type.find("symbols");
    if (symbols == type.end() || !symbols->is_array())
      return Fail(place, "an enum without the list \"symbols\"; add it");
    std::set<std::string> known;
    for (const Json& each : *symbols) {
      if (!each.is_string() || !IsName(each.get_ref<const std::string&>()))
        return Fail(place, "the symbol " +
                               (each.is_string() ? Quoted(each.get<std::string>()) : each.type_name()) +
                               " isn't a name; give a text that isn't empty, without a dot");
      if (!known.insert(each.get<std::string>()).second)
        return Fail(place, "the symbol " + each.get<std::string>() + " is there twice; keep one");
      At(node).symbols.push_back(each.get<std::string>());
    }
    if (const auto symbol = type.find("default"); symbol != type.end()) {
      if (!symbol->is_string() || !known.contains(symbol->get<std::string>()))
        return Fail(place, "its default isn't one of its symbols; name one of them");
      At(node).symbol_default = symbol->get<std::string>();
    }
    return node;
  }

  uint32_t ReadFixed(const Json& type, std::string space, std::string place) {
    const uint32_t node = AddNamed(type, Type::kFixed, space, place);
    if (Failed()) return 0;
    const auto size = type.find("size");
    if (size == type.end() || !size->is_number_unsigned() || size->get<uint64_t>() > INT32_MAX)
      return Fail(place, "a fixed without a size; add \"size\", the number of its bytes");
    At(node).size = size->get<uint32_t>();
    ReadLogical(type, node);
    return node;
  }

  void ReadLogical(const Json& type, uint32_t at) {
    const auto named = type.find("logicalType");
    if (named == type.end() || !named->is_string()) return;
    const auto found =
        std::find(kLogicalNames.begin(), kLogicalNames.end(), named->get_ref<const std::string&>());
    if (found == kLogicalNames.end()) return;
    const auto logical = static_cast<Logical>(found - kLogicalNames.begin());
    Node& node = At(at);
    if (!Fits(logical, node)) return;
    if (logical == Logical::kDecimal && !ReadDecimal(type, node)) return;
    node.logical = logical;
  }

  static bool Fits(Logical logical, const Node& node) {
    switch (logical) {
      case Logical::kNone:
        return false;
      case Logical::kDate:
      case Logical::kTimeMillis:
        return node.type == Type::kInt;
      case Logical::kDecimal:
        return node.type == Type::kBytes || node.type == Type::kFixed;
      case Logical::kUuid:
        return node.type == Type::kString || (node.type == Type::kFixed && node.size == 16);
      case Logical::kDuration:
        return node.type == Type::kFixed && node.size == 12;
      default:
        return node.type == Type::kLong;
    }
  }

  /// False: the numbers are none of a decimal's, so the type is read as its bytes.
  static bool ReadDecimal(const Json& type, Node& node) {
    const Json none = 0;
    const Json& precision = type.contains("precision") ? type["precision"] : none;
    const Json& scale = type.contains("scale") ? type["scale"] : none;
    if (!precision.is_number_integer() || !scale.is_number_integer()) return false;
    const auto digits = precision.get<int64_t>();
    const auto decimals = scale.get<int64_t>();
    constexpr int64_t kDigitsMax = 1000;
    if (digits <= 0 || digits > kDigitsMax || decimals < 0 || decimals > digits) return false;
    // As many digits as every number of the fixed's bits has.
    if (node.type == Type::kFixed && static_cast<double>(digits) > 0.30103 * (8.0 * node.size - 1))
      return false;
    node.scale = static_cast<uint32_t>(decimals);
    return true;
  }

  std::shared_ptr<AvroSchema> schema_ = std::make_shared<AvroSchema>();
  std::map<std::string, uint32_t, std::less<>> named_;
  std::string error_;
};

tl::expected<std::shared_ptr<const AvroSchema>, std::string> AvroSchema::Parse(
    std::string_view text, std::span<const std::string> referenced) {
  return AvroSchemaParser().Parse(text, referenced);
}

}  // namespace seen
