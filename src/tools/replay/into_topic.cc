// Writes built state into the state topic. Daemons with empty directories restore it from there.

#include <fmt/format.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <thread>

#include "base/result.h"
#include "kafka/admin.h"
#include "kafka/state_topic.h"
#include "state_stream/stream_end.h"
#include "store/store_directory.h"
#include "tools/common_options.h"
#include "tools/progress.h"
#include "tools/replay/state_destination.h"
#include "tools/state/base_sender.h"
#include "tools/state/state_target.h"

namespace seen {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAsk{10'000};
constexpr milliseconds kBetweenLooks{1'000};
constexpr milliseconds kSessionSlack{3'000};  // the coordinator checks sessions only at intervals
constexpr std::string_view kInstance = "seenctl replay";

/// The present content of a partition of the state topic.
struct Stands {
  bool is_empty = true;
  std::string instance;         // the last daemon or program that opened it; empty: that record is gone
  int64_t epoch = kNoOffset;    // offset of the last opening
  int64_t base_at = kNoOffset;  // of the newest base
  bool is_of_builds = false;    // only earlier runs of this command wrote it
  bool is_whole() const { return base_at > epoch; }
};

class TopicDestination final : public StateDestination {
 public:
  TopicDestination(const TopicSettings& settings, const ReplayTarget& target)
      : settings_(settings), target_(target), topic_(target.config.state->topic) {}

  Status Prepare(int32_t partitions) override;
  std::string SortFolder() const override { return StoreDirectory::IncomingPath(scratch_) + "/build"; }
  Status Write(StateBuilder& builder, const std::vector<BuiltState>& states) override;
  void Clear() override;
  uint64_t StateBytes() const override { return sent_bytes_; }

 private:
  const std::string& group() const { return target_.config.kafka.group_id; }
  StateTopicReader Reader() const {
    return {BaseTopicOptions(target_.brokers, target_.client, topic_, group(), record_bytes_max_), stop_};
  }
  Status AwaitNoDaemon() const;
  Result<Stands> Look(StateTopicReader& reader, int32_t partition) const;
  Status CheckReplaceable(const std::map<int32_t, Stands>& stands) const;
  Status MakeScratch();
  Status Send(StateBuilder& builder, const std::vector<BuiltState>& states, BaseSender& sender);
  Status ReadBack(const BaseSender& sender, int32_t partitions) const;

  const TopicSettings settings_;
  const ReplayTarget& target_;
  const std::string topic_;
  const std::atomic<bool> stop_{false};
  std::unique_ptr<Admin> admin_;
  std::string scratch_;
  std::unique_ptr<StoreDirectory> scratch_lock_;
  size_t record_bytes_max_ = 0;
  std::vector<int64_t> older_bases_;  // by partition
  uint64_t sent_bytes_ = 0;
};

// Only the end of its session shows that a member has stopped. So the run waits for the end of the session.
Status TopicDestination::AwaitNoDaemon() const {
  const auto until = SystemClock().Now() + SessionTimeout(target_.client) + kSessionSlack;
  bool said = settings_.quiet;
  while (true) {
    const auto members = admin_->GroupMembers(group(), kAsk);
    if (!members) return Fail(members.error());
    if (members->empty()) return {};
    if (Interrupted()) return Fail(Code::kUnavailable, "interrupted: nothing was written");
    if (SystemClock().Now() >= until) {
      return Fail(Code::kRefused,
                  fmt::format("--into-state-topic: kafka.group_id {}: {} runs, and would continue without "
                              "this state. Remedy: stop the group's daemons, and run this command again",
                              group(), members->front()));
    }
    if (!said) {
      fmt::print(stderr, "seenctl: waiting for {} to leave group {}\n", members->front(), group());
      said = true;
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

Result<Stands> TopicDestination::Look(StateTopicReader& reader, int32_t partition) const {
  Stands stands;
  const auto end = reader.End(partition);
  if (!end) return Fail(end.error());
  if (*end == 0) return stands;
  const auto known = ReadStreamEnd(reader, partition, *end);
  if (!known) return Fail(known.error());
  stands.is_empty = known->bases.empty() && known->openings.empty();  // all earlier records were deleted
  stands.base_at = known->newest_base();
  if (known->openings.empty()) return stands;
  stands.epoch = *known->openings.rbegin();
  // A base before the first known opening may be a daemon's.
  stands.is_of_builds = known->bases.empty() || *known->bases.rbegin() > *known->openings.begin();
  for (const int64_t at : known->openings) {
    stands.instance.clear();
    const Status read = reader.Read(partition, at, at + 1, [&](int64_t, std::string_view record) {
      const auto decoded = DecodeStateRecord(record);
      if (!decoded) return false;
      if (const auto* opening = std::get_if<StateOpening>(&*decoded)) stands.instance = opening->instance;
      return false;
    });
    if (!read) return Fail(read.error());
    stands.is_of_builds = stands.is_of_builds && stands.instance == kInstance;
  }
  return stands;
}

// The next run replaces the state that a killed run of this command left.
Status TopicDestination::CheckReplaceable(const std::map<int32_t, Stands>& stands) const {
  bool is_unfinished = false;
  for (const auto& [partition, one] : stands) is_unfinished |= one.is_empty || !one.is_whole();
  for (const auto& [partition, one] : stands) {
    if (one.is_empty || settings_.replace || (is_unfinished && one.is_of_builds)) continue;
    return Fail(Code::kRefused,
                fmt::format("--into-state-topic: state.topic {}: partition {} has state of group {}, by {}. "
                            "Remedy: give --replace, which replaces that state, or another state.topic",
                            topic_, partition, group(), one.instance.empty() ? "a daemon" : one.instance));
  }
  return {};
}

// Locks the folder like a daemon's directory. Otherwise a second run would sort into the same files.
Status TopicDestination::MakeScratch() {
  std::error_code error;
  std::filesystem::path parent = settings_.scratch;
  if (parent.empty()) parent = std::filesystem::temp_directory_path(error);
  if (error) return Fail(Code::kUnavailable, "--scratch: " + error.message());
  scratch_ = (parent / ("seenctl-" + topic_)).string();
  auto lock = StoreDirectory::Open(scratch_);
  if (!lock) return Fail(lock.error().code, "--scratch: " + lock.error().message);
  scratch_lock_ = std::move(*lock);
  std::filesystem::create_directories(SortFolder(), error);
  if (error) return Fail(Code::kUnavailable, fmt::format("{}: {}", SortFolder(), error.message()));
  return {};
}

Status TopicDestination::Prepare(int32_t partitions) {
  auto admin = Admin::Open(target_.brokers, target_.client);
  if (!admin) return Fail(admin.error());
  admin_ = std::move(*admin);
  const auto target = PrepareStateTopic(*admin_, topic_, partitions);
  if (!target) return Fail(target.error().code, "--into-state-topic: " + target.error().message);
  record_bytes_max_ = target->record_bytes_max;
  StateTopicReader reader = Reader();
  std::map<int32_t, Stands> stands;
  older_bases_.clear();
  for (int32_t partition = 0; partition < partitions; ++partition) {
    auto one = Look(reader, partition);
    if (!one) return Fail(one.error().code, "--into-state-topic: " + one.error().message);
    older_bases_.push_back(one->base_at);
    stands.emplace(partition, std::move(*one));
  }
  if (Status replaceable = CheckReplaceable(stands); !replaceable) return replaceable;
  if (Status alone = AwaitNoDaemon(); !alone) return alone;
  return MakeScratch();
}

Status TopicDestination::Send(StateBuilder& builder, const std::vector<BuiltState>& states,
                              BaseSender& sender) {
  Progress progress("write", states.size(), "partitions",
                    settings_.quiet ? Progress::Mode::kQuiet : Progress::Mode::kAuto);
  RowBatch first;
  Status sent = sender.Begin([&](int32_t partition) {
    first = RowBatch();
    std::vector<Row> rows;
    const Status added = builder.ForEachFirstRow(states[static_cast<size_t>(partition)], [&](const Row& row) {
      first.Add(row);
      return Status();
    });
    Check(added.has_value(), "rows in memory");
    rows.reserve(first.rows());
    for (size_t i = 0; i < first.rows(); ++i) rows.push_back(first.GetRow(i));
    return rows;
  });
  uint64_t done = 0;
  for (const BuiltState& state : states) {
    if (!sent) return sent;
    sent = builder.ForEachUserRow(state.partition,
                                  [&](const Row& row) { return sender.Add(state.partition, row); });
    progress.Update(++done);
  }
  if (sent) sent = sender.Finish();
  progress.Finish();
  return sent;
}

// Checks whether a daemon would restore these bases. A daemon that started meanwhile has ended their epoch.
Status TopicDestination::ReadBack(const BaseSender& sender, int32_t partitions) const {
  StateTopicReader reader = Reader();
  for (int32_t partition = 0; partition < partitions; ++partition) {
    const auto stands = Look(reader, partition);
    if (!stands) return Fail(stands.error());
    if (stands->epoch == sender.epoch(partition) && stands->base_at == sender.base_at(partition)) continue;
    return Fail(Code::kRefused,
                fmt::format("--into-state-topic: {} wrote to partition {} of {} meanwhile, so this state "
                            "doesn't count there. Remedy: stop the group's daemons, empty their "
                            "store.directory, and run this command again with --replace",
                            stands->instance.empty() ? "a daemon" : stands->instance, partition, topic_));
  }
  return {};
}

Status TopicDestination::Write(StateBuilder& builder, const std::vector<BuiltState>& states) {
  if (Status alone = AwaitNoDaemon(); !alone) return alone;
  const auto producer = StateProducer::Open(
      BaseTopicOptions(target_.brokers, target_.client, topic_, group(), record_bytes_max_));
  if (!producer) return Fail(producer.error());
  BaseSender::Options sending;
  sending.opening = {.group = group(),
                     .instance = std::string(kInstance),
                     .program = SEEN_VERSION,
                     .takeover = false,
                     .at = SystemClock().WallNow()};
  for (const BuiltState& state : states)
    sending.places.push_back({state.live_offset, older_bases_[static_cast<size_t>(state.partition)]});
  sending.record_bytes_max = record_bytes_max_;
  sending.refusal = [&producer = **producer] { return producer.refusal(); };
  BaseSender sender(sending, **producer);
  if (Status sent = Send(builder, states, sender); !sent) {
    return Fail(sent.error().code,
                fmt::format("{}. No base is whole, unless the last records were under way. Remedy: run the "
                            "same command again",
                            sent.error().message));
  }
  sent_bytes_ = sender.bytes();
  return ReadBack(sender, static_cast<int32_t>(states.size()));
}

void TopicDestination::Clear() {
  scratch_lock_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(scratch_, ignored);
}

}  // namespace

std::unique_ptr<StateDestination> IntoTopic(const TopicSettings& settings, const ReplayTarget& target) {
  return std::make_unique<TopicDestination>(settings, target);
}

}  // namespace seen
