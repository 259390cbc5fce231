#include "items/group_outbox.h"

namespace seen {

Status GroupOutbox::Send() {
  constexpr std::chrono::milliseconds kRoomPatience{100};
  bool waited = false;
  while (!waiting_.empty()) {
    const Record& record = waiting_.front();
    if (sink_.TrySend(record.item_id, record.group ? &*record.group : nullptr)) {
      waiting_.pop_front();
      ++sent_;
      waited = false;
      continue;
    }
    if (waited) return Fail(Code::kUnavailable, "the topic of groups takes no more records");
    waited = true;
    if (Status arrived = sink_.AwaitAll(kRoomPatience);
        !arrived && arrived.error().code != Code::kUnavailable) {
      return arrived;
    }
  }
  return {};
}

Status GroupOutbox::AwaitAll(std::chrono::milliseconds patience) {
  if (Status sent = Send(); !sent) return sent;
  return sink_.AwaitAll(patience);
}

}  // namespace seen
