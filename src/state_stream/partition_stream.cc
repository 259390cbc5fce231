#include "state_stream/partition_stream.h"

#include <algorithm>
#include <utility>

#include "rows/keys.h"
#include "rows/position_codec.h"
#include "state_stream/recording_writer.h"

namespace seen {
namespace {

constexpr uint64_t kNumberBits = 30;
constexpr int kRunsABase = 10;  // two bases begin at least as far apart as so many runs
constexpr std::chrono::hours kBaseEvery{24};
constexpr std::chrono::hours kFirstBaseWithin{12};  // when the previous base began isn't known
constexpr size_t kRecordsAhead = 4;                 // records of a base, made before there is space for them

// A ticket: lane, number of the run or base, part.
uint64_t TicketOf(uint64_t lane, uint32_t number, uint32_t part) {
  const uint64_t short_number = number & ((uint64_t{1} << kNumberBits) - 1);
  return lane << 62 | short_number << 32 | part;
}

}  // namespace

PartitionStream::PartitionStream(Options options, RowSource& rows, PartitionSink& sink, const Clock& clock)
    : options_(std::move(options)),
      rows_(rows),
      sink_(sink),
      clock_(clock),
      changes_from_(std::max<int64_t>(0, options_.opening.position)),
      changes_to_(changes_from_),
      run_at_(clock.Now() + options_.run_every),
      base_from_(run_at_),
      base_by_(clock.Now() + kFirstBaseWithin) {}

void PartitionStream::Begin(int64_t base_at, int64_t reaches, int64_t end) {
  known_end_ = end;
  begun_ = true;
  base_at_ = base_at;
  const MutexLock lock(mutex_);
  figures_.base_at = base_at;
  if (options_.opening.position != reaches) Break();
  leads_here_ = !broken_ && base_at != kNoOffset;
  if (leads_here_) figures_.sent_to = std::max<int64_t>(0, reaches);
}

void PartitionStream::CountBefore(uint64_t foreign, uint64_t refused) {
  const MutexLock lock(mutex_);
  figures_.foreign_records += foreign;
  figures_.refused_records += refused;
}

void PartitionStream::LoseBase() {
  base_at_ = kNoOffset;
  base_from_ = std::min(base_from_, clock_.Now() + options_.run_every);
  {
    const MutexLock lock(mutex_);
    figures_.base_at = kNoOffset;
    figures_.problem =
        "the topic doesn't hold this partition's base any more: it was recreated, or its records "
        "were deleted. A new base follows";
  }
  OpenAgain();
}

PartitionStream::~PartitionStream() = default;

void PartitionStream::Break() {
  broken_ = true;
  leads_here_ = false;
}

std::unique_ptr<CheckpointWriter> PartitionStream::Record(std::unique_ptr<CheckpointWriter> writer,
                                                          const Position& position) {
  auto recording = std::make_unique<RecordingWriter>(
      std::move(writer), position, options_.descriptor, [this, to = position.ReadTo()](RowBatch changes) {
        // The next checkpoint is expected to be about as long.
        expected_bytes_ = changes.row_bytes() + changes.row_bytes() / 8;
        expected_rows_ = changes.rows() + changes.rows() / 8;
        OnCommitted(std::move(changes), to);
      });
  recording->Expect(expected_bytes_, expected_rows_);
  return recording;
}

void PartitionStream::OnCommitted(RowBatch changes, int64_t to) {
  const MutexLock lock(mutex_);
  changes_to_ = std::max(changes_to_, to);
  if (changes_.bytes() + changes.bytes() <= options_.changes_bytes_max) {
    changes_.Add(std::move(changes));
    return;
  }
  changes_.Clear();
  changes_from_ = changes_to_;
  Break();
  ++figures_.dropped_changes;
}

bool PartitionStream::SendOpening() {
  if (!begun_) return false;
  if (opening_sent_) return epoch_ != kNoOffset;
  StateOpening opening = options_.opening;
  opening.at = clock_.WallNow();
  opening.base_at = base_at_;
  {
    const MutexLock lock(mutex_);
    opening.position = options_.opening.position == kNoOffset && changes_to_ == 0 ? kNoOffset : changes_to_;
  }
  std::string record;
  EncodeStateOpening(opening, record);
  opening_sent_ = sink_.TrySend(options_.partition, record, TicketOf(uint64_t{0}, next_number_, 0));
  return false;
}

StatePart PartitionStream::Head(StreamKind kind, uint32_t number, int64_t from, int64_t to) const {
  StatePart head;
  head.kind = kind;
  head.epoch = epoch_;
  head.number = number;
  head.base_at = base_at_;
  head.from = from;
  head.to = to;
  return head;
}

PartWriter::Emit PartitionStream::Into(Sending& sending) {
  return [&sending](std::string record) {
    sending.bytes += record.size();
    sending.records.push_back(std::move(record));
    return Status();
  };
}

void PartitionStream::BeginRun(bool last) {
  const bool base_waits = base_ && base_->next_part == 0;
  if (run_ || base_waits) return;
  RowFold changes;
  int64_t from = 0;
  int64_t to = 0;
  bool leads_here = false;
  {
    const MutexLock lock(mutex_);
    leads_here = leads_here_;
    const bool due = last || clock_.Now() >= run_at_ || changes_.bytes() >= options_.run_bytes;
    if (!due || changes_.empty()) return;
    std::swap(changes, changes_);
    from = std::exchange(changes_from_, changes_to_);
    to = changes_to_;
  }
  run_at_ = clock_.Now() + options_.run_every;
  changed_ = true;
  run_.emplace();
  run_->number = next_number_++;
  run_->to = to;
  StatePart head = Head(StreamKind::kRun, run_->number, from, to);
  head.behind_gap = !leads_here;
  PartWriter writer(std::move(head), options_.record_bytes_max, Into(*run_));
  Status written = changes.ForEach([this](FilterId filter) { return options_.limits.Of(filter); },
                                   [&](const Row& row) { return writer.Add(row); });
  if (written) written = writer.Finish();
  run_->made = true;
  if (!written) {  // a delta can't be read: a base follows, with what the store makes of that delta
    run_->failed = true;
    run_->records.clear();
  }
}

bool PartitionStream::NeedsBase() const {
  const MutexLock lock(mutex_);
  return base_at_ == kNoOffset || broken_ || (changed_ && clock_.Now() >= base_by_) ||
         bytes_since_base_ > std::max(options_.base_after_bytes_min, base_bytes_ / 2);
}

void PartitionStream::BeginBase() {
  // However fast changes come, a base doesn't follow directly on another: the input has what bases lack.
  if (base_ || clock_.Now() < base_from_ || !NeedsBase()) return;
  int64_t read_to = 0;  // the rows hold at least so much
  {
    const MutexLock lock(mutex_);
    broken_ = false;  // before the rows are read: they may lack changes that are dropped from here on
    read_to = changes_to_;
  }
  auto rows = rows_.ReadRows();
  Row row;
  // The position comes first.
  const auto first = rows && *rows ? (*rows)->Next(row) : Result<bool>(false);
  const auto position = first && *first && row.key == PositionKey()
                            ? DecodePosition(row.value)
                            : Result<Position>(Fail(Code::kNotFound, ""));
  if (!position) {
    const MutexLock lock(mutex_);
    broken_ = true;
    return;
  }
  bytes_since_base_ = 0;
  runs_to_ = 0;
  base_from_ = clock_.Now() + kRunsABase * options_.run_every;
  base_by_ = clock_.Now() + kBaseEvery;
  changed_ = false;
  base_.emplace();
  base_->number = next_number_++;
  base_->to = std::max(read_to, position->next_offset);
  reading_.cursor = std::move(*rows);
  reading_.writer = std::make_unique<PartWriter>(Head(StreamKind::kBase, base_->number, base_->to, base_->to),
                                                 options_.record_bytes_max, Into(*base_));
  // The base's first part stands in the log before every run that leads on from the base. So a reader that
  // begins there finds all these runs.
  (void)reading_.writer->Add(row);  // Into takes everything
  (void)reading_.writer->Flush();
  base_filled_at_ = clock_.Now();
  base_budget_ = 0;
}

// Makes as much of the base as its rate allows.
void PartitionStream::ReadBase() {
  const Instant now = clock_.Now();
  const double second = static_cast<double>(options_.base_bytes_per_second);
  const auto elapsed = std::chrono::duration<double>(now - std::exchange(base_filled_at_, now));
  base_budget_ = std::min(second, base_budget_ + second * elapsed.count());
  while (!base_->made && base_budget_ > 0 && base_->records.size() < kRecordsAhead) {
    const uint64_t before = base_->bytes;
    Row row;
    const auto next = reading_.cursor->Next(row);
    Status added;
    if (!next) {
      added = Fail(next.error());
    } else if (*next) {
      added = reading_.writer->Add(row);
    } else if (!std::exchange(reading_.is_flushed, true)) {
      added = reading_.writer->Flush();
    } else if (base_->unacknowledged > 0 || !base_->records.empty()) {
      return;  // the last part says that the base is whole: all other parts stand in the topic before it
    } else {
      added = reading_.writer->Finish(base_->first_offset);
      base_->made = true;
    }
    if (!added) base_->made = base_->failed = true;
    base_budget_ -= static_cast<double>(base_->bytes - before);
  }
  if (base_->made) reading_ = {};
}

std::string PartitionStream::Send(Sending& sending, Lane lane) {
  while (!sending.records.empty()) {
    const std::string& record = sending.records.front();
    const uint64_t ticket = TicketOf(static_cast<uint64_t>(lane), sending.number, sending.next_part);
    if (!sink_.TrySend(options_.partition, record, ticket)) return "the producer's queue is full";
    ++sending.next_part;
    ++sending.unacknowledged;
    sending.records.pop_front();
  }
  return {};
}

std::string PartitionStream::Step(bool last, bool begins_base) {
  if (!SendOpening()) return "the opening isn't acknowledged";
  BeginRun(last);
  std::string problem;
  if (run_) problem = Send(*run_, Lane::kRun);
  if (run_ && run_->IsDone()) EndRun();
  if (!last && begins_base) BeginBase();
  if (base_) {
    if (!base_->made) ReadBase();
    if (problem.empty()) problem = Send(*base_, Lane::kBase);
    if (base_->IsDone()) EndBase();
  }
  return problem;
}

void PartitionStream::Opened(int64_t offset) {
  if (offset == kNoOffset) {
    opening_sent_ = false;
    return;
  }
  epoch_ = offset;
  next_offset_ = offset + 1;
  const MutexLock lock(mutex_);
  figures_.epoch = epoch_;
  if (offset == known_end_) return;
  Break();
  figures_.sent_to = 0;
}

// Somebody else wrote between this owner's records. This may be an opening, and nothing of this epoch counts
// behind it.
void PartitionStream::OpenAgain() {
  opening_sent_ = false;
  epoch_ = kNoOffset;
  if (run_) run_->failed = true;
  if (base_) base_->failed = true;
  const MutexLock lock(mutex_);
  Break();
  figures_.sent_to = 0;
}

void PartitionStream::OnDelivery(const PartitionDelivery& delivery) {
  const auto lane = static_cast<Lane>(delivery.ticket >> 62);
  if (lane == Lane::kOpening) return Opened(delivery.offset);
  std::optional<Sending>& sending = lane == Lane::kRun ? run_ : base_;
  if (!sending) return;
  --sending->unacknowledged;
  if (delivery.offset == kNoOffset) {
    sending->failed = true;
  } else {
    if (sending->first_offset == kNoOffset) sending->first_offset = delivery.offset;
    if (epoch_ != kNoOffset && delivery.offset != next_offset_) {
      {
        const MutexLock lock(mutex_);
        figures_.foreign_records +=
            static_cast<uint64_t>(std::max<int64_t>(1, delivery.offset - next_offset_));
      }
      // Offsets never go back in one topic.
      delivery.offset < next_offset_ ? LoseBase() : OpenAgain();
    }
    next_offset_ = delivery.offset + 1;
  }
  if (sending->failed) {
    sending->records.clear();
    sending->made = true;
    if (lane == Lane::kBase) reading_ = {};
  }
  if (sending->IsDone()) lane == Lane::kRun ? EndRun() : EndBase();
}

void PartitionStream::EndRun() {
  const MutexLock lock(mutex_);
  if (run_->failed) {
    Break();
    ++figures_.undelivered_runs;
  } else {
    ++figures_.runs;
    figures_.bytes += run_->bytes;
    runs_to_ = run_->to;
    if (leads_here_) figures_.sent_to = runs_to_;
    bytes_since_base_ += run_->bytes;
  }
  run_.reset();
}

void PartitionStream::EndBase() {
  const MutexLock lock(mutex_);
  if (base_->failed) {
    broken_ = true;
  } else {
    base_at_ = base_->first_offset;
    base_bytes_ = base_->bytes;
    ++figures_.bases;
    figures_.bytes += base_->bytes;
    figures_.base_at = base_at_;
    figures_.problem.clear();
    leads_here_ = !broken_;
    if (leads_here_) figures_.sent_to = std::max(runs_to_, base_->to);
  }
  base_.reset();
}

bool PartitionStream::HasSentRuns() const {
  if (run_ || epoch_ == kNoOffset) return false;
  const MutexLock lock(mutex_);
  return changes_.empty();
}

bool PartitionStream::IsAtRest() const { return HasSentRuns() && !base_ && !NeedsBase(); }

StateStreamFigures PartitionStream::figures() const {
  const MutexLock lock(mutex_);
  return figures_;
}

}  // namespace seen
