#pragma once
// Digests and copies of the open partitions' state. Both use links to the files as they are at one moment. So
// neither intake nor checkpoints wait: see RocksPartitionStore::LinkTo.

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "flow/open_partition.h"
#include "rocks/resources.h"
#include "serve/operator_ports.h"

namespace seen {

/// Any thread. A thread of the object's own computes digests, one at a time, and removes copies that nobody
/// uses.
///
/// The user of a copy locks (flock, shared) the file LOCK in its folder within 5 s. A copy that is older than
/// that and isn't locked is abandoned: a killed process leaves no lock behind.
class StateCopies final : public StateCopiesPort {
 public:
  struct Options {
    std::string directory;  // the folder of the stores
    std::string topic;
    std::string partitioner;
    int32_t partitions_total = 0;
  };
  /// All references outlive this object.
  StateCopies(Options options, const OpenPartitions& partitions, const StoreResources& resources,
              const Clock& clock);
  /// Removes its copy of the state.
  ~StateCopies() override;
  StateCopies(const StateCopies&) = delete;
  StateCopies& operator=(const StateCopies&) = delete;

  Result<std::optional<PartitionDigest>> Digest(const DigestQuestion& question) override;
  Result<StateCopy> Copy() override;
  Status Release(std::string_view copy) override;

 private:
  struct Job {
    DigestQuestion question;
    TimeMs as_of;
    Instant asked_at{};                             // the last time
    std::optional<Result<PartitionDigest>> result;  // nullopt: under way
  };
  struct Held {
    StateCopy copy;
    Instant made_at{};
  };

  void Run();
  bool IsWanted() const;
  Result<PartitionDigest> Compute(const DigestQuestion& question, TimeMs as_of) const;
  Result<PartitionDigest> DigestOf(const std::string& folder, const DigestQuestion& question,
                                   TimeMs as_of) const;
  Status LinkPartition(int32_t partition, const std::string& folder) const;
  Result<std::string> FolderOf(const DigestQuestion& question) const;
  Status Link(StateCopy& copy) const;
  bool IsInUse(const Held& held) const;
  void RemoveHeld() REQUIRES(copy_mutex_);
  void RemoveAbandoned();

  const Options options_;
  const OpenPartitions& partitions_;
  const StoreResources& resources_;
  const Clock& clock_;
  std::atomic<bool> stop_{false};
  mutable Mutex job_mutex_;
  ConditionVariable job_changed_;
  std::optional<Job> job_ GUARDED_BY(job_mutex_);
  mutable Mutex copy_mutex_;
  std::optional<Held> held_ GUARDED_BY(copy_mutex_);
  uint32_t copies_made_ GUARDED_BY(copy_mutex_) = 0;
  std::thread thread_;
};

}  // namespace seen
