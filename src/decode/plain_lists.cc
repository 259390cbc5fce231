#include "decode/plain_lists.h"

#include <simdjson.h>

#include <algorithm>

#include "decode/plain_scanner.h"
#include "model/event.h"

namespace seen {
namespace {

bool ReadIds(PlainScanner& json, size_t ids_max, std::vector<std::string_view>& ids) {
  if (!json.Take('[')) return false;
  if (json.Take(']')) return true;
  do {
    Scalar id;
    if (!json.TakeScalar(id) || ids.size() == ids_max) return false;
    if (id.kind != ScalarKind::kString && id.kind != ScalarKind::kInteger) return false;
    if (id.text.empty() || id.text.size() > kIdBytesMax) return false;
    ids.push_back(id.text);
  } while (json.Take(','));
  return json.Take(']');
}

}  // namespace

bool ReadPlainLists(std::string_view text, size_t ids_max, std::span<const std::string_view> names,
                    std::span<std::vector<std::string_view>> lists, std::span<bool> given) {
  PlainScanner json(text);
  std::fill(given.begin(), given.end(), false);
  if (!json.Take('{')) return false;
  if (!json.Take('}')) {
    do {
      std::string_view name;
      if (!json.TakeString(name) || !json.Take(':')) return false;
      const auto known = static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
      if (known == names.size() || given[known]) return false;
      given[known] = true;
      if (!ReadIds(json, ids_max, lists[known])) return false;
    } while (json.Take(','));
    if (!json.Take('}')) return false;
  }
  return json.AtEnd() && (!json.beyond_ascii() || simdjson::validate_utf8(text.data(), text.size()));
}

}  // namespace seen
