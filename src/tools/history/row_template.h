#pragma once
// CSV and TSV with a header. Recognizes a header, and turns each row into the JSON event that the
// configuration's field mapping reads.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "decode/event_format.h"

namespace seen {

/// How the columns of a file become an event. A column with the name of a field goes to that field's place in
/// the configuration. A column whose name begins with "/" goes to that JSON pointer. Any other column becomes
/// a member of its own name. Immutable after Make, except for its buffers: one thread.
class RowTemplate {
 public:
  /// `header`: the first line. kInvalidArgument: it lacks the user or the item. The error names its columns.
  static Result<RowTemplate> Make(std::string_view header, const EventFormat& format);

  /// Whether a file that begins with `line` may be a table: `line` isn't JSON and has a separator.
  static bool LooksLikeHeader(std::string_view line);

  /// Writes the event of `row` to `json`. Empty cells become null. The error says what is wrong with this
  /// row. A quoted cell of CSV (RFC 4180) must end on its line. TSV knows the escapes \t, \n, \r and \\.
  tl::expected<void, std::string> ToJson(std::string_view row, std::string& json);

 private:
  enum class Form : uint8_t {
    kText,    // always a string: ids, scene, kind
    kNumber,  // a number if the cell is one: times, position
    kList,    // JSON if it begins with "[": items
    kScalar,  // a number, true or false if the cell is one: only conditions read it
  };
  struct Column {
    size_t place = 0;  // index into values_
    Form form = Form::kText;
  };
  RowTemplate() = default;
  tl::expected<void, std::string> Split(std::string_view row);

  char separator_ = ',';
  std::vector<Column> columns_;     // in the file's order
  std::vector<std::string> texts_;  // the event's JSON between its values: one more than columns
  std::vector<std::string> cells_;
  std::vector<std::string> values_;
  size_t cells_used_ = 0;
};

}  // namespace seen
