#include "state_stream/restore.h"

#include <algorithm>
#include <utility>

#include "rows/keys.h"
#include "state_stream/part_reader.h"

namespace seen {

namespace {
// A former owner's last records may name an older base, or none. So several records are read. Records of
// others may stand behind the owner's: then more are.
constexpr int64_t kLastRecords = 64;
constexpr int64_t kMoreRecords = 16;  // times as many

/// Takes the records of the end of a partition, in their order.
class EndReader {
 public:
  void Take(int64_t offset, std::string_view record) {
    const auto decoded = DecodeStateRecord(record, offset);
    if (!decoded) {
      ++end_.refused;  // an older record may name a base
    } else if (const auto* const part = std::get_if<ReadStatePart>(&*decoded)) {
      TakePart(part->head);
    } else {
      TakeOpening(offset, std::get<StateOpening>(*decoded));
    }
  }
  StreamEnd Finish() {
    end_.bases.erase(kNoOffset);
    // Nothing is known of an owner that has written nothing yet.
    if (!end_.openings.empty() && reached_epoch_ != *end_.openings.rbegin()) end_.reaches = kNoOffset;
    return std::move(end_);
  }

 private:
  // A base that a former owner ended after the next opening doesn't count. So the last owner's word decides.
  void TakeName(int64_t epoch, int64_t base_at) {
    end_.bases.insert(base_at);
    if (epoch < named_by_) return;
    named_by_ = epoch;
    end_.newest_base = base_at;
  }
  void TakePart(const StatePart& head) {
    TakeName(head.epoch, head.base_at);
    end_.openings.insert(head.epoch);
    end_.owners_had = std::max(end_.owners_had, head.to);
    // A restore doesn't reach a run behind a gap.
    if (!head.is_last || head.epoch != *end_.openings.rbegin() || head.behind_gap) return;
    end_.reaches = head.epoch == reached_epoch_ ? std::max(end_.reaches, head.to) : head.to;
    reached_epoch_ = head.epoch;
  }
  void TakeOpening(int64_t offset, const StateOpening& opening) {
    TakeName(offset, opening.base_at);
    end_.owners_had = std::max(end_.owners_had, opening.position);
    // An owner whose position is where the stream leads goes on with the stream.
    const bool goes_on = reached_epoch_ != kNoOffset && !end_.openings.empty() &&
                         reached_epoch_ == *end_.openings.rbegin() && opening.position == end_.reaches;
    end_.openings.insert(offset);
    if (goes_on) reached_epoch_ = offset;
  }

  StreamEnd end_;
  int64_t reached_epoch_ = kNoOffset;
  int64_t named_by_ = kNoOffset;  // the epoch that named `newest_base`
};
}  // namespace

Result<StreamEnd> ReadStreamEnd(StateLog& log, int32_t partition, int64_t before) {
  StreamEnd end;
  for (int64_t records = kLastRecords;; records *= kMoreRecords) {
    const int64_t from = std::max<int64_t>(0, before - records);
    EndReader reader;
    const Status read = log.Read(partition, from, before, [&](int64_t offset, std::string_view record) {
      reader.Take(offset, record);
      return true;
    });
    if (!read) return Fail(read.error());
    end = reader.Finish();
    if (!end.openings.empty() || from == 0) break;
  }
  const StateLog::Foreign foreign = log.foreign();
  end.foreign_records = foreign.records;
  if (foreign.newest_epoch > (end.openings.empty() ? kNoOffset : *end.openings.rbegin()))
    return Fail(Code::kRefused, foreign.refusal);
  if (end.newest_base == kNoOffset) return end;
  const auto base = ReadBaseHead(log, partition, end.newest_base);
  if (!base) return Fail(base.error());
  if (!*base || !end.MayCount(end.newest_base, (*base)->epoch)) end.newest_base = end.reaches = kNoOffset;
  return end;
}

Result<std::optional<StatePart>> ReadBaseHead(StateLog& log, int32_t partition, int64_t base_at) {
  std::optional<StatePart> base;
  const Status read = log.Read(partition, base_at, base_at + 1, [&](int64_t offset, std::string_view record) {
    const auto decoded = DecodeStateRecord(record, offset);
    const auto* const part = decoded ? std::get_if<ReadStatePart>(&*decoded) : nullptr;
    if (part != nullptr && part->head.kind == StreamKind::kBase && part->head.part == 0) base = part->head;
    return false;
  });
  if (!read) return Fail(read.error());
  return base;
}

namespace {

Status Stopped() { return Fail(Code::kUnavailable, "the restore was stopped"); }

// For rows that stand at the start of every run and base.
std::optional<std::string_view> FindRow(const RowBatch& rows, std::string_view key) {
  for (size_t i = 0; i < rows.rows() && rows.GetRow(i).key <= key; ++i) {
    if (rows.GetRow(i).key == key) return rows.GetRow(i).value;
  }
  return std::nullopt;
}

// Whether each number of `earlier` means the same in `later`. A number never gets another meaning.
template <typename Named>
bool Extends(const std::vector<Named>& later, const std::vector<Named>& earlier,
             const std::function<const std::string&(const Named&)>& name) {
  return later.size() >= earlier.size() &&
         std::equal(earlier.begin(), earlier.end(), later.begin(),
                    [&](const Named& a, const Named& b) { return name(a) == name(b); });
}

bool Extends(const StoreDescriptor& later, const StoreDescriptor& earlier) {
  const std::function<const std::string&(const std::string&)> itself =
      [](const std::string& name) -> const std::string& { return name; };
  const std::function<const std::string&(const StoredFilter&)> of_filter =
      [](const StoredFilter& filter) -> const std::string& { return filter.name; };
  return Extends(later.filters, earlier.filters, of_filter) && Extends(later.kinds, earlier.kinds, itself) &&
         Extends(later.topics, earlier.topics, itself);
}

}  // namespace

StateRestore::StateRestore(Options options, StateLog& log, RestoreTarget& target, RestoreProgress& progress,
                           const std::atomic<bool>& stop)
    : options_(std::move(options)), log_(log), target_(target), progress_(progress), stop_(stop) {}

bool StateRestore::Count(std::string_view record) {
  progress_.records.fetch_add(1, std::memory_order_relaxed);
  progress_.bytes.fetch_add(record.size(), std::memory_order_relaxed);
  return !stop_.load();
}

Status StateRestore::NoteDescriptor(const RowBatch& rows, bool& fits) {
  fits = true;
  const auto row = FindRow(rows, DescriptorKey());
  if (!row) return {};
  auto descriptor = DecodeDescriptor(*row);
  if (!descriptor || (descriptor_ && !Extends(*descriptor, *descriptor_))) {
    fits = false;  // written by a newer version, or by a state whose numbers mean something else
    return {};
  }
  if (Status same = CheckIdentity(descriptor->identity, options_.identity); !same) return same;
  descriptor_ = std::move(*descriptor);
  return {};
}

// Whether the runs since this base lead on from the held state.
Result<bool> StateRestore::LeadsOn(int64_t base_at) {
  const auto base = ReadBaseHead(log_, options_.identity.partition, base_at);
  if (!base) return Fail(base.error());
  if (!*base) return false;
  epoch_ = (*base)->epoch;
  return (*base)->to <= options_.held->read_to && end_.MayCount(base_at, epoch_);
}

Status StateRestore::Continue(int64_t base_at) {
  if (Status begun = target_.Continue(); !begun) return begun;
  descriptor_ = options_.held->descriptor;
  restored_.base_at = base_at;
  restored_.continued = true;
  restored_.read_to = options_.held->read_to;
  return ApplyRuns();
}

Result<bool> StateRestore::RestoreBase(int64_t base_at) {
  if (Status begun = target_.Begin(); !begun) return Fail(begun.error());
  descriptor_.reset();
  if (options_.held) descriptor_ = options_.held->descriptor;  // the base's descriptor must extend this one
  bool has_descriptor = false;
  std::optional<PartReader> reader;
  Status status;
  const auto take = [&](int64_t offset, const ReadStatePart& part) {
    if (!reader && offset == base_at && part.head.kind == StreamKind::kBase && part.head.part == 0 &&
        end_.MayCount(base_at, part.head.epoch))
      reader.emplace(part.head);
    if (!reader) return false;  // the record isn't the base that owners named
    if (part.head.kind != StreamKind::kBase || part.head.epoch != reader->first().epoch) return true;
    RowBatch rows;
    bool fits = true;
    if (!reader->Take(part, rows)) return false;
    status = NoteDescriptor(rows, fits);
    has_descriptor = has_descriptor || FindRow(rows, DescriptorKey());
    if (status && fits) status = target_.AddBase(rows);
    return status && fits && !reader->is_whole();
  };
  const Status read = log_.Read(options_.identity.partition, base_at, options_.before,
                                [&](int64_t offset, std::string_view record) {
                                  if (!Count(record)) return false;
                                  const auto decoded = DecodeStateRecord(record, offset);
                                  if (!decoded) return true;
                                  const auto* const part = std::get_if<ReadStatePart>(&*decoded);
                                  return part != nullptr && take(offset, *part);  // an opening ends the base
                                });
  if (stop_.load()) return Fail(Stopped().error());
  if (!read) return Fail(read.error());
  if (!status) return Fail(status.error());
  if (!reader || !reader->is_whole() || !has_descriptor) return false;
  epoch_ = reader->first().epoch;
  restored_.base_at = base_at;
  restored_.read_to = reader->first().to;
  return true;
}

Status StateRestore::ApplyFold() {
  if (fold_.empty()) return {};
  Status applied = target_.Apply(fold_, StoredLimits(descriptor_->filters));
  fold_.Clear();
  return applied;
}

Status StateRestore::ApplyRuns() {
  RunReader reader(epoch_, restored_.read_to);
  Status status;
  const auto take = [&](RunReader::Run run) {
    bool fits = true;
    status = NoteDescriptor(run.rows, fits);
    if (!status || !fits) return false;
    fold_.Add(std::move(run.rows));
    restored_.read_to = run.to;
    restored_.verified = std::move(run.verified);
    ++restored_.runs;
    if (fold_.bytes() >= options_.fold_bytes) status = ApplyFold();
    return status.has_value();
  };
  const Status read = log_.Read(options_.identity.partition, restored_.base_at, options_.before,
                                [&](int64_t offset, std::string_view record) {
                                  if (!Count(record)) return false;
                                  auto run = reader.Take(offset, record);
                                  return !run || !*run || take(std::move(**run));
                                });
  restored_.unreadable = reader.unreadable();
  if (stop_.load()) return Stopped();
  if (!read) return Fail(read.error());
  return status ? ApplyFold() : status;
}

Result<std::optional<RestoredState>> StateRestore::Run() {
  auto end = ReadStreamEnd(log_, options_.identity.partition, options_.before);
  if (!end) return Fail(end.error());
  end_ = std::move(*end);
  const int64_t held = options_.held ? options_.held->read_to : kNoOffset;
  // The last owner may have sent nothing that a restore reaches. Then the bases of earlier owners count,
  // unless the held state is as new as any owner's. A copy that is weeks old is not.
  const int64_t reaches = end_.reaches == kNoOffset ? end_.owners_had : end_.reaches;
  if (options_.held && reaches <= held) return std::optional<RestoredState>();
  for (const int64_t base_at : end_.bases) {
    progress_.records.store(0);
    progress_.records_in_all.store((options_.held ? 1 : 2) * (options_.before - base_at));
    if (options_.held) {
      const auto leads = LeadsOn(base_at);
      if (!leads) return Fail(leads.error());
      if (*leads) {
        if (Status continued = Continue(base_at); !continued) return Fail(continued.error());
        if (restored_.read_to > held) return std::optional<RestoredState>(restored_);
        return std::optional<RestoredState>();
      }
    }
    const auto whole = RestoreBase(base_at);
    if (!whole) return Fail(whole.error());
    if (!*whole || restored_.read_to < held) continue;
    if (Status applied = ApplyRuns(); !applied) return Fail(applied.error());
    return std::optional<RestoredState>(restored_);
  }
  return std::optional<RestoredState>();
}

}  // namespace seen
