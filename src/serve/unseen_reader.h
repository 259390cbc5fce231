#pragma once
// The strict reader of a POST .../unseen body, which can name a mistake. For serve/unseen_body.cc.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace seen {

inline constexpr std::array<std::string_view, 2> kUnseenKeys = {"items", "also_seen"};
inline constexpr std::string_view kOnePerGroupKey = "one_per_group";

class UnseenReader {
 public:
  struct List {
    bool given = false;
    std::vector<std::pair<size_t, size_t>> ids;  // start and length in `bytes`
  };

  /// Call it once. kInvalidArgument: see ParseUnseenQuestion.
  Status Read(std::string_view body);

  std::array<List, kUnseenKeys.size()> lists;
  std::vector<uint32_t> created_seconds;  // of the first list's ids; may be shorter than that list
  std::string bytes;
  bool one_per_group = false;
};

}  // namespace seen
