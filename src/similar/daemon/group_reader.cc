#include "similar/daemon/group_reader.h"

#include <algorithm>

#include "base/log.h"
#include "model/hashes.h"
#include "similar/port/item_group.h"

namespace seen {
namespace {
using std::chrono::milliseconds;
constexpr milliseconds kAsk{5000};
constexpr milliseconds kPoll{200};
constexpr milliseconds kBackOffMin{100};
constexpr milliseconds kBackOffMax{5000};
constexpr std::chrono::seconds kFlushed{30};
constexpr size_t kIdBytesShown = 64;

bool SameRecord(const RocksGroupTable::Position& position, const Record& record) {
  return record.timestamp == position.anchor_timestamp &&
         RecordHash(record.key, record.value) == position.anchor_hash;
}
}  // namespace

GroupReader::GroupReader(Options options, RocksGroupTable& table)
    : options_(std::move(options)), table_(table), back_off_(kBackOffMin, kBackOffMax) {
  thread_.Start("groups", milliseconds(0), [this] { return Step(); });
}

GroupReader::~GroupReader() { Stop(); }

void GroupReader::Stop() {
  if (thread_.stopping()) return;
  thread_.Stop();
  if (Status flushed = table_.Flush(); !flushed) SetProblem(flushed.error().message);
}

ItemGroupsStatus GroupReader::GetStatus() const {
  const GroupTableFigures figures = table_.Figures();
  const MutexLock lock(mutex_);
  ItemGroupsStatus status = status_;
  status.rows = figures.rows;
  status.bytes = figures.bytes;
  status.cache_bytes = figures.memory_bytes;
  status.disk_reads = figures.disk_reads_total;
  status.errors = figures.errors_total;
  status.too_far_ahead = figures.too_far_ahead_total;
  return status;
}

void GroupReader::SetProblem(std::string problem) {
  const MutexLock lock(mutex_);
  if (!problem.empty() && problem != status_.problem) {
    log::Warning("groups of items aren't read", {{"reason", problem}});
  }
  status_.problem = std::move(problem);
}

milliseconds GroupReader::Step() {
  const auto begun = std::chrono::steady_clock::now();
  if (Status followed = Follow(); !followed) {
    if (followed.error().code == Code::kRefused) {
      log::Warning("the copy of the groups of items is rebuilt", {{"reason", followed.error().message}});
      if (Status reset = table_.Reset(); !reset) SetProblem(reset.error().message);
    } else {
      SetProblem(followed.error().message);
    }
  }
  if (std::chrono::steady_clock::now() - begun > kBackOffMax) back_off_.Reset();
  return back_off_.Next();
}

// Reads until it is asked to stop. kRefused: the copy was made from another log.
Status GroupReader::Follow() {
  Reading reading;
  if (Status begun = Begin(reading); !begun) return begun;
  SetProblem("");
  const auto take = [&](int32_t partition, std::span<const Record> records) {
    return Take(reading, partition, records);
  };
  auto flushed = std::chrono::steady_clock::now();
  NoteProgress(reading);
  while (!thread_.stopping()) {
    if (const auto polled = reading.follower->Poll(kPoll, take); !polled) return Fail(polled.error());
    NoteProgress(reading);
    if (const auto now = std::chrono::steady_clock::now(); now - flushed > kFlushed) {
      flushed = now;
      if (Status done = table_.Flush(); !done) return done;
    }
  }
  return {};
}

Status GroupReader::Begin(Reading& reading) {
  auto opened = TopicReader::OpenToFollow(options_, kAsk);
  if (!opened) return Fail(opened.error());
  reading.follower = std::move(*opened);
  const auto& ends = reading.follower->ends();
  const auto foreign =
      table_.Identify(reading.follower->Cluster(kAsk), options_.topic, static_cast<int32_t>(ends.size()));
  if (!foreign) return Fail(foreign.error());
  if (*foreign) log::Warning("the copy of the groups of items came from another topic: it is rebuilt");
  std::vector<int64_t> from;
  for (size_t i = 0; i < ends.size(); ++i) {
    auto position = table_.PositionOf(static_cast<int32_t>(i));
    if (!position) return Fail(position.error());
    const std::string name = options_.topic + "/" + std::to_string(i);
    if (*position && (*position)->next_offset > ends[i].high) {
      return Fail(Code::kRefused, name + " ends at " + std::to_string(ends[i].high) +
                                      ", but was read up to " + std::to_string((*position)->next_offset) +
                                      ": the topic was recreated");
    }
    if (*position && (*position)->next_offset < ends[i].low) {
      return Fail(Code::kRefused, name + " begins at " + std::to_string(ends[i].low) +
                                      " now, but was read up to " + std::to_string((*position)->next_offset));
    }
    RocksGroupTable::Position at;
    at.next_offset = ends[i].low;
    if (*position) at = **position;
    const bool anchored = at.anchor_offset >= ends[i].low && at.anchor_offset >= 0;
    reading.positions.push_back(at);
    reading.anchor_is_checked.push_back(!anchored);
    from.push_back(anchored ? at.anchor_offset : at.next_offset);
  }
  return reading.follower->FollowFrom(from);
}

Status GroupReader::Take(Reading& reading, int32_t partition, std::span<const Record> records) {
  const auto index = static_cast<size_t>(partition);
  RocksGroupTable::Position& position = reading.positions[index];
  std::vector<GroupRecord> taken;
  std::vector<ItemGroup> groups;
  groups.reserve(records.size());
  taken.reserve(records.size());
  for (const Record& record : records) {
    if (!reading.anchor_is_checked[index]) {
      reading.anchor_is_checked[index] = true;
      // Compaction may have removed the anchor, so that a later record comes first. Then there is nothing to
      // compare.
      if (record.offset == position.anchor_offset && !SameRecord(position, record)) {
        return Fail(Code::kRefused, options_.topic + "/" + std::to_string(partition) +
                                        ": another record is at offset " + std::to_string(record.offset) +
                                        ": the topic was recreated");
      }
    }
    if (record.offset < position.next_offset) continue;
    position.next_offset = record.offset + 1;
    position.anchor_offset = record.offset;
    position.anchor_timestamp = record.timestamp;
    position.anchor_hash = RecordHash(record.key, record.value);
    if (record.key.empty() || record.key.size() > kIdBytesMax) {
      NoteUnreadable(partition, record, "key: not an item id of 1 to 512 bytes");
      continue;
    }
    if (record.value_is_null) {
      taken.push_back({record.key, nullptr, {}, record.timestamp});
      continue;
    }
    auto group = ReadItemGroup(record.value);
    if (!group) {
      NoteUnreadable(partition, record, group.error().message);
      continue;
    }
    if (group->item_id != record.key) {
      NoteUnreadable(partition, record, "item_id: differs from the key");
      continue;
    }
    groups.push_back(std::move(*group));
    taken.push_back({record.key, &groups.back(), record.value, record.timestamp});
  }
  if (Status applied = table_.Apply(partition, position, taken); !applied) return applied;
  const MutexLock lock(mutex_);
  status_.records += taken.size();
  return {};
}

void GroupReader::NoteUnreadable(int32_t partition, const Record& record, const std::string& why) {
  {
    const MutexLock lock(mutex_);
    ++status_.unreadable;
  }
  if (!log_budget_.Allow()) return;
  log::Warning("a record of groups can't be read", {{"reason", why},
                                                    {"topic", options_.topic},
                                                    {"partition", partition},
                                                    {"offset", record.offset},
                                                    {"key", std::string(record.key.substr(0, kIdBytesShown))},
                                                    {"lines_held_back", log_budget_.TakeHeldBack()}});
}

void GroupReader::NoteProgress(const Reading& reading) {
  int64_t lag = 0;
  for (size_t i = 0; i < reading.positions.size(); ++i) {
    lag += std::max<int64_t>(
        0, reading.follower->HighWatermark(static_cast<int32_t>(i)) - reading.positions[i].next_offset);
  }
  const MutexLock lock(mutex_);
  status_.topic = options_.topic;
  status_.lag_messages = lag;
}

}  // namespace seen
