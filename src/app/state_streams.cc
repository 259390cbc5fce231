#include "app/state_streams.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "app/status_board.h"
#include "base/log.h"
#include "base/threads.h"
#include "rows/position_codec.h"
#include "state_stream/restore.h"
#include "store/resting_rows.h"
#include "store/rocks_restore.h"

namespace seen {
namespace {
using std::chrono::milliseconds;

constexpr milliseconds kStep{100};
constexpr int kBasesAtOnce = 2;
constexpr milliseconds kLastRuns{2'000};
constexpr milliseconds kLastRunsSlice{5};
constexpr milliseconds kHurry{10'000};
constexpr milliseconds kTrimAnswered{5'000};
constexpr milliseconds kWatchEvery{10'000};
constexpr milliseconds kWatchAnswered{2'000};
}  // namespace

/// Connects a partition's flow with its stream.
class StateStreams::Recorder final : public CheckpointRecorder {
 public:
  Recorder(StateStreams& streams, int32_t partition, RocksPartitionStore& store)
      : streams_(streams), partition_(partition), store_(store) {
    Resume();
  }
  ~Recorder() override { Pause(); }
  std::unique_ptr<CheckpointWriter> Record(std::unique_ptr<CheckpointWriter> writer,
                                           const Position& position) override {
    return stream_ != nullptr ? stream_->Record(std::move(writer), position) : std::move(writer);
  }
  void Pause() override {
    if (std::exchange(stream_, nullptr) != nullptr) streams_.Leave(partition_);
  }
  void Resume() override {
    const bool owns = streams_.options_.owner == nullptr || streams_.options_.owner->IsThisGroup();
    if (stream_ == nullptr && owns) stream_ = &streams_.Enter(partition_, store_);
  }

 private:
  StateStreams& streams_;
  const int32_t partition_;
  RocksPartitionStore& store_;
  PartitionStream* stream_ = nullptr;  // set while this process streams the partition
};

StateStreams::StateStreams(Options options, std::unique_ptr<PartitionProducer> producer, const Admin& admin,
                           const StoreResources& resources, const Clock& clock)
    : options_(std::move(options)),
      admin_(admin),
      resources_(resources),
      clock_(clock),
      producer_(std::move(producer)),
      trimmer_(options_.trim_after),
      restores_(
          {},
          [this] {
            auto reader = std::make_shared<StateTopicReader>(options_.topic, stop_);
            return [this, reader](const StoreIdentity& identity, RestoreProgress& progress) {
              return RunRestore(*reader, identity, progress);
            };
          },
          clock) {}

Result<std::unique_ptr<StateStreams>> StateStreams::Start(Options options, const Admin& admin,
                                                          const StoreResources& resources,
                                                          const Clock& clock) {
  auto producer = PartitionProducer::Open(StateProducerOptions(options.topic));
  if (!producer) return Fail(std::move(producer.error()));
  std::unique_ptr<StateStreams> made(
      new StateStreams(std::move(options), std::move(*producer), admin, resources, clock));
  made->thread_ = std::thread([raw = made.get()] {
    NameThread("state-streams");
    YieldToOtherThreads();
    raw->Run();
  });
  return made;
}

StateStreams::~StateStreams() {
  stop_.store(true);
  if (thread_.joinable()) thread_.join();
}

void StateStreams::Run() {
  while (!stop_.load()) {
    std::vector<int32_t> unknown;
    {
      const MutexLock lock(mutex_);
      Step();
      for (const auto& [partition, stream] : streams_) {
        if (!stream->has_begun()) unknown.push_back(partition);
      }
    }
    if (clock_.Now() >= look_at_) {
      StateTopicReader reader(options_.topic, stop_);
      bool known = true;
      for (const int32_t partition : unknown) known = Look(reader, partition) && known;
      if (known) look_wait_.Reset();
      look_at_ = known ? Instant{} : clock_.Now() + look_wait_.Next();
    }
    if (clock_.Now() >= watch_at_) {
      watch_at_ = clock_.Now() + kWatchEvery;
      Watch();
    }
    Trim();
    std::this_thread::sleep_for(kStep);
  }
}

// At most two bases are read at a time, each at its own rate: after an upgrade all bases may be due.
void StateStreams::Step() {
  auto bases = std::count_if(streams_.begin(), streams_.end(),
                             [](const auto& stream) { return stream.second->is_reading_base(); });
  for (const auto& [partition, stream] : streams_) {
    const bool was_reading = stream->is_reading_base();
    (void)stream->Step(false, bases < kBasesAtOnce);
    if (!was_reading && stream->is_reading_base()) ++bases;
  }
  producer_->PollDeliveries([this](const PartitionDelivery& delivery) REQUIRES(mutex_) {
    const auto stream = streams_.find(delivery.partition);
    if (stream != streams_.end()) stream->second->OnDelivery(delivery);
  });
  std::map<int32_t, StateStreamFigures> figures;
  for (const auto& [partition, stream] : streams_) figures[partition] = stream->figures();
  using Problems = std::map<int32_t, std::string>;
  const Problems& refusals = producer_->refusals();
  const MutexLock lock(shown_mutex_);
  for (auto& [partition, of] : figures) {
    if (const auto was = shown_.find(partition);
        !of.problem.empty() && was != shown_.end() && was->second.base_at != kNoOffset) {
      log::Error("the state topic lacks a base", {{"topic", options_.topic.topic},
                                                  {"partition", partition},
                                                  {"base_at", was->second.base_at},
                                                  {"reason", of.problem}});
    }
    for (const Problems* const problems :
         std::initializer_list<const Problems*>{&missing_, &problems_, &refusals}) {
      const auto found = problems->find(partition);
      if (found == problems->end()) continue;
      of.problem = found->second;
      break;
    }
  }
  shown_ = std::move(figures);
}

void StateStreams::SetProblem(int32_t partition, std::string problem) {
  const MutexLock lock(shown_mutex_);
  if (problem.empty()) {
    problems_.erase(partition);
  } else {
    problems_[partition] = std::move(problem);
  }
}

// Finds where the stream stands in the topic. The stream may be gone by then; the partition's next stream
// needs the same. False: not known yet.
bool StateStreams::Look(StateTopicReader& reader, int32_t partition) {
  const auto end = reader.End(partition);
  const auto known = end ? ReadStreamEnd(reader, partition, *end) : Result<StreamEnd>(Fail(end.error()));
  if (!known) {
    // Brokers that don't answer are reported elsewhere, and come back.
    const bool is_refused = known.error().code != Code::kUnavailable;
    if (is_refused && unread_budget_.Allow())
      log::Error("state isn't sent to the state topic",
                 {{"partition", partition}, {"reason", known.error().message}});
    if (is_refused) SetProblem(partition, known.error().message);
    return false;
  }
  SetProblem(partition, {});
  const MutexLock lock(mutex_);
  const auto stream = streams_.find(partition);
  if (stream == streams_.end() || stream->second->has_begun()) return true;
  stream->second->Begin(known->newest_base, known->reaches, *end);
  stream->second->CountBefore(known->foreign_records, known->refused);
  return true;
}

// Somebody may have recreated the topic, or deleted its records, while the daemon runs.
void StateStreams::Watch() {
  std::map<int32_t, int64_t> next_offsets;
  {
    const MutexLock lock(mutex_);
    for (const auto& [partition, stream] : streams_) next_offsets[partition] = stream->next_offset();
  }
  if (next_offsets.empty()) return;
  const std::string& topic = options_.topic.topic;
  const auto count = admin_.PartitionCount(topic, kWatchAnswered, AclOperation::kWrite);
  const bool is_gone = !count && count.error().code == Code::kNotFound;
  if (!count && !is_gone) return;
  std::map<int32_t, std::string> missing;
  for (auto at = next_offsets.lower_bound(is_gone ? 0 : *count); at != next_offsets.end();) {
    missing[at->first] = is_gone ? "the topic doesn't exist any more. Restart this daemon, which creates it"
                                 : fmt::format(
                                       "the topic has {} partitions only. Add partitions to it: "
                                       "kafka-topics.sh --alter --topic {} --partitions {}",
                                       *count, topic, next_offsets.rbegin()->first + 1);
    at = next_offsets.erase(at);
  }
  {
    const MutexLock lock(shown_mutex_);
    missing_ = std::move(missing);
  }
  if (!next_offsets.empty()) WatchBases(next_offsets);
}

// `next_offsets`: where the topic ended at least, before this asks where it ends.
void StateStreams::WatchBases(const std::map<int32_t, int64_t>& next_offsets) {
  std::vector<int32_t> partitions;
  partitions.reserve(next_offsets.size());
  for (const auto& [partition, next_offset] : next_offsets) {
    if (next_offset != kNoOffset) partitions.push_back(partition);
  }
  const auto ends = admin_.BothEnds(options_.topic.topic, partitions, kWatchAnswered);
  if (!ends) return;
  std::map<int32_t, StateStreamFigures> shown;
  {
    const MutexLock lock(shown_mutex_);
    shown = shown_;
  }
  StateTopicReader reader(options_.topic, stop_);
  for (const auto& [partition, end] : *ends) {
    const auto stream = shown.find(partition);
    if (stream == shown.end() || stream->second.epoch == kNoOffset) continue;
    const int64_t base_at = stream->second.base_at;
    const bool is_cut = end.high < next_offsets.at(partition);
    if (base_at != kNoOffset && (is_cut || base_at < end.low)) (void)HoldsBase(reader, partition, base_at);
  }
}

// Whether a base begins there. If not, the stream begins again.
bool StateStreams::HoldsBase(StateTopicReader& reader, int32_t partition, int64_t base_at) {
  const auto head = ReadBaseHead(reader, partition, base_at);
  if (!head) return false;  // not known; asked again
  if (*head) return true;
  const MutexLock lock(mutex_);
  const auto stream = streams_.find(partition);
  if (stream == streams_.end() || stream->second->figures().base_at != base_at) return false;
  stream->second->LoseBase();
  return false;
}

// Records before a base go only if the newest base stands in the topic.
void StateStreams::Trim() {
  std::map<int32_t, int64_t> bases;
  {
    const MutexLock lock(shown_mutex_);
    for (const auto& [partition, figures] : shown_) bases[partition] = figures.base_at;
  }
  auto before = trimmer_.Due(bases, clock_.Now());
  if (before.empty()) return;
  {
    StateTopicReader reader(options_.topic, stop_);
    std::erase_if(before,
                  [&](const auto& due) { return !HoldsBase(reader, due.first, bases.at(due.first)); });
  }
  if (before.empty()) return;
  const Status deleted = admin_.DeleteRecords(options_.topic.topic, before, kTrimAnswered);
  if (deleted) return trimmer_.Trimmed(before);
  if (trim_budget_.Allow()) {
    log::Warning("superfluous records of the state topic can't be deleted",
                 {{"reason", deleted.error().message},
                  {"remedy", "let this daemon delete records of the topic, or trim it by hand"}});
  }
}

std::unique_ptr<CheckpointRecorder> StateStreams::Follow(int32_t partition, RocksPartitionStore& store) {
  return std::make_unique<Recorder>(*this, partition, store);
}

PartitionStream& StateStreams::Enter(int32_t partition, RocksPartitionStore& store) {
  PartitionStream::Options options;
  options.partition = partition;
  const auto position = store.ReadPosition();
  options.opening = {options_.topic.group, options_.instance, SEEN_VERSION, false, {}, kNoOffset, kNoOffset};
  options.opening.takeover = options_.owner != nullptr && options_.owner->IsPromoted();
  if (position && *position) options.opening.position = (*position)->ReadTo();
  options.descriptor = store.EncodedDescriptor();
  if (const auto descriptor = DecodeDescriptor(options.descriptor))
    options.limits = StoredLimits(descriptor->filters);
  options.run_every = options_.run_every;
  options.changes_bytes_max = options_.changes_bytes_max;
  options.run_bytes = options_.changes_bytes_max / 4;
  constexpr size_t kBatchOverhead = 512;
  options.record_bytes_max =
      std::max<size_t>(1'000, std::min<size_t>(options_.topic.record_bytes_max, 1'000'000) - kBatchOverhead);
  const MutexLock lock(mutex_);
  auto& stream = streams_[partition];
  stream = std::make_unique<PartitionStream>(std::move(options), store, *producer_, clock_);
  return *stream;
}

void StateStreams::Leave(int32_t partition) {
  const Instant until = clock_.Now() + kLastRuns;
  for (;;) {
    {
      const MutexLock lock(mutex_);
      const auto found = streams_.find(partition);
      if (found == streams_.end()) return;
      (void)found->second->Step(true);
      Step();
      // If the topic takes nothing, only the first partition waits that long. The others then leave at once.
      const bool late = clock_.Now() >= until;
      if (late) hurries_until_ = clock_.Now() + kHurry;
      if (found->second->HasSentRuns() || !found->second->is_open() || stop_.load() || late ||
          clock_.Now() < hurries_until_) {
        streams_.erase(found);
        SetProblem(partition, {});
        return;
      }
    }
    std::this_thread::sleep_for(kLastRunsSlice);
  }
}

Status StateStreams::RunRestore(StateTopicReader& reader, const StoreIdentity& identity,
                                RestoreProgress& progress) {
  auto resting = ReadRestingState(options_.directory, identity.partition);
  if (!resting) return {};  // the opening of the store reports why
  StateRestore::Options options{.identity = identity};
  if (*resting && (*resting)->read_to)
    options.held = {*(*resting)->read_to, std::move((*resting)->descriptor)};
  const bool has_state = options.held.has_value();
  const auto failed = [&](const Error& error) -> Status {
    // The topic belongs to another group. The partition opens as without a state topic. Look reports the
    // problem.
    if (error.code == Code::kRefused) {
      log::Error("nothing is restored from the state topic",
                 {{"partition", identity.partition}, {"reason", error.message}});
      return {};
    }
    const bool is_waited_for = error.code == Code::kUnavailable || error.code == Code::kDenied;
    if (!has_state || !is_waited_for || stop_.load()) return Fail(error);
    log::Warning("later state isn't restored: the state topic can't be read",
                 {{"partition", identity.partition}, {"reason", error.message}});
    return {};
  };
  const auto end = reader.End(identity.partition);
  if (!end) return failed(end.error());
  options.before = *end;
  RocksRestore target(options_.directory, identity.partition, resources_);
  StateRestore restore(std::move(options), reader, target, progress, stop_);
  const Instant begun = clock_.Now();
  const auto restored = restore.Run();
  if (!restored) return failed(restored.error());
  if (!*restored) {
    if (!has_state) log::Info("the state topic holds no state", {{"partition", identity.partition}});
    return {};
  }
  if (Status finished = target.Finish(); !finished) return finished;
  const auto took = std::chrono::duration_cast<milliseconds>(clock_.Now() - begun);
  const bool continued = (*restored)->continued;
  log::Info(
      continued ? "state brought up to date from the state topic" : "state restored from the state topic",
      {{"partition", identity.partition},
       {"read_to", (*restored)->read_to},
       {"runs", (*restored)->runs},
       {"bytes", progress.bytes.load()},
       {"ms", took.count()}});
  return {};
}

void StateStreams::Expect(const StoreIdentity& identity) {
  if (options_.restores) restores_.Begin(identity);
}

Status StateStreams::Restore(const StoreIdentity& identity) {
  return options_.restores ? restores_.Restore(identity) : Status();
}

StateTopicStatus StateStreams::GetStatus() const {
  StateTopicStatus status;
  status.topic = options_.topic.topic;
  {
    const MutexLock lock(shown_mutex_);
    status.streams = shown_;
    const bool none_is_sent =
        !shown_.empty() && std::none_of(shown_.begin(), shown_.end(),
                                        [](const auto& stream) { return stream.second.problem.empty(); });
    if (none_is_sent) status.problem = shown_.begin()->second.problem;
  }
  status.restores = restores_.GetFigures();
  return status;
}

}  // namespace seen
