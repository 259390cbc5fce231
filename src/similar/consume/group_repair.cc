#include "similar/consume/group_repair.h"

#include "base/log.h"

namespace seen {
namespace {
constexpr size_t kAtOnce = 256;
constexpr std::chrono::milliseconds kReadAgainAfter{1000};
}  // namespace

Result<bool> GroupRepair::Step(Instant now) {
  if (now < read_at_) return false;
  if (Status read = guard_->Read(now); !read) {
    read_at_ = now + kReadAgainAfter;
    if (budget_.Allow())
      log::Warning("the topic of groups can't be watched; the daemon tries again",
                   {{"reason", read.error().message}});
  }
  uint64_t repaired = 0;
  std::string example;
  for (const ForeignGroup& foreign : guard_->Take(now, kAtOnce)) {
    const auto sent = flow_.Repair(foreign);
    if (!sent) return Fail(sent.error());
    if (*sent && repaired++ == 0)
      example = "\"" + foreign.item_id + "\", decided by \"" + foreign.decided_by + "\"";
  }
  flow_.SetVerified(guard_->Verified());
  if (repaired == 0) return false;
  repaired_total_.fetch_add(repaired, std::memory_order_relaxed);
  if (budget_.Allow()) {
    log::Warning(
        "somebody else wrote into the topic of groups: these items' groups are sent again",
        {{"index", index_name_},
         {"items", repaired},
         {"example", example},
         {"remedy",
          "if this happens once, after a machine stood still, do nothing; otherwise look for another writer"},
         {"lines_held_back", budget_.TakeHeldBack()}});
  }
  return true;
}

}  // namespace seen
