#pragma once
// The JSON of POST .../unseen. Only this header and the files behind it know how to read and write that JSON.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "serve/query_port.h"

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

}  // namespace seen
