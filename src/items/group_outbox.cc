#include "items/group_outbox.h"

namespace seen {
namespace {

// A full queue is waited for in short turns, 30 s in all; so long a checkpoint waits for acknowledgements.
constexpr std::chrono::milliseconds kTurn{100};
constexpr int kTurnsMax = 300;
constexpr std::chrono::milliseconds kAcknowledgePatience{30'000};

}  // namespace

Status GroupOutbox::Send() {
  int turns = 0;
  while (!waiting_.empty()) {
    const Record& record = waiting_.front();
    if (sink_.TrySend(record.item_id, record.group ? &*record.group : nullptr)) {
      waiting_.pop_front();
      turns = 0;
      continue;
    }
    if (++turns > kTurnsMax) return Fail(Code::kUnavailable, "the topic of groups takes no more records");
    if (Status arrived = sink_.AwaitAll(kTurn); !arrived && arrived.error().code != Code::kUnavailable) {
      return arrived;
    }
  }
  return {};
}

Status GroupOutbox::AwaitAll() {
  if (Status sent = Send(); !sent) return sent;
  return sink_.AwaitAll(kAcknowledgePatience);
}

}  // namespace seen
