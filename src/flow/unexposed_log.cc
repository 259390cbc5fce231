#include "flow/unexposed_log.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/byte_codec.h"
#include "decode/json_text.h"

namespace seen {
namespace {
uint32_t SecondOf(int64_t second) {
  return static_cast<uint32_t>(std::clamp<int64_t>(second, 0, std::numeric_limits<uint32_t>::max()));
}
}  // namespace

void UnexposedLog::AddServed(const UserKey& user, Fingerprint item, int64_t served_second, int64_t offset,
                             uint16_t place, std::string_view text) {
  const ServedRow row{SecondOf(policy_.DueOf(policy_.BucketOf(served_second))), user, item, offset, place};
  served_.push_back({row, texts_.size(), static_cast<uint32_t>(text.size())});
  texts_ += text;
  bytes_ += sizeof(Served) + text.size();
}

void UnexposedLog::AddExposed(const UserKey& user, Fingerprint item, int64_t exposed_second,
                              int64_t partition_second) {
  const uint32_t bucket = policy_.BucketOf(exposed_second);
  // The exposure comes too late for everything that was served before it.
  if (policy_.DueOf(bucket) < partition_second) return;
  const int64_t after = partition_second - int64_t{bucket} * policy_.width_s;
  exposed_.push_back({user, item, bucket, static_cast<uint32_t>(std::max<int64_t>(0, after))});
  bytes_ += sizeof(Exposed);
}

void UnexposedLog::AddErased(const UserKey& user) {
  // A linear search is enough: erasures are rare, and a tail isn't long.
  std::erase_if(served_, [&](const Served& served) { return served.row.user == user; });
  erased_.push_back(user);
  bytes_ += sizeof(UserKey);
}

void UnexposedLog::Sort() {
  std::sort(served_.begin(), served_.end(), [](const Served& a, const Served& b) { return a.row < b.row; });
  // A record may have been delivered again after a seek.
  served_.erase(std::unique(served_.begin(), served_.end(),
                            [](const Served& a, const Served& b) { return a.row == b.row; }),
                served_.end());
  const auto place = [](const Exposed& exposed) {
    return std::make_tuple(exposed.user, exposed.bucket, exposed.item, exposed.after_s);
  };
  std::sort(exposed_.begin(), exposed_.end(),
            [&](const Exposed& a, const Exposed& b) { return place(a) < place(b); });
  std::sort(erased_.begin(), erased_.end());
  erased_.erase(std::unique(erased_.begin(), erased_.end()), erased_.end());
}

std::vector<UnexposedLog::Resolved> UnexposedLog::ResolvedUsers() const {
  std::vector<Resolved> users;
  for (const Exposed& exposed : exposed_) {
    if (users.empty() || users.back().user != exposed.user) users.push_back({exposed.user, {}});
    auto& others = users.back().delta.others;
    if (others.empty() || others.back().bucket != exposed.bucket) {
      OtherSegment segment;
      segment.kind = SegmentKind::kResolving;
      segment.width_s = policy_.width_s;
      segment.bucket = exposed.bucket;
      others.push_back(std::move(segment));
    }
    OtherSegment& segment = others.back();
    if (!segment.fingerprints.empty() && segment.fingerprints.back() == exposed.item) continue;
    segment.fingerprints.push_back(exposed.item);
    segment.times.push_back(exposed.after_s);
  }
  return users;
}

std::string UnexposedText(std::string_view user_id, std::string_view item_id, TimeMs served_at,
                          std::string_view scene, const ItemDetails& details, std::string_view request_id) {
  const auto text_or_null = [](std::string_view text, std::string& out) {
    if (text.empty()) {
      out += "null";
    } else {
      AppendJsonString(text, out);
    }
  };
  std::string out;
  PutLittleEndian(served_at.value, out);
  PutText(user_id, out);
  out += R"({"user_id":)";
  AppendJsonString(user_id, out);
  out += R"(,"item_id":)";
  AppendJsonString(item_id, out);
  out += R"(,"served_at":)" + std::to_string(served_at.value) + R"(,"scene":)";
  text_or_null(scene, out);
  out += R"(,"position":)" + (details.position ? std::to_string(*details.position) : "null");
  out += R"(,"request_id":)";
  text_or_null(request_id, out);
  out += '}';
  return out;
}

Result<UnexposedParts> SplitUnexposedText(std::string_view text) {
  FieldReader reader(text);
  const TimeMs served_at{reader.Get<int64_t>()};
  const std::string_view user_id = reader.GetTextView();
  const std::string_view json = reader.Rest();
  if (reader.ok() && !json.empty()) return UnexposedParts{served_at, user_id, json};
  return Fail(Code::kCorrupt,
              "served item: " + std::to_string(text.size()) + " bytes that aren't a served item");
}

}  // namespace seen
