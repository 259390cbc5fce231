#pragma once
// Events that are JSON behind a registry's bytes, with a registry that a test scripts.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "decode/binary_reader.h"
#include "decode/event_format.h"
#include "decode/event_plan.h"

namespace seen::sim {

class FakeBinaryFormat final : public BinaryFormat {
 public:
  /// What the registry says of the schema; nullopt: it knows it.
  using Registry = std::function<std::optional<RejectReason>(uint32_t schema)>;
  explicit FakeBinaryFormat(Registry registry) : registry_(std::move(registry)) {}

  static std::shared_ptr<const EventPlan> PlanBy(Registry registry) {
    EventFormat format;
    format.binary = std::make_shared<FakeBinaryFormat>(std::move(registry));
    return *EventPlan::Make(format);
  }
  static std::string Framed(uint8_t schema, const std::string& json) {
    return std::string("\0\0\0\0", 4) + static_cast<char>(schema) + json;
  }

  std::unique_ptr<BinaryReader> NewReader(std::shared_ptr<const EventPlan>, MissingSchema) override {
    return std::make_unique<Reader>(registry_);
  }
  std::optional<FormatError> Check(const std::shared_ptr<const EventPlan>&) const override {
    return std::nullopt;
  }
  std::vector<std::string> Troubles() const override { return {}; }

 private:
  class Reader final : public BinaryReader {
   public:
    explicit Reader(Registry registry) : registry_(std::move(registry)) {}
    bool Read(std::string_view, EventBuffers&, Event&) override { return false; }
    tl::expected<void, Rejection> AppendJson(std::string_view payload, std::string& json) override {
      const auto reason =
          IsFramed(payload) ? registry_(SchemaIdOf(payload)) : std::optional(RejectReason::kNotDecodable);
      if (reason) return tl::unexpected(Rejection{*reason, {}, "by the test"});
      json += payload.substr(kFrameBytes);
      return {};
    }

   private:
    const Registry registry_;
  };
  const Registry registry_;
};

}  // namespace seen::sim
