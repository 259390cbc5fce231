#pragma once
// CSV and TSV with a header: which line of a file is its header, and each row as the JSON event that the
// configuration's field mapping reads.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "decode/event_format.h"

namespace seen {

/// How the columns of a file become an event. A column that has the name of a field goes where the
/// configuration says that the field stands. A column whose name begins with "/" goes to that JSON pointer.
/// Any other column is a member of its own name. Immutable after Make; one thread, for its buffers.
class RowTemplate {
 public:
  /// `header`: the first line. kInvalidArgument: it lacks the user or the item; names the columns it has.
  static Result<RowTemplate> Make(std::string_view header, const EventFormat& format);

  /// Whether a file whose text begins with `line` may be a table: not JSON, and with a separator in it.
  static bool LooksLikeHeader(std::string_view line);

  /// `json` gets the event of `row`. Empty cells are null. The error is one of this row: what is wrong with
  /// it. A quoted cell of CSV (RFC 4180) doesn't reach over the end of a line; TSV knows \t, \n, \r and \\.
  tl::expected<void, std::string> ToJson(std::string_view row, std::string& json);

 private:
  enum class Form : uint8_t {
    kText,    // always a string: ids, scene, kind
    kNumber,  // a number where it is one: times, position
    kList,    // JSON if it begins with "[": items
    kScalar,  // a number, true or false where it is one: what only conditions look at
  };
  struct Column {
    size_t place = 0;  // in values_
    Form form = Form::kText;
  };
  RowTemplate() = default;
  tl::expected<void, std::string> Split(std::string_view row);

  char separator_ = ',';
  std::vector<Column> columns_;     // in the file's order
  std::vector<std::string> texts_;  // the event's JSON around its values: one more than columns
  std::vector<std::string> cells_;
  std::vector<std::string> values_;
  size_t cells_used_ = 0;
};

}  // namespace seen
