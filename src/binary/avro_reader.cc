#include "binary/avro_reader.h"

#include <utility>

#include "binary/avro_json.h"
#include "binary/avro_reading.h"
#include "binary/avro_steps.h"
#include "binary/bad_places.h"

namespace seen {

struct AvroReader::Parts {
  Parts(AvroReading made, const std::shared_ptr<const EventPlan>& plan)
      : reading(std::move(made)),
        steps(AvroSteps::Make(reading, *plan)),
        short_way(steps, plan),
        json(reading) {}

  const AvroReading reading;
  const AvroSteps steps;
  AvroShortWay short_way;
  AvroJson json;
  std::optional<FormatError> missing;
};

AvroReader::AvroReader(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
AvroReader::~AvroReader() = default;

tl::expected<std::unique_ptr<AvroReader>, FormatError> AvroReader::Make(
    const std::shared_ptr<const AvroSchema>& writer, const std::shared_ptr<const AvroSchema>& reader,
    const std::shared_ptr<const EventPlan>& plan) {
  auto reading = AvroReading::Make(*writer, reader.get());
  if (!reading)
    return tl::unexpected(
        FormatError{reader == nullptr ? "schema" : "reader_schema", std::move(reading.error())});
  auto bad = FindBadPlaces(*reading, *plan);
  if (bad.unusable) return tl::unexpected(std::move(*bad.unusable));
  auto parts = std::make_unique<Parts>(std::move(*reading), plan);
  parts->missing = std::move(bad.missing);
  return std::unique_ptr<AvroReader>(new AvroReader(std::move(parts)));
}

bool AvroReader::Read(std::string_view payload, EventBuffers& buffers, Event& event) {
  return parts_->short_way.Read(payload, buffers, event);
}

tl::expected<void, Rejection> AvroReader::AppendJson(std::string_view payload, std::string& json) {
  return parts_->json.Append(payload, json);
}

const FormatError* AvroReader::Missing() const { return parts_->missing ? &*parts_->missing : nullptr; }

}  // namespace seen
