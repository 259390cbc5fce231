#include "similar/groups/group_guard.h"

#include <algorithm>

#include "model/event.h"
#include "model/hashes.h"
#include "similar/port/item_group.h"

namespace seen {

namespace {
constexpr size_t kDecidedByShown = 128;
}  // namespace

uint64_t GroupHash(std::string_view item_id, std::string_view value) { return RecordHash(item_id, value); }

Result<std::unique_ptr<GroupGuard>> GroupGuard::Open(Options options, const std::vector<int64_t>& verified) {
  std::unique_ptr<GroupGuard> guard(new GroupGuard(std::move(options)));
  auto topic = guard->options_.open(verified);
  if (!topic) return Fail(std::move(topic.error()));
  guard->topic_ = std::move(*topic);
  guard->waiting_.resize(guard->topic_->next_offsets().size());
  return guard;
}

Status GroupGuard::Read(Instant now) {
  if (IsFull()) return {};
  Status read = topic_->Read([&](const WrittenGroup& written) { Note(written, now); });
  if (read || read.error().code != Code::kRefused) return read;
  // Retention deleted records, or somebody created the topic again.
  auto topic = options_.open(Verified());
  if (!topic) return Fail(std::move(topic.error()));
  topic_ = std::move(*topic);
  waiting_.assign(topic_->next_offsets().size(), {});
  waiting_count_ = 0;
  return read;
}

void GroupGuard::Note(const WrittenGroup& written, Instant now) {
  if (written.item_id.empty() || written.item_id.size() > kIdBytesMax) return;  // not an item's key
  Waiting& waiting = waiting_[static_cast<size_t>(written.partition)];
  if (written.decided_by == options_.decided_by) {
    const auto found = waiting.items.find(written.item_id);
    if (found == waiting.items.end()) return;
    waiting.items.erase(found);
    --waiting_count_;
    return;
  }
  const std::optional<int32_t> index = IndexPartitionOf(written.decided_by);
  if (index && *index != options_.partition) return;
  if (waiting.items.empty()) waiting.first_offset = written.offset;
  const auto [item, is_new] = waiting.items.try_emplace(std::string(written.item_id));
  waiting_count_ += is_new;
  ForeignGroup& foreign = item->second;
  foreign = {item->first,
             std::nullopt,
             std::nullopt,
             index || options_.is_only_index,
             std::string(written.decided_by.substr(0, kDecidedByShown)),
             now};
  if (written.is_tombstone) return;
  foreign.value_hash = GroupHash(written.item_id, written.value);
  if (const auto group = ReadItemGroup(written.value)) foreign.created_at = group->created_at;
}

// A full guard doesn't wait for a newer record that may be on its way: sending a group twice does no harm.
std::vector<ForeignGroup> GroupGuard::Take(Instant now, size_t count_max) {
  std::vector<ForeignGroup> taken;
  const bool all = IsFull();
  for (size_t i = 0; i < waiting_.size() && waiting_count_ > 0; ++i) {
    if (!all && !topic_->AtEnd(static_cast<int32_t>(i))) continue;
    auto& items = waiting_[i].items;
    for (auto item = items.begin(); item != items.end() && taken.size() < count_max;) {
      if (!all && now - item->second.read_at < options_.settle) {
        ++item;
        continue;
      }
      taken.push_back(std::move(item->second));
      item = items.erase(item);
      --waiting_count_;
    }
  }
  return taken;
}

std::vector<int64_t> GroupGuard::Verified() const {
  std::vector<int64_t> verified = topic_->next_offsets();
  for (size_t i = 0; i < verified.size(); ++i) {
    if (!waiting_[i].items.empty()) verified[i] = waiting_[i].first_offset;
  }
  return verified;
}

}  // namespace seen
