#pragma once
// The long way: an event of Avro as a JSON object. Room binary only.

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "binary/avro_cursor.h"
#include "binary/avro_reading.h"
#include "model/event.h"

namespace seen {

/// One per thread; `reading` outlives it.
class AvroJson {
 public:
  explicit AvroJson(const AvroReading& reading) : reading_(reading) {}

  /// Values may be nested to this depth.
  static constexpr size_t kDepthMax = 64;

  /// As BinaryReader::AppendJson. After a rejection `json` is as before.
  tl::expected<void, Rejection> Append(std::string_view payload, std::string& json);

 private:
  enum class Written : uint8_t { kValue, kNothing, kFailed };  // kNothing: a value that JSON leaves out

  using Node = AvroReading::Node;

  Written Fail(std::string what);
  Written CutOff();
  Written Write(const Node& node, size_t depth);
  Written WriteInteger(const Node& node);
  template <typename Number>
  Written WriteFraction(Number number);
  Written WriteText(std::string_view bytes, bool is_string);
  Written WriteDecimal(const Node& node, std::string_view bytes);
  Written WriteFixed(const Node& node);
  Written WriteRecord(const Node& node, size_t depth);
  Written WriteMember(const std::string& name, bool kept, const Node& node, size_t depth);
  Written WriteSeries(const Node& node, size_t depth);
  Written WriteElement(const Node& node, size_t index, size_t depth);

  const AvroReading& reading_;
  std::string_view payload_;
  AvroCursor cursor_;
  std::string* json_ = nullptr;
  size_t json_max_ = 0;
  size_t values_left_ = 0;
  std::string problem_;
  std::string path_;             // of the value with the problem: "items[2].id"
  std::vector<uint8_t> number_;  // a decimal's, while it is divided
};

}  // namespace seen
