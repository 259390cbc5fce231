#include "tools/compare/item_list.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace seen {

Result<std::vector<std::string>> ReadItemList(const nlohmann::json& list) {
  if (!list.is_array()) return Fail(Code::kInvalidArgument, "the items aren't a JSON array");
  std::vector<std::string> items;
  items.reserve(list.size());
  for (const nlohmann::json& element : list) {
    const nlohmann::json* id = &element;
    for (const char* name : {"item_id", "id"}) {
      if (element.is_object() && element.contains(name)) id = &element.at(name);
    }
    if (id->is_string()) {
      items.push_back(id->get<std::string>());
    } else if (id->is_number_integer()) {
      items.push_back(id->dump());
    } else {
      return Fail(Code::kInvalidArgument,
                  fmt::format("item {} isn't a string, an integer, or an object with an id", items.size()));
    }
  }
  return items;
}

}  // namespace seen
