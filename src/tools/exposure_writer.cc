#include "tools/exposure_writer.h"

#include <charconv>

namespace seen {
namespace {

void AppendNumber(int64_t value, std::string& out) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
  out.append(digits, end);
}

void AppendHead(const ExposureFields& fields, std::string& out) {
  out.assign(R"({"user_id":")").append(fields.user_id);
}

void AppendTime(const ExposureFields& fields, std::string& out) {
  out.append(R"(,"exposed_at":)");
  AppendNumber(fields.exposed_at.value, out);
  out.append(R"(,"scene":")").append(fields.scene);
}

}  // namespace

void WriteExposure(const ExposureFields& fields, std::string_view item_id, std::string& out) {
  AppendHead(fields, out);
  out.append(R"(","item_id":")").append(item_id).push_back('"');
  AppendTime(fields, out);
  out.append(R"(","position":)");
  AppendNumber(fields.position, out);
  out.append(R"(,"request_id":")").append(fields.request_id).append("\"}");
}

void WriteBatchExposure(const ExposureFields& fields, std::span<const std::string_view> item_ids,
                        std::string& out) {
  AppendHead(fields, out);
  out.push_back('"');
  AppendTime(fields, out);
  out.append(R"(","request_id":")").append(fields.request_id).append(R"(","items":[)");
  uint32_t position = fields.position;
  for (const std::string_view item_id : item_ids) {
    if (position != fields.position) out.push_back(',');
    out.append(R"({"item_id":")").append(item_id).append(R"(","position":)");
    AppendNumber(position++, out);
    out.push_back('}');
  }
  out.append("]}");
}

}  // namespace seen
