#pragma once
// Which group of daemons owns the outputs, as the topic of the cluster says; and the beats of replicas, which
// stand there as well. The last promotion in the topic's one partition decides: so all daemons agree.
// Records: schemas/cluster.md.

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
#include "flow/outputs_owner.h"

namespace seen {

/// A group was made the owner.
struct Promotion {
  std::string group;
  std::vector<std::string> owners;  // that ever were; the first stays first, this one is last
  std::string instance;             // of the daemon that was asked
  TimeMs at;
};
inline constexpr std::string_view kPromotionKey = "owner";
std::string EncodePromotion(const Promotion& promotion);
/// nullopt: it isn't one, or it is of a newer version.
std::optional<Promotion> ParsePromotion(std::string_view text);

/// Any thread. It has one that reads the topic.
class ClusterOwner final : public OutputsOwner {
 public:
  struct Listeners {
    std::function<void(std::string_view beat)> on_replica;   // a replica's beat
    std::function<int64_t(int32_t partition)> published_to;  // as OutputsOwner has it
  };
  explicit ClusterOwner(const Config& config) : config_(config), is_this_group_(!config.replica_of) {}
  ~ClusterOwner() override { Stop(); }

  /// What the topic says now; a topic that isn't there says nothing. kUnavailable: ask again. kRefused: this
  /// group neither owns nor follows.
  Status Read();
  /// Once.
  void Start(Listeners listeners);
  void Stop();

  bool IsThisGroup() const override { return is_this_group_.load(std::memory_order_acquire); }
  int64_t PublishedTo(int32_t partition) const override {
    return listeners_.published_to ? listeners_.published_to(partition) : -1;
  }
  /// That owns.
  std::string Group() const;
  /// The owner before anybody was promoted: consumer groups beside the owner's keep its name.
  std::string FirstGroup() const;
  /// This group got what it owns by a promotion.
  bool IsPromoted() const;
  /// Whether it owns, or did once: its state is this group's, too.
  bool HasOwned(std::string_view group) const;
  /// What makes this group the owner.
  Promotion NextPromotion(std::string instance, TimeMs now) const;

 private:
  void Run();
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
