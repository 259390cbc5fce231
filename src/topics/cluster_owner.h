#pragma once
// Knows which group of daemons owns the outputs. The topic of the cluster holds the promotions that decide
// this, and the beats of replicas. The topic has one partition. Its last promotion decides, so all daemons
// agree. Records: schemas/cluster.md.

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "config/config.h"
#include "kafka/admin.h"
#include "owner/lease.h"

namespace seen {

/// A record that makes a group the owner.
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

/// Any thread. A thread of its own reads the topic.
class ClusterOwner final : public OutputsOwner {
 public:
  struct Listeners {
    std::function<void(std::string_view beat)> on_replica;   // takes a replica's beat
    std::function<int64_t(int32_t partition)> published_to;  // see OutputsOwner::PublishedTo
  };
  explicit ClusterOwner(const Config& config) : config_(config), is_this_group_(!config.replica_of) {}
  ~ClusterOwner() override { Stop(); }

  /// Reads the topic to its end and obeys its last promotion. If the topic doesn't exist, nothing changes.
  /// kUnavailable: retry. kRefused: another group owns, and this group never owned and isn't set up as a
  /// replica.
  Status Read();
  /// Call it once. `admin` outlives the thread.
  void Start(const Admin& admin, Listeners listeners);
  void Stop();

  bool IsThisGroup() const override { return is_this_group_.load(std::memory_order_acquire); }
  int64_t PublishedTo(int32_t partition) const override {
    return listeners_.published_to ? listeners_.published_to(partition) : -1;
  }
  /// The group that owns the outputs.
  std::string Group() const;
  /// The group that owned before any promotion. The consumer groups for re-keying and items keep its name.
  std::string FirstGroup() const;
  /// Whether this group owns the outputs because of a promotion.
  bool IsPromoted() const;
  /// Whether `group` is this group, or owns the outputs, or once owned them. Its state then counts as this
  /// group's.
  bool HasOwned(std::string_view group) const;
  /// The promotion that makes this group the owner.
  Promotion NextPromotion(std::string instance, TimeMs now) const;

 private:
  void Run(const Admin& admin);
  Status Follow();
  Status Obey(const std::string& promotion);

  const Config& config_;
  std::atomic<bool> is_this_group_;
  std::atomic<bool> stop_{false};
  Listeners listeners_;
  mutable Mutex mutex_;
  std::optional<Promotion> last_ GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace seen
