#pragma once
// The room `owner`: who may write a partition's outputs. Each part holds one rule:
//
//   outputs_owner    one group of daemons writes the outputs: the group that was promoted last
//   beat             what a daemon says of its partitions, and whether another group writes there, too
//   partition_routes who answers for a partition, by the beats that were heard
//   lease            how long this process may publish after a commit of offsets
//   output_guard     which records of the snapshot topics this process hasn't written
//   foreign_users    their users are published again
//
// Three parts stand above this room, because they work on ports of `flow`: flow/watermark_beat.h sends the
// beats, flow/replica_letters.h keeps a replica's dead letters, and consume/output_watch.h feeds the guard.

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "owner/beat.h"

namespace seen {

/// Which group of daemons writes the outputs: snapshots, unexposed items, watermarks, dead letters, the state
/// topic. Other groups that read the same input are its replicas: they keep the same state, and answer.
/// Any thread.
class OutputsOwner {
 public:
  virtual ~OutputsOwner() = default;
  /// Whether this process's group writes the outputs.
  virtual bool IsThisGroup() const = 0;
  /// The owner has published all changes below this offset of the input partition, as its last beat said
  /// (PublishFlow::PublishedTo). -1: not known.
  virtual int64_t PublishedTo(int32_t partition) const = 0;
  /// The owner's last beat of the partition, whoever the owner was; nullopt: not known.
  virtual std::optional<Beat> LastBeat(int32_t partition) const = 0;
};

/// A record that makes a group the owner: schemas/cluster.md.
struct Promotion {
  std::string group;
  std::vector<std::string> owners;  // all that ever owned; the first stays first, `group` is last
  std::string instance;             // of the daemon that was asked for the promotion
  TimeMs at;
};
inline constexpr std::string_view kPromotionKey = "owner";
std::string EncodePromotion(const Promotion& promotion);
/// nullopt: the text isn't a promotion, or has another version.
std::optional<Promotion> ParsePromotion(std::string_view text);

/// The promotions so far. The last one decides, so all daemons agree. Any thread.
class Promotions {
 public:
  /// `group`: this daemon's. `replica_of`: the group that owns as long as nobody is promoted; nullopt: this
  /// group. `topic` has the promotions, for messages.
  Promotions(std::string group, std::optional<std::string> replica_of, std::string topic)
      : here_(std::move(group)),
        replica_of_(std::move(replica_of)),
        topic_(std::move(topic)),
        is_this_group_(!replica_of_) {}

  /// Takes the last promotion. A text that can't be read changes nothing. kRefused: another group owns, and
  /// this group never owned and isn't set up as a replica.
  Status Obey(std::string_view text);

  bool IsThisGroup() const { return is_this_group_.load(std::memory_order_acquire); }
  /// The group that owns the outputs.
  std::string Group() const;
  /// The group that owned before any promotion. The consumer groups for re-keying and items keep its name.
  std::string FirstGroup() const;
  /// The last promotion that was taken. nullopt: none.
  std::optional<Promotion> Last() const;
  /// The group that the configuration says owns the outputs.
  std::string ConfiguredOwner() const { return replica_of_.value_or(here_); }
  /// Whether this group owns the outputs because of a promotion.
  bool IsPromoted() const;
  /// Whether `group` is this group, or owns the outputs, or once owned them. Its state then counts as this
  /// group's.
  bool HasOwned(std::string_view group) const;
  /// The promotion that makes this group the owner.
  Promotion Next(std::string instance, TimeMs now) const;

 private:
  const std::string here_;
  const std::optional<std::string> replica_of_;
  const std::string topic_;
  std::atomic<bool> is_this_group_;
  mutable Mutex mutex_;
  std::optional<Promotion> last_ GUARDED_BY(mutex_);
};

}  // namespace seen
