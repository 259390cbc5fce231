#include "decode/item_format.h"

namespace seen {

std::string_view ItemFieldName(ItemField field) {
  constexpr std::array<std::string_view, kItemFields> kNames = {"item_id", "created_at", "title",
                                                                "text",    "lang",       "deleted"};
  return kNames[static_cast<size_t>(field)];
}

}  // namespace seen
