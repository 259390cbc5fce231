#include "binary/protobuf_reader.h"

#include <utility>

#include "binary/bad_places.h"
#include "binary/place_tree.h"
#include "binary/protobuf_json.h"
#include "binary/protobuf_steps.h"

namespace seen {

struct ProtobufReader::Parts {
  Parts(std::shared_ptr<const ProtobufSchema> of, std::shared_ptr<const EventPlan> plan)
      : schema(std::move(of)),
        places(PlaceTree::Of(*plan)),
        steps(ProtobufSteps::Make(*schema, places)),
        short_way(steps, std::move(plan)),
        json(*schema, places) {}

  const std::shared_ptr<const ProtobufSchema> schema;
  const PlaceTree places;
  const ProtobufSteps steps;
  ProtobufShortWay short_way;
  ProtobufJson json;
  std::optional<FormatError> missing;
};

ProtobufReader::ProtobufReader(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
ProtobufReader::~ProtobufReader() = default;

tl::expected<std::unique_ptr<ProtobufReader>, FormatError> ProtobufReader::Make(
    std::shared_ptr<const ProtobufSchema> schema, std::shared_ptr<const EventPlan> plan) {
  auto bad = FindBadPlaces(*schema, *plan);
  if (bad.unusable) return tl::unexpected(std::move(*bad.unusable));
  auto parts = std::make_unique<Parts>(std::move(schema), std::move(plan));
  parts->missing = std::move(bad.missing);
  return std::unique_ptr<ProtobufReader>(new ProtobufReader(std::move(parts)));
}

bool ProtobufReader::Read(std::string_view payload, EventBuffers& buffers, Event& event) {
  return parts_->short_way.Read(payload, buffers, event);
}

tl::expected<void, Rejection> ProtobufReader::AppendJson(std::string_view payload, std::string& json) {
  return parts_->json.Append(payload, json);
}

const FormatError* ProtobufReader::Missing() const { return parts_->missing ? &*parts_->missing : nullptr; }

}  // namespace seen
