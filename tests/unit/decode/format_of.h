#pragma once
// Short ways to write event formats in tests.

#include <string_view>
#include <vector>

#include "decode/event_format.h"

namespace seen {

inline JsonPointer Pointer(std::string_view text) { return ParseJsonPointer(text).value(); }

inline void SetField(EventFormat& format, Field field, std::string_view pointer,
                     TimeUnit unit = TimeUnit::kMilliseconds) {
  format.fields[static_cast<size_t>(field)] = FieldRule{Pointer(pointer), unit};
}

inline Condition AnyOf(std::string_view pointer, std::vector<std::string> texts) {
  Condition condition{Pointer(pointer), Condition::Test::kIn, {}};
  for (std::string& text : texts) condition.values.push_back({ScalarKind::kString, std::move(text)});
  return condition;
}

inline Condition BeginsWith(std::string_view pointer, std::string text) {
  return {Pointer(pointer), Condition::Test::kPrefix, {{ScalarKind::kString, std::move(text)}}};
}

}  // namespace seen
