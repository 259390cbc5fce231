#include "state_stream/stream_end.h"

#include <algorithm>

namespace seen {
namespace {
// A former owner's last records may name an older base, or none. So several records are read.
constexpr int64_t kLastRecords = 64;
}  // namespace

Result<StreamEnd> ReadStreamEnd(StateLog& log, int32_t partition, int64_t before) {
  StreamEnd end;
  int64_t reached_epoch = kNoOffset;
  int64_t named_by = kNoOffset;  // the epoch that named `newest_base`
  // A base that a former owner ended after the next opening doesn't count. So the last owner's word decides.
  const auto take_name = [&](int64_t epoch, int64_t base_at) {
    end.bases.insert(base_at);
    if (epoch < named_by) return;
    named_by = epoch;
    end.newest_base = base_at;
  };
  const auto take_part = [&](const StatePart& head) {
    take_name(head.epoch, head.base_at);
    end.openings.insert(head.epoch);
    end.owners_had = std::max(end.owners_had, head.to);
    // A restore doesn't reach a run behind a gap.
    if (!head.is_last || head.epoch != *end.openings.rbegin() || head.behind_gap) return;
    end.reaches = head.epoch == reached_epoch ? std::max(end.reaches, head.to) : head.to;
    reached_epoch = head.epoch;
  };
  const Status read = log.Read(partition, std::max<int64_t>(0, before - kLastRecords), before,
                               [&](int64_t offset, std::string_view record) {
                                 const auto decoded = DecodeStateRecord(record);
                                 if (!decoded) return true;  // an older record may name a base
                                 if (const auto* const part = std::get_if<ReadStatePart>(&*decoded)) {
                                   take_part(part->head);
                                 } else {
                                   const auto& opening = std::get<StateOpening>(*decoded);
                                   take_name(offset, opening.base_at);
                                   end.owners_had = std::max(end.owners_had, opening.position);
                                   // An owner whose position is where the stream leads goes on with the
                                   // stream.
                                   const bool goes_on = reached_epoch != kNoOffset && !end.openings.empty() &&
                                                        reached_epoch == *end.openings.rbegin() &&
                                                        opening.position == end.reaches;
                                   end.openings.insert(offset);
                                   if (goes_on) reached_epoch = offset;
                                 }
                                 return true;
                               });
  if (!read) return Fail(read.error());
  end.bases.erase(kNoOffset);
  // Nothing is known of an owner that has written nothing yet.
  if (!end.openings.empty() && reached_epoch != *end.openings.rbegin()) end.reaches = kNoOffset;
  return end;
}

}  // namespace seen
