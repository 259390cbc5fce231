#include "decode/plain_lists.h"

#include <simdjson.h>

#include <algorithm>

#include "decode/event_format.h"
#include "decode/plain_scanner.h"
#include "model/event.h"

namespace seen {
namespace {

using Kind = ScalarKind;

// `second` 0: unknown.
bool ReadCreatedAt(const Scalar& value, uint32_t& second) {
  if (value.kind == Kind::kNull) return true;
  if (value.kind != Kind::kInteger || value.text.front() == '-') return false;
  const int64_t ms = NumberOf(value.text);
  second = static_cast<uint32_t>(ms / 1000);
  return ms < kExposedAtEnd;
}

// Reads `{"id":"a","created_at":1763700000000}` after the first brace.
[[gnu::always_inline]] inline bool ReadDatedId(PlainScanner& json, std::string_view& id, uint32_t& second) {
  bool timed = false;
  do {
    bool names_id = json.ConsumeText("\"id\":");
    if (!names_id && !json.ConsumeText("\"created_at\":")) {
      std::string_view name;
      if (!json.ConsumeString(name) || !json.Take(':')) return false;
      names_id = name == "id";
      if (!names_id && name != "created_at") return false;
    }
    Scalar value;
    if (!json.ConsumeScalar(value)) return false;
    if (names_id) {
      if (!id.empty() || !IsId(value)) return false;
      id = value.text;
    } else {
      if (timed || !ReadCreatedAt(value, second)) return false;
      timed = true;
    }
  } while (json.Take(','));
  return !id.empty() && json.Take('}');
}

// `created_seconds`: nullptr for a list without creation times.
bool ReadIds(PlainScanner& json, size_t ids_max, std::vector<std::string_view>& ids,
             std::vector<uint32_t>* created_seconds) {
  if (!json.Take('[')) return false;
  if (json.Take(']')) return true;
  do {
    if (ids.size() == ids_max) return false;
    if (created_seconds != nullptr && json.Take('{')) {
      std::string_view id;
      uint32_t second = 0;
      if (!ReadDatedId(json, id, second)) return false;
      ids.push_back(id);
      if (second == 0) continue;
      created_seconds->resize(ids.size());
      created_seconds->back() = second;
      continue;
    }
    Scalar id;
    if (!json.ConsumeScalar(id) || !IsId(id)) return false;
    ids.push_back(id.text);
  } while (json.Take(','));
  if (created_seconds != nullptr && !created_seconds->empty()) created_seconds->resize(ids.size());
  return json.Take(']');
}

}  // namespace

bool ReadPlainLists(std::string_view text, size_t ids_max, std::span<const std::string_view> names,
                    std::span<std::vector<std::string_view>> lists, std::span<bool> given,
                    std::vector<uint32_t>& created_seconds, PlainSwitch& also) {
  PlainScanner json(text);
  created_seconds.clear();
  std::fill(given.begin(), given.end(), false);
  if (!json.Take('{')) return false;
  if (!json.Take('}')) {
    do {
      std::string_view name;
      if (!json.ConsumeString(name) || !json.Take(':')) return false;
      const auto known = static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
      if (known == names.size()) {
        Scalar value;
        if (name != also.name || also.given || !json.ConsumeScalar(value) || value.kind != Kind::kBoolean)
          return false;
        also.given = true;
        also.on = value.text == "true";
        continue;
      }
      if (given[known]) return false;
      given[known] = true;
      if (!ReadIds(json, ids_max, lists[known], known == 0 ? &created_seconds : nullptr)) return false;
    } while (json.Take(','));
    if (!json.Take('}')) return false;
  }
  return json.AtEnd() && (!json.beyond_ascii() || simdjson::validate_utf8(text.data(), text.size()));
}

}  // namespace seen
