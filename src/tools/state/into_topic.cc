// Writes state into the state topic, as one base a partition. Daemons with empty directories restore it from
// there.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <numeric>
#include <thread>

#include "kafka/admin.h"
#include "kafka/state_topic.h"
#include "state_stream/restore.h"
#include "store/store_directory.h"
#include "tools/common_options.h"
#include "tools/state/base_sender.h"
#include "tools/state/state_rows.h"

namespace seen {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAskStateTopic{10'000};
constexpr milliseconds kBetweenLooks{1'000};
constexpr milliseconds kSessionSlack{3'000};  // the coordinator checks sessions only at intervals
constexpr size_t kRecordBytesMax = 900'000;
constexpr size_t kBatchOverhead = 512;  // overhead of a record alone in its batch
constexpr size_t kQueueBytesMax = 32 << 20;

/// The topic, checked and created if it was missing. Waits for the leaders of a topic that it created.
/// kRefused, with the remedy: another number of partitions, other settings than the daemon's, or a limit too
/// low for records. kUnavailable. Returns the limit of a base's record.
Result<size_t> PrepareStateTopic(const Admin& admin, const std::string& topic, int32_t partitions) {
  const auto state = admin.EnsureTopic(StateTopicSpec(topic, partitions), kAskStateTopic);
  if (!state) return Fail(state.error());
  if (!state->warning.empty()) {
    return Fail(
        Code::kRefused,
        fmt::format(
            "{}. Remedy: change the setting, or delete the topic: this command creates the topic again",
            state->warning));
  }
  std::vector<int32_t> all(static_cast<size_t>(partitions));
  std::iota(all.begin(), all.end(), 0);
  Result<std::map<int32_t, int64_t>> ends;
  for (int attempt = 0; attempt < 10; ++attempt) {  // a topic has no leaders right after its creation
    ends = admin.Ends(topic, all, kAskStateTopic);
    if (ends || Interrupted()) break;
    std::this_thread::sleep_for(milliseconds(300));
  }
  if (!ends) return Fail(ends.error());
  const auto bytes = admin.TopicConfig(topic, "max.message.bytes", kAskStateTopic);
  size_t most = kRecordBytesMax;
  if (bytes && *bytes) most = std::min<size_t>(most, std::strtoull((*bytes)->c_str(), nullptr, 10));
  if (most < 2 * kBatchOverhead) {
    return Fail(Code::kRefused,
                fmt::format("{} has max.message.bytes = {}. Remedy: raise it to 1000000", topic, most));
  }
  return most - kBatchOverhead;
}

/// The present content of a partition of the state topic.
struct PartitionContent {
  bool is_empty = true;
  std::string instance;         // the last daemon or program that opened it; empty: that record is gone
  int64_t epoch = kNoOffset;    // offset of the last opening
  int64_t base_at = kNoOffset;  // of the newest base
  bool is_of_command = false;   // only earlier runs of this command wrote it
  bool is_whole() const { return base_at > epoch; }
};

class TopicSink final : public CopySink {
 public:
  explicit TopicSink(const TopicSettings& settings) : settings_(settings) {}

  Status Prepare(int32_t partitions) override;
  Result<std::string> SortFolder() override;
  Status Begin(std::vector<PartitionHead> heads) override;
  Status Add(int32_t partition, const Row& row, RestingRows*) override {
    return Explained(sender_->Add(partition, row));
  }
  Status Finish() override;
  void Clear() override;
  uint64_t StateBytes() const override { return sender_ ? sender_->bytes() : 0; }

 private:
  StateTopicOptions TopicOptions() const {
    return {settings_.brokers, settings_.client, settings_.topic,
            settings_.group,   kQueueBytesMax,   record_bytes_max_ + kBatchOverhead};
  }
  Status AwaitNoDaemon() const;
  Result<PartitionContent> Look(StateTopicReader& reader, int32_t partition) const;
  Status CheckReplaceable(const std::vector<PartitionContent>& contents) const;
  Status Explained(Status sent) const;
  Status ReadBack() const;

  const TopicSettings settings_;
  std::unique_ptr<Admin> admin_;
  std::string scratch_;  // empty: not made
  std::unique_ptr<StoreDirectory> scratch_lock_;
  size_t record_bytes_max_ = 0;
  std::vector<int64_t> older_bases_;  // by partition
  std::unique_ptr<PartitionProducer> producer_;
  std::unique_ptr<BaseSender> sender_;
};

// Only the end of its session shows that a member has stopped. So the run waits for the end of the session.
Status TopicSink::AwaitNoDaemon() const {
  const auto until = SystemClock().Now() + SessionTimeout(settings_.client) + kSessionSlack;
  bool said = settings_.quiet;
  while (true) {
    const auto members = admin_->GroupMembers(settings_.group, kAskStateTopic);
    if (!members) return Fail(members.error());
    if (members->empty()) return {};
    if (Interrupted()) return Fail(Code::kUnavailable, "interrupted: nothing was written");
    if (SystemClock().Now() >= until) {
      return Fail(Code::kRefused,
                  fmt::format("{}: kafka.group_id {}: {} runs, and would continue without "
                              "this state. Remedy: stop the group's daemons, and run this command again",
                              settings_.option, settings_.group, members->front()));
    }
    if (!said) {
      fmt::print(stderr, "seenctl: waiting for {} to leave group {}\n", members->front(), settings_.group);
      said = true;
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

Result<PartitionContent> TopicSink::Look(StateTopicReader& reader, int32_t partition) const {
  PartitionContent content;
  const auto end = reader.End(partition);
  if (!end) return Fail(end.error());
  if (*end == 0) return content;
  const auto known = ReadStreamEnd(reader, partition, *end);
  if (!known) return Fail(known.error());
  content.is_empty = known->bases.empty() && known->openings.empty();  // all earlier records were deleted
  content.base_at = known->newest_base;
  if (known->openings.empty()) return content;
  content.epoch = *known->openings.rbegin();
  // A base before the first known opening may be a daemon's.
  content.is_of_command = known->bases.empty() || *known->bases.rbegin() > *known->openings.begin();
  for (const int64_t at : known->openings) {
    content.instance.clear();
    const Status read = reader.Read(partition, at, at + 1, [&](int64_t, std::string_view record) {
      const auto decoded = DecodeStateRecord(record);
      if (!decoded) return false;
      if (const auto* opening = std::get_if<StateOpening>(&*decoded)) content.instance = opening->instance;
      return false;
    });
    if (!read) return Fail(read.error());
    content.is_of_command = content.is_of_command && content.instance == settings_.command;
  }
  return content;
}

// The next run replaces the state that a killed run of this command left.
Status TopicSink::CheckReplaceable(const std::vector<PartitionContent>& contents) const {
  const bool is_unfinished = std::any_of(contents.begin(), contents.end(), [](const PartitionContent& one) {
    return one.is_empty || !one.is_whole();
  });
  for (size_t partition = 0; partition < contents.size(); ++partition) {
    const PartitionContent& one = contents[partition];
    if (one.is_empty || settings_.replace || (is_unfinished && one.is_of_command)) continue;
    return Fail(Code::kRefused,
                fmt::format("{}: state.topic {}: partition {} has state of group {}, by {}. Remedy: {}name "
                            "another state.topic",
                            settings_.option, settings_.topic, partition, settings_.group,
                            one.instance.empty() ? "a daemon" : one.instance, settings_.remedy));
  }
  return {};
}

// Locks the folder like a daemon's directory. Otherwise a second run would sort into the same files.
Result<std::string> TopicSink::SortFolder() {
  std::error_code error;
  std::filesystem::path parent = settings_.scratch;
  if (parent.empty()) parent = std::filesystem::temp_directory_path(error);
  if (error) return Fail(Code::kUnavailable, "--scratch: " + error.message());
  scratch_ = (parent / ("seenctl-" + settings_.topic)).string();
  auto lock = StoreDirectory::Open(scratch_);
  if (!lock) return Fail(lock.error().code, "--scratch: " + lock.error().message);
  scratch_lock_ = std::move(*lock);
  std::string folder = StoreDirectory::IncomingPath(scratch_) + "/build";
  std::filesystem::create_directories(folder, error);
  if (error) return Fail(Code::kUnavailable, fmt::format("{}: {}", folder, error.message()));
  return folder;
}

Status TopicSink::Prepare(int32_t partitions) {
  auto admin = Admin::Open(settings_.brokers, settings_.client);
  if (!admin) return Fail(admin.error());
  admin_ = std::move(*admin);
  const auto prefixed = [this](const Error& error) {
    return Fail(error.code, settings_.option + ": " + error.message);
  };
  const auto record_bytes_max = PrepareStateTopic(*admin_, settings_.topic, partitions);
  if (!record_bytes_max) return prefixed(record_bytes_max.error());
  record_bytes_max_ = *record_bytes_max;
  StateTopicReader reader(TopicOptions(), InterruptFlag());
  std::vector<PartitionContent> contents;
  for (int32_t partition = 0; partition < partitions; ++partition) {
    auto one = Look(reader, partition);
    if (!one) return prefixed(one.error());
    older_bases_.push_back(one->base_at);
    contents.push_back(std::move(*one));
  }
  if (Status replaceable = CheckReplaceable(contents); !replaceable) return replaceable;
  return AwaitNoDaemon();
}

Status TopicSink::Begin(std::vector<PartitionHead> heads) {
  if (Status alone = AwaitNoDaemon(); !alone) return alone;
  auto producer = PartitionProducer::Open(StateProducerOptions(TopicOptions()));
  if (!producer) return Fail(producer.error());
  producer_ = std::move(*producer);
  BaseSender::Options sending;
  sending.opening = {.group = settings_.group,
                     .instance = settings_.command,
                     .program = SEEN_VERSION,
                     .takeover = false,
                     .at = SystemClock().WallNow()};
  for (size_t partition = 0; partition < heads.size(); ++partition)
    sending.places.push_back({heads[partition].position.ReadTo(), older_bases_[partition]});
  sending.record_bytes_max = record_bytes_max_;
  sending.refusal = [this] {
    const auto& refusals = producer_->refusals();
    return refusals.empty() ? std::string() : refusals.begin()->second;
  };
  sender_ = std::make_unique<BaseSender>(sending, *producer_);
  return Explained(
      sender_->Begin([&](int32_t partition) { return HeadRows(heads[static_cast<size_t>(partition)]); }));
}

Status TopicSink::Finish() {
  if (Status sent = Explained(sender_->Finish()); !sent) return sent;
  return ReadBack();
}

Status TopicSink::Explained(Status sent) const {
  if (sent) return sent;
  return Fail(sent.error().code,
              fmt::format("{}. No base is whole, unless the last records were under way. Remedy: run the "
                          "same command again",
                          sent.error().message));
}

// Checks whether a daemon would restore these bases. A daemon that started meanwhile has ended their epoch.
Status TopicSink::ReadBack() const {
  StateTopicReader reader(TopicOptions(), InterruptFlag());
  for (int32_t partition = 0; partition < static_cast<int32_t>(older_bases_.size()); ++partition) {
    const auto content = Look(reader, partition);
    if (!content) return Fail(content.error());
    if (content->epoch == sender_->epoch(partition) && content->base_at == sender_->base_at(partition))
      continue;
    return Fail(Code::kRefused,
                fmt::format("{}: {} wrote to partition {} of {} meanwhile, so this state doesn't count "
                            "there. Remedy: stop the group's daemons, empty their store.directory, and {}",
                            settings_.option, content->instance.empty() ? "a daemon" : content->instance,
                            partition, settings_.topic, settings_.again));
  }
  return {};
}

void TopicSink::Clear() {
  scratch_lock_.reset();
  std::error_code ignored;
  if (!scratch_.empty()) std::filesystem::remove_all(scratch_, ignored);
}

}  // namespace

std::unique_ptr<CopySink> IntoTopic(const TopicSettings& settings) {
  return std::make_unique<TopicSink>(settings);
}

}  // namespace seen
