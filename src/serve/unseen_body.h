#pragma once
// The JSON of POST .../unseen. Only this header and the files behind it know how to read and write that JSON.

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "query/query_port.h"

namespace seen {

inline constexpr size_t kUnseenItemsMax = 20'000;  // of each list

/// Item ids have 1 to kIdBytesMax bytes of UTF-8. An integer has become its decimal string.
class UnseenQuestion {
 public:
  std::span<const std::string_view> items() const { return items_; }
  /// When the items were created, by place, in seconds since the epoch; 0: not known. Empty: not known for
  /// any item.
  std::span<const uint32_t> created_seconds() const { return created_seconds_; }
  std::span<const std::string_view> also_seen() const { return also_seen_; }
  bool one_per_group() const { return one_per_group_; }

 private:
  friend Result<UnseenQuestion> ParseUnseenQuestion(std::string_view body);
  std::shared_ptr<const std::string> bytes_;  // what the views point into, unless they point into the body
  std::vector<std::string_view> items_;
  std::vector<uint32_t> created_seconds_;
  std::vector<std::string_view> also_seen_;
  bool one_per_group_ = false;
};

/// `{"items":["a",7,{"id":"b","created_at":1763700000000}],"also_seen":["c"],"one_per_group":true}`; all but
/// `items` may be absent.
/// kInvalidArgument names the JSON path of what is wrong: "$.items[3]: empty". Unknown and repeated keys are
/// errors. Any thread.
Result<UnseenQuestion> ParseUnseenQuestion(std::string_view body);

/// `{"unseen":[...]}`. `unseen`: indices into `items`.
std::string WriteUnseenAnswer(std::span<const std::string_view> items, std::span<const uint32_t> unseen);
/// The same, with `"similar":[{"item_id":"n7","like":"n1","because":"near"}]` if the answer has `similar`.
std::string WriteUnseenAndSimilar(std::span<const std::string_view> items, const UnseenAnswer& answer);

// The strict reader of a POST .../unseen body, which can name a mistake. For serve/unseen_body.cc.

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
