#include "similar/store/rocks_group_table.h"

#include <algorithm>

#include "base/log.h"
#include "model/hashes.h"
#include "similar/port/item_group.h"
#include "similar/port/options.h"
#include "similar/store/group_database.h"

namespace seen {

using namespace group_rows;

RocksGroupTable::RocksGroupTable(GroupTableOptions options)
    : options_(std::move(options)),
      memory_(options_.memory_bytes, options_.window_days),
      database_(std::make_unique<GroupDatabase>(options_.path, options_.resources, options_.file_system,
                                                memory_.first_ms())) {}

RocksGroupTable::~RocksGroupTable() = default;

Result<std::unique_ptr<RocksGroupTable>> RocksGroupTable::Open(GroupTableOptions options,
                                                               std::string* dropped) {
  std::unique_ptr<RocksGroupTable> table(new RocksGroupTable(options));
  Status loaded = table->Load();
  if (!loaded && loaded.error().code == Code::kCorrupt) {
    if (dropped) *dropped = loaded.error().message;
    if (Status gone = table->database_->Destroy(); !gone) return Fail(gone.error());
    table.reset(new RocksGroupTable(std::move(options)));
    loaded = table->Load();
  }
  if (!loaded) return Fail(loaded.error());
  return table;
}

Status RocksGroupTable::Load() {
  if (Status opened = database_->Open(); !opened) return opened;
  const TimeMs stored_max = StoredTimeMax(options_.clock->WallNow(), options_.future_skew_max);
  const Status positions = database_->EachPosition([&](const Position& position) -> Status {
    if (position.newest > stored_max) {
      return Fail(database_->Corrupt("its newest item is ahead of this machine's clock by " +
                                     std::to_string((position.newest.value - stored_max.value) / 1000) +
                                     " s or more: rows that still count may be gone"));
    }
    if (position.newest != kNoTime) memory_.NoteTime(position.newest);
    return {};
  });
  return positions ? BuildPresence() : positions;
}

Status RocksGroupTable::BuildPresence() {
  return memory_.Rebuild([&](const GroupMemory::Take& take) {
    return database_->EachSimilarList([&](Fingerprint item, std::string_view row) {
      if (memory_.InWindow(group_rows::TimeOf(row))) take(item, row);
    });
  });
}

Result<bool> RocksGroupTable::Identify(std::string_view cluster, std::string_view topic, int32_t partitions) {
  const std::string wanted = DescriptorOf(cluster, topic, partitions);
  const auto is_of = database_->IsOf(wanted);
  if (!is_of) return Fail(is_of.error());
  if (*is_of && **is_of) return false;
  if (Status gone = Reset(); !gone) return Fail(gone.error());
  if (Status written = database_->Forget(wanted); !written) return Fail(written.error());
  return is_of->has_value();
}

Result<std::optional<RocksGroupTable::Position>> RocksGroupTable::PositionOf(int32_t partition) const {
  return database_->PositionOf(partition);
}

// An item's time is its producer's claim. An item that is ahead of the clock moves no window, and its own
// rows leave like those of an item that is new now.
TimeMs RocksGroupTable::TimeOf(const GroupRecord& record) {
  const TimeMs claimed = record.group->created_at;
  const TimeMs now = options_.clock->WallNow();
  const int64_t ahead_ms = claimed.value - now.value;
  if (ahead_ms <= options_.future_skew_max.count()) {
    memory_.NoteTime(claimed);
    return claimed;
  }
  too_far_ahead_total_.fetch_add(1, std::memory_order_relaxed);
  if (too_far_ahead_budget_.Allow()) {
    log::Warning(
        "an item in the topic of groups is ahead of this machine's clock: it doesn't move the window",
        {{"ahead_s", ahead_ms / 1000},
         {"remedy", "correct the clock that is wrong; if that was the item's clock, send the item again"},
         {"lines_held_back", too_far_ahead_budget_.TakeHeldBack()}});
  }
  return memory_.newest().value_or(now);
}

Status RocksGroupTable::Apply(int32_t partition, const Position& reached,
                              std::span<const GroupRecord> records) {
  rocksdb::WriteBatchWithIndex batch(rocksdb::BytewiseComparator(), 0, true);
  std::vector<std::pair<Fingerprint, std::string>>
      changed;  // with their similar; empty: alone, or look it up
  changed.reserve(records.size());
  std::string stored;
  for (const GroupRecord& record : records) {
    const Fingerprint item = FingerprintOf(record.item_id);
    changed.emplace_back(item, std::string());
    const std::string key = RecordKey(item, record.item_id);
    const auto found = database_->Read(batch, key, stored);
    if (!found) return Fail(found.error());
    if (*found) {
      const auto before = ParseRecord(stored);
      if (before && before->group_id != record.item_id &&
          (record.group == nullptr || record.group->group_id != before->group_id)) {
        batch.Delete(MemberPrefix(before->group_id).append(record.item_id));
      }
    }
    TimeMs time;
    if (record.group == nullptr) {
      batch.Delete(key);
    } else {
      time = TimeOf(record);
      batch.Put(key, RecordValue(time, *record.group, record.json));
      if (record.group->group_id != record.item_id) {
        batch.Put(MemberPrefix(record.group->group_id).append(record.item_id), MemberValue(time));
      }
    }
    if (record.group != nullptr && !record.group->IsAlone()) {
      memory_.Add(item);
      changed.back().second = SimilarListValue(time, *record.group);
      batch.Put(SimilarListKey(item), changed.back().second);
    } else if (memory_.MayHave(item)) {
      const auto had = database_->Read(batch, SimilarListKey(item), stored);
      if (!had) return Fail(had.error());
      const auto similar = *had ? ParseSimilarList(stored) : std::nullopt;
      if (similar && similar->check == CheckOf(record.item_id)) batch.Delete(SimilarListKey(item));
    }
  }
  Position position = reached;
  position.newest = memory_.newest().value_or(kNoTime);
  batch.Put(PositionKey(partition), EncodePosition(position));
  if (Status written = database_->Write(*batch.GetWriteBatch()); !written) return written;
  // After the write: a reader that read the old rows has an old ticket, and its fill is dropped.
  for (const auto& [item, similar] : changed) memory_.Changed(item, similar);
  return memory_.Fits() ? Status() : BuildPresence();
}

Status RocksGroupTable::Reset() {
  if (Status gone = database_->Forget({}); !gone) return gone;
  memory_.ForgetTimes();
  if (Status built = BuildPresence(); !built) return built;
  memory_.ClearCache();
  return {};
}

Status RocksGroupTable::Flush() { return database_->Flush(); }

void RocksGroupTable::Prefetch(Fingerprint item) const { memory_.Prefetch(item); }
void RocksGroupTable::PrefetchSimilar(Fingerprint item) const { memory_.PrefetchSimilar(item); }

void RocksGroupTable::NoteError(const Error& error) const {
  errors_total_.fetch_add(1, std::memory_order_relaxed);
  if (error_budget_.Allow()) {
    log::Error("the table of groups can't be read",
               {{"reason", error.message}, {"lines_held_back", error_budget_.TakeHeldBack()}});
  }
}

// Puts the group's first item, then the near items, into `similar` and returns their number. 0: the item is
// alone or unknown.
size_t RocksGroupTable::SimilarListOf(Fingerprint item, SimilarCache::Fingerprints& similar) const {
  if (!memory_.MayHave(item)) return 0;
  if (const auto cached = memory_.Find(item, similar)) return *cached;
  const SimilarCache::Ticket ticket = memory_.Begin(item);
  thread_local std::string row;
  row.clear();
  disk_reads_total_.fetch_add(1, std::memory_order_relaxed);
  const auto found = database_->Read(SimilarListKey(item), row);
  if (!found) {
    NoteError(found.error());
    return 0;
  }
  size_t count = 0;
  if (*found && memory_.InWindow(group_rows::TimeOf(row))) {
    const auto view = ParseSimilarList(row);
    if (!view) {
      NoteError(database_->Corrupt("a malformed list"));
      return 0;
    }
    count = view->count();
    for (size_t i = 0; i < count; ++i) similar[i] = view->at(i);
  }
  memory_.Fill(item, ticket, row, std::span(similar).first(count));
  return count;
}

void RocksGroupTable::AppendSimilar(Fingerprint item, std::vector<Fingerprint>& out) const {
  SimilarCache::Fingerprints similar;
  const size_t count = SimilarListOf(item, similar);
  if (count == 0) return;
  for (size_t i = 1; i < count; ++i) out.push_back(NearFingerprintOf(similar[i]));
  out.push_back(GroupFingerprintOf(similar[0]));
}

bool RocksGroupTable::AppendGroupAndNear(Fingerprint item, std::vector<Fingerprint>& out) const {
  SimilarCache::Fingerprints similar;
  const size_t count = SimilarListOf(item, similar);
  out.insert(out.end(), similar.begin(), similar.begin() + static_cast<std::ptrdiff_t>(count));
  return count > 0;
}

Result<std::optional<ItemGroup>> RocksGroupTable::Find(std::string_view item_id) const {
  rocksdb::PinnableSlice value;
  const auto found = database_->Read(RecordKey(FingerprintOf(item_id), item_id), value);
  if (!found) return Fail(found.error());
  if (!*found) return std::optional<ItemGroup>();
  const auto record = ParseRecord(value.ToStringView());
  if (!record) return Fail(database_->Corrupt("a malformed record"));
  if (!memory_.InWindow(record->time)) return std::optional<ItemGroup>();
  auto group = ReadItemGroup(record->json);
  if (!group) return Fail(database_->Corrupt(group.error().message));
  return std::optional<ItemGroup>(std::move(*group));
}

Result<std::vector<std::string>> RocksGroupTable::Members(std::string_view group_id, std::string_view after,
                                                          size_t limit) const {
  std::vector<std::string> members;
  const std::string prefix = MemberPrefix(group_id);
  // The group's first item has no member row.
  const auto first = Find(group_id);
  if (!first) return Fail(first.error());
  bool first_to_come = *first && (*first)->group_id == group_id && group_id > after;
  const auto row = database_->Scan();
  const auto add_first = [&] {
    if (first_to_come && members.size() < limit) members.emplace_back(group_id);
    first_to_come = false;
  };
  for (row->Seek(prefix + std::string(after)); row->Valid() && members.size() < limit; row->Next()) {
    std::string_view key = row->key().ToStringView();
    if (!key.starts_with(prefix)) break;
    key.remove_prefix(prefix.size());
    if (key <= after || !memory_.InWindow(group_rows::TimeOf(row->value().ToStringView()))) continue;
    if (group_id < key) add_first();
    if (members.size() < limit) members.emplace_back(key);
  }
  if (Status read = database_->ToRead(row->status()); !read) return Fail(read.error());
  add_first();
  return members;
}

GroupTableFigures RocksGroupTable::Figures() const {
  GroupTableFigures figures;
  figures.rows = database_->rows();
  figures.bytes = database_->bytes();
  figures.disk_reads_total = disk_reads_total_.load(std::memory_order_relaxed);
  figures.errors_total = errors_total_.load(std::memory_order_relaxed);
  figures.too_far_ahead_total = too_far_ahead_total_.load(std::memory_order_relaxed);
  figures.memory_bytes = memory_.bytes();
  return figures;
}

}  // namespace seen
