#include "app/state_copies.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/durable_file.h"
#include "base/log.h"
#include "base/threads.h"
#include "store/resting_rows.h"
#include "store/rocks_partition_store.h"
#include "store/store_directory.h"

namespace seen {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

constexpr seconds kLockedWithin{5};    // limit for the process that asked for a copy
constexpr seconds kAskedAgainBy{60};   // otherwise nobody wants the digest any more
constexpr seconds kLooksEvery{1};      // for abandoned copies
constexpr uint64_t kRowsAtOnce = 256;  // between checks whether the digest is still wanted

void RemoveFolder(const std::string& folder) {
  std::error_code ignored;  // the next opening of the directory removes the folder
  fs::remove_all(folder, ignored);
}

bool IsSame(const DigestQuestion& asked, const DigestQuestion& before, TimeMs before_as_of) {
  return asked.partition == before.partition && asked.copy == before.copy &&
         (!asked.as_of || *asked.as_of == before_as_of);
}

}  // namespace

StateCopies::StateCopies(Options options, const OpenPartitions& partitions, const StoreResources& resources,
                         const Clock& clock)
    : options_(std::move(options)), partitions_(partitions), resources_(resources), clock_(clock) {
  thread_ = std::thread([this] { Run(); });
}

StateCopies::~StateCopies() {
  {
    const MutexLock lock(job_mutex_);  // otherwise the thread could wait once more
    stop_.store(true);
  }
  job_changed_.NotifyAll();
  thread_.join();
  const MutexLock lock(copy_mutex_);
  RemoveHeld();
}

Result<std::optional<PartitionDigest>> StateCopies::Digest(const DigestQuestion& question) {
  const Instant now = clock_.Now();
  const MutexLock lock(job_mutex_);
  if (job_ && IsSame(question, job_->question, job_->as_of)) {
    job_->asked_at = now;
    if (!job_->result) return std::optional<PartitionDigest>();
    auto result = std::move(*job_->result);
    job_.reset();  // the next question starts a new digest
    if (!result) return Fail(result.error());
    return std::optional(std::move(*result));
  }
  if (job_ && !job_->result) {
    return Fail(Code::kUnavailable, fmt::format("partition: the digest of partition {} is under way, and the "
                                                "daemon computes one at a time; try again later",
                                                job_->question.partition));
  }
  if (question.copy.empty() && !partitions_.Find(question.partition)) {
    return Fail(Code::kUnavailable,
                fmt::format("partition: {} isn't open here. GET /v1/status lists the open partitions",
                            question.partition));
  }
  job_ = Job{question, question.as_of.value_or(clock_.WallNow()), now, std::nullopt};
  job_changed_.NotifyAll();
  return std::optional<PartitionDigest>();
}

bool StateCopies::IsWanted() const {
  if (stop_.load()) return false;
  const MutexLock lock(job_mutex_);
  return clock_.Now() - job_->asked_at < kAskedAgainBy;
}

void StateCopies::Run() {
  NameThread("state-copies");
  YieldToOtherThreads();
  while (!stop_.load()) {
    std::optional<Job> job;
    {
      const MutexLock lock(job_mutex_);
      if (job_ && job_->result && clock_.Now() - job_->asked_at > kAskedAgainBy) job_.reset();
      if ((!job_ || job_->result) && !stop_.load())
        job_changed_.WaitUntil(job_mutex_, std::chrono::steady_clock::now() + kLooksEvery);
      if (job_ && !job_->result) job = job_;
    }
    RemoveAbandoned();
    if (!job || stop_.load()) continue;
    const Instant begun = clock_.Now();
    auto result = Compute(job->question, job->as_of);
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(clock_.Now() - begun);
    if (result) {
      log::Info("digest computed", {{"partition", result->partition},
                                    {"next_offset", result->next_offset},
                                    {"milliseconds", took.count()}});
    } else {
      log::Warning("digest not computed",
                   {{"partition", job->question.partition}, {"reason", result.error().message}});
    }
    const MutexLock lock(job_mutex_);
    job_->result = std::move(result);
  }
}

Result<PartitionDigest> StateCopies::Compute(const DigestQuestion& question, TimeMs as_of) const {
  if (!question.copy.empty()) {
    const auto folder = FolderOf(question);
    if (!folder) return Fail(folder.error());
    return DigestOf(*folder, question, as_of);
  }
  const std::string folder =
      fmt::format("{}/digest-{}", StoreDirectory::IncomingPath(options_.directory), question.partition);
  RemoveFolder(folder);
  auto digest = [&]() -> Result<PartitionDigest> {
    if (Status linked = LinkPartition(question.partition, folder); !linked) return Fail(linked.error());
    return DigestOf(folder, question, as_of);
  }();
  RemoveFolder(folder);
  return digest;
}

Result<PartitionDigest> StateCopies::DigestOf(const std::string& folder, const DigestQuestion& question,
                                              TimeMs as_of) const {
  auto rows = RestingRows::Open(folder, resources_);
  if (!rows && rows.error().code == Code::kNotFound)
    return Fail(Code::kUnavailable, fmt::format("partition {} has no checkpoint yet", question.partition));
  if (!rows) return Fail(rows.error());
  StateDigester digester((*rows)->descriptor(), (*rows)->position(), as_of);
  uint64_t visited = 0;
  const Status read = (*rows)->ForEach([&](std::string_view key, std::string_view value) -> Status {
    if (++visited % kRowsAtOnce == 0 && !IsWanted())
      return Fail(Code::kUnavailable, "nobody asked for the digest again, or the daemon is stopping");
    return digester.Add(key, value);
  });
  if (!read) return Fail(read.error());
  return digester.Finish();
}

// Refuses a stopped partition: its flow may hold changes that its store lacks.
Status StateCopies::LinkPartition(int32_t partition, const std::string& folder) const {
  const PartitionPointer open = partitions_.Find(partition);
  auto* const store = open ? dynamic_cast<RocksPartitionStore*>(open->store.get()) : nullptr;
  if (store == nullptr)
    return Fail(Code::kUnavailable, fmt::format("partition: {} isn't open here any more", partition));
  if (open->stopped.load(std::memory_order_acquire)) {
    return Fail(Code::kUnavailable,
                fmt::format("partition {} is stopped: {}", partition, open->stop_reason()));
  }
  return store->LinkTo(folder);
}

Result<std::string> StateCopies::FolderOf(const DigestQuestion& question) const {
  const MutexLock lock(copy_mutex_);
  if (!held_ || held_->copy.id != question.copy)
    return Fail(Code::kNotFound, fmt::format("copy: no copy has the id {}", question.copy));
  for (const CopiedPartition& partition : held_->copy.partitions) {
    if (partition.partition == question.partition) return held_->copy.folder + "/" + partition.folder;
  }
  return Fail(Code::kNotFound,
              fmt::format("partition: copy {} doesn't have {}", question.copy, question.partition));
}

Result<StateCopy> StateCopies::Copy() {
  const MutexLock lock(copy_mutex_);
  if (held_ && IsInUse(*held_)) {
    return Fail(
        Code::kUnavailable,
        fmt::format(
            "copies: copy {} is in use, and the daemon keeps one at a time; wait until that backup is done",
            held_->copy.id));
  }
  RemoveHeld();
  StateCopy copy;
  copy.id = fmt::format("{}-{}", clock_.WallNow().value, ++copies_made_);
  copy.folder = fmt::format("{}/copy-{}",
                            fs::absolute(StoreDirectory::IncomingPath(options_.directory)).string(), copy.id);
  copy.topic = options_.topic;
  copy.partitioner = options_.partitioner;
  copy.partitions_total = options_.partitions_total;
  const Instant begun = clock_.Now();
  if (Status linked = Link(copy); !linked) {
    RemoveFolder(copy.folder);
    log::Warning("state not copied for a backup", {{"reason", linked.error().message}});
    return Fail(linked.error());
  }
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(clock_.Now() - begun);
  log::Info("state copied for a backup",
            {{"copy", copy.id}, {"partitions", copy.partitions.size()}, {"milliseconds", took.count()}});
  held_ = Held{copy, clock_.Now()};
  return copy;
}

Status StateCopies::Link(StateCopy& copy) const {
  std::error_code code;
  fs::create_directories(copy.folder, code);
  const std::string lock_path = copy.folder + "/LOCK";
  const int lock = code ? -1 : ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock < 0) {
    if (!code) code = {errno, std::generic_category()};
    return Fail(IsNoSpace(code.value()) ? Code::kNoSpace : Code::kUnavailable,
                fmt::format("copies: can't make {}: {}", copy.folder, code.message()));
  }
  ::close(lock);
  for (const PartitionPointer& open : partitions_.All()) {
    const std::string folder = fmt::format("partition-{}", open->partition);
    if (Status linked = LinkPartition(open->partition, copy.folder + "/" + folder); !linked) return linked;
    copy.partitions.push_back({open->partition, folder});
  }
  if (copy.partitions.empty()) return Fail(Code::kUnavailable, "copies: no partition is open here");
  return {};
}

Status StateCopies::Release(std::string_view copy) {
  const MutexLock lock(copy_mutex_);
  if (!held_ || held_->copy.id != copy)
    return Fail(Code::kNotFound, fmt::format("copy: no copy has the id {}", copy));
  RemoveHeld();
  log::Info("copy of the state released", {{"copy", copy}});
  return {};
}

bool StateCopies::IsInUse(const Held& held) const {
  if (clock_.Now() - held.made_at < kLockedWithin) return true;
  const std::string path = held.copy.folder + "/LOCK";
  const int lock = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (lock < 0) return false;
  const bool is_free = ::flock(lock, LOCK_EX | LOCK_NB) == 0;
  ::close(lock);  // also ends the lock
  return !is_free;
}

void StateCopies::RemoveHeld() {
  if (held_) RemoveFolder(held_->copy.folder);
  held_.reset();
}

void StateCopies::RemoveAbandoned() {
  const MutexLock lock(copy_mutex_);
  if (!held_ || IsInUse(*held_)) return;
  log::Warning("a copy of the state was abandoned: its backup ended without releasing it",
               {{"copy", held_->copy.id}});
  RemoveHeld();
}

}  // namespace seen
