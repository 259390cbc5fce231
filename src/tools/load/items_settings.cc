#include "tools/load/items_settings.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "decode/json_pointer.h"

namespace seen {
namespace {

using Json = nlohmann::json;

Error Wrong(std::string_view key, const Json& value, std::string_view remedy) {
  return {Code::kInvalidArgument,
          fmt::format("{}: {}: {}", key, value.dump(-1, ' ', false, Json::error_handler_t::replace), remedy)};
}

/// Null where it isn't there.
const Json& Member(const Json& object, const char* name) {
  static const Json nothing;
  const auto found = object.is_object() ? object.find(name) : object.end();
  return !object.is_object() || found == object.end() ? nothing : *found;
}

Result<ItemFieldRule> ReadField(const std::string& key, const Json& value, ItemField field) {
  const bool is_time = field == ItemField::kCreatedAt;
  const Json& at = value.is_object() ? Member(value, "at") : value;
  if (!at.is_string()) {
    return Fail(Wrong(key, value,
                      is_time ? R"(must be a JSON pointer such as "/ts", or {"at": POINTER, "unit": UNIT})"
                              : R"(must be a JSON pointer such as "/data/id", or {"at": POINTER})"));
  }
  auto pointer = ParseJsonPointer(at.get_ref<const std::string&>());
  if (!pointer) return Fail(Wrong(key, at, pointer.error()));
  ItemFieldRule rule{.at = std::move(*pointer)};
  const Json& unit = value.is_object() ? Member(value, "unit") : Member(Json(), "");
  if (is_time && !unit.is_null()) {
    const auto known = unit.is_string() ? ParseTimeUnit(unit.get_ref<const std::string&>()) : std::nullopt;
    if (!known) return Fail(Wrong(key + ".unit", unit, R"(must be one of "ms", "s", "us", "rfc3339")"));
    rule.unit = *known;
  }
  return rule;
}

Status ReadFields(const Json& fields, ItemFormat& format) {
  if (fields.is_null()) return {};
  if (!fields.is_object())
    return Fail(Wrong("items.fields", fields, "must be an object of fields and pointers"));
  for (size_t i = 0; i < kItemFields; ++i) {
    const auto field = static_cast<ItemField>(i);
    const std::string name(ItemFieldName(field));
    const Json& value = Member(fields, name.c_str());
    if (value.is_null()) continue;
    auto rule = ReadField("items.fields." + name, value, field);
    if (!rule) return Fail(rule.error());
    format.fields[i] = std::move(*rule);
  }
  return {};
}

template <typename Number>
Status ReadNumber(const Json& items, const char* name, Number low, Number high, Number& into) {
  const Json& value = Member(items, name);
  if (value.is_null()) return {};
  const bool of_type = std::is_integral_v<Number> ? value.is_number_integer() : value.is_number();
  if (!of_type || value.get<double>() < static_cast<double>(low) ||
      value.get<double>() > static_cast<double>(high)) {
    return Fail(Wrong(fmt::format("items.{}", name), value, fmt::format("must be {} to {}", low, high)));
  }
  into = value.get<Number>();
  return {};
}

Status ReadText(const Json& section, const char* section_name, const char* name, std::string& into) {
  const Json& value = Member(section, name);
  if (value.is_null()) return {};
  if (!value.is_string() || value.get_ref<const std::string&>().empty())
    return Fail(Wrong(fmt::format("{}.{}", section_name, name), value, "must be a text"));
  into = value.get<std::string>();
  return {};
}

Result<ItemsSettings> FromJson(const Json& json) {
  const Json& items = Member(json, "items");
  if (!items.is_object()) {
    return Fail(
        Code::kInvalidArgument,
        items.is_null()
            ? R"(items: missing: nothing is grouped with this configuration; "items": {} has defaults )"
              "for all, as has leaving out --config"
            : Wrong("items", items, "must be an object").message);
  }
  ItemsSettings settings;
  std::string method = "both", verify = "sketch", idf_file;
  Status read = ReadText(Member(json, "kafka"), "kafka", "brokers", settings.brokers);
  if (read) read = ReadText(items, "items", "topic", settings.topic);
  if (read) read = ReadText(items, "items", "method", method);
  if (read) read = ReadText(items, "items", "verify", verify);
  if (read) read = ReadText(items, "items", "idf_file", idf_file);
  if (read) read = ReadNumber(items, "window_days", 1, 3650, settings.group.window_days);
  if (read) read = ReadNumber(items, "distance_max", 0, 3, settings.group.distance_max);
  if (read) read = ReadNumber(items, "similarity_min", 0.3, 1.0, settings.group.similarity_min);
  if (read) {
    read = ReadNumber(items, "text_bytes_max", uint64_t{1024}, uint64_t{64} << 20, settings.text_bytes_max);
  }
  if (read) read = ReadFields(Member(items, "fields"), settings.format);
  if (!read) return Fail(read.error());
  if (method != "both" && method != "simhash" && method != "minhash")
    return Fail(Wrong("items.method", method, R"(must be one of "simhash", "minhash", "both")"));
  if (verify != "sketch" && verify != "off")
    return Fail(Wrong("items.verify", verify, R"(must be one of "off", "sketch")"));
  settings.group.by_simhash = method != "minhash";
  settings.group.by_minhash = method != "simhash";
  settings.group.verify = verify == "sketch";
  if (!idf_file.empty()) settings.idf_file = idf_file;
  return settings;
}

Result<std::string> ReadWhole(std::string_view name, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Fail(Code::kNotFound, fmt::format("{}: {}: {}", name, path, std::strerror(errno)));
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

}  // namespace

Result<ItemsSettings> ParseItemsSettings(std::string_view json) {
  try {
    return FromJson(Json::parse(json, nullptr, true, /*ignore_comments=*/true));
  } catch (const Json::exception& error) {
    return Fail(Code::kInvalidArgument, error.what());
  }
}

Result<ItemsSettings> ReadItemsSettings(const std::string& path) {
  if (path.empty()) return ItemsSettings{};
  const auto text = ReadWhole("--config", path);
  if (!text) return Fail(text.error());
  auto settings = ParseItemsSettings(*text);
  if (!settings) {
    return Fail(settings.error().code,
                fmt::format("--config: {}: {} (seend --check-config names every mistake)", path,
                            settings.error().message));
  }
  return settings;
}

Result<std::shared_ptr<const IdfTable>> LoadIdfTable(const ItemsSettings& settings) {
  if (!settings.idf_file) return IdfTable::Bundled();
  const auto text = ReadWhole("items.idf_file", *settings.idf_file);
  if (!text) return Fail(text.error());
  auto table = IdfTable::Parse(*text);
  if (!table) {
    return Fail(table.error().code,
                fmt::format("items.idf_file: {}: {}", *settings.idf_file, table.error().message));
  }
  return table;
}

}  // namespace seen
