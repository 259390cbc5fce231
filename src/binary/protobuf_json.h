#pragma once
// The long way: an event of Protobuf as a JSON object. Room binary only.

#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "binary/place_tree.h"
#include "binary/protobuf_schema.h"
#include "model/event.h"

namespace seen {

/// One per thread; `schema` and `places` outlive it.
class ProtobufJson {
 public:
  ProtobufJson(const ProtobufSchema& schema, const PlaceTree& places);
  ~ProtobufJson();

  /// As BinaryReader::AppendJson. After a rejection `json` is as before.
  tl::expected<void, Rejection> Append(std::string_view payload, std::string& json);

 private:
  struct Dynamic;

  const ProtobufSchema& schema_;
  const PlaceTree& places_;
  std::unique_ptr<Dynamic> dynamic_;
};

}  // namespace seen
