#include "state_stream/state_record.h"

#include <algorithm>

#include "base/byte_codec.h"

namespace seen {
namespace {

constexpr uint8_t kOpening = 1;

// Flags of an opening, and of a part.
constexpr uint8_t kTakeover = 1;
constexpr uint8_t kLast = 1;
constexpr uint8_t kEndsBlock = 2;
constexpr uint8_t kBehindGap = 4;

tl::unexpected<Error> Malformed(size_t bytes) {
  return Fail(Code::kMalformed,
              "state record: " + std::to_string(bytes) + " bytes that are not a state record");
}

Result<StateRecord> DecodeOpening(FieldReader reader, size_t bytes) {
  StateOpening opening;
  const auto flags = reader.Get<uint8_t>();
  opening.takeover = flags == kTakeover;
  opening.at = {reader.Get<int64_t>()};
  opening.position = reader.Get<int64_t>();
  opening.base_at = reader.Get<int64_t>();
  opening.group = reader.GetText();
  opening.instance = reader.GetText();
  opening.program = reader.GetText();
  if (!reader.Complete() || flags > kTakeover || opening.position < kNoOffset || opening.base_at < kNoOffset)
    return Malformed(bytes);
  return opening;
}

Result<StateRecord> DecodePart(StreamKind kind, FieldReader reader, size_t bytes) {
  ReadStatePart part;
  part.head.kind = kind;
  const auto flags = reader.Get<uint8_t>();
  part.head.is_last = (flags & kLast) != 0;
  part.head.ends_block = (flags & kEndsBlock) != 0;
  part.head.behind_gap = (flags & kBehindGap) != 0;
  part.head.epoch = reader.Get<int64_t>();
  part.head.number = reader.Get<uint32_t>();
  part.head.part = reader.Get<uint32_t>();
  part.head.base_at = reader.Get<int64_t>();
  part.head.from = reader.Get<int64_t>();
  part.head.to = reader.Get<int64_t>();
  const auto verified = part.head.part == 0 ? reader.Get<uint16_t>() : uint16_t{0};
  for (uint32_t i = 0; i < verified && reader.ok(); ++i) {
    VerifiedOutput output;
    output.topic = reader.GetText();
    output.offset = reader.Get<int64_t>();
    part.head.verified.push_back(std::move(output));
  }
  part.bytes = reader.Rest();
  const StatePart& head = part.head;
  const bool plausible = reader.ok() && flags <= (kLast | kEndsBlock | kBehindGap) && head.epoch >= 0 &&
                         head.from >= 0 && head.from <= head.to && head.base_at >= kNoOffset &&
                         (!head.is_last || head.ends_block) &&
                         (kind == StreamKind::kRun || (head.from == head.to && !head.behind_gap));
  if (!plausible) return Malformed(bytes);
  return part;
}

}  // namespace

void EncodeStateOpening(const StateOpening& opening, std::string& out) {
  PutLittleEndian(kStateVersion, out);
  PutLittleEndian(kOpening, out);
  PutLittleEndian(uint8_t{opening.takeover ? kTakeover : uint8_t{0}}, out);
  PutLittleEndian(opening.at.value, out);
  PutLittleEndian(opening.position, out);
  PutLittleEndian(opening.base_at, out);
  PutText(opening.group, out);
  PutText(opening.instance, out);
  PutText(opening.program, out);
}

void EncodeStatePart(const StatePart& part, std::string& out) {
  PutLittleEndian(kStateVersion, out);
  PutLittleEndian(static_cast<uint8_t>(part.kind), out);
  const int flags =
      (part.is_last ? kLast : 0) | (part.ends_block ? kEndsBlock : 0) | (part.behind_gap ? kBehindGap : 0);
  PutLittleEndian(static_cast<uint8_t>(flags), out);
  PutLittleEndian(part.epoch, out);
  PutLittleEndian(part.number, out);
  PutLittleEndian(part.part, out);
  PutLittleEndian(part.base_at, out);
  PutLittleEndian(part.from, out);
  PutLittleEndian(part.to, out);
  if (part.part > 0) return;
  PutLittleEndian(static_cast<uint16_t>(part.verified.size()), out);
  for (const VerifiedOutput& output : part.verified) {
    PutText(output.topic, out);
    PutLittleEndian(output.offset, out);
  }
}

Result<StateRecord> DecodeStateRecord(std::string_view bytes) {
  FieldReader reader(bytes);
  const auto version = reader.Get<uint8_t>();
  const auto type = reader.Get<uint8_t>();
  if (!reader.ok()) return Malformed(bytes.size());
  if (version != kStateVersion) {
    return Fail(Code::kRefused, "state record: version " + std::to_string(version) +
                                    ", and this seend knows " + std::to_string(kStateVersion));
  }
  switch (type) {
    case kOpening:
      return DecodeOpening(reader, bytes.size());
    case static_cast<uint8_t>(StreamKind::kRun):
    case static_cast<uint8_t>(StreamKind::kBase):
      return DecodePart(static_cast<StreamKind>(type), reader, bytes.size());
    default:
      return Fail(Code::kRefused, "state record: type " + std::to_string(type) + " isn't known");
  }
}

Result<StateRecord> DecodeStateRecord(std::string_view bytes, int64_t offset) {
  auto decoded = DecodeStateRecord(bytes);
  if (!decoded) return decoded;
  const auto* const part = std::get_if<ReadStatePart>(&*decoded);
  const int64_t base_at = part != nullptr ? part->head.base_at : std::get<StateOpening>(*decoded).base_at;
  const int64_t epoch = part != nullptr ? part->head.epoch : kNoOffset;
  if (base_at <= offset && epoch < offset) return decoded;
  return Fail(Code::kMalformed, "state record: at offset " + std::to_string(offset) + ", names the offset " +
                                    std::to_string(std::max(base_at, epoch)));
}

}  // namespace seen
