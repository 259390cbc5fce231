#include "kafka/owners_watch.h"

#include <string_view>

#include "base/log.h"

namespace seen {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAskEvery{3000};
constexpr milliseconds kOwnersAnswered{1500};  // a stop waits at most this long
constexpr milliseconds kUnownedFor{4000};      // an assignment in progress takes less
constexpr milliseconds kOwnersMetadata{500};

/// Reads a member's assignment: Kafka's ConsumerProtocolAssignment, big-endian. After an error everything
/// reads as zero.
class AssignmentBytes {
 public:
  AssignmentBytes(const void* data, int size)
      : left_(static_cast<const char*>(data), size > 0 ? static_cast<size_t>(size) : 0) {}

  int32_t Number(size_t bytes) {
    uint32_t number = 0;
    for (const char byte : Text(bytes)) number = number << 8 | static_cast<unsigned char>(byte);
    return static_cast<int32_t>(number);
  }
  std::string_view Text(size_t bytes) {
    if (bytes > left_.size()) left_ = {};
    const std::string_view text = left_.substr(0, bytes);
    left_.remove_prefix(text.size());
    return text;
  }
  bool AtEnd() const { return left_.empty(); }

 private:
  std::string_view left_;
};

void AddAssigned(const rd_kafka_group_member_info& member, std::string_view topic, std::set<int32_t>& owned) {
  AssignmentBytes bytes(member.member_assignment, member.member_assignment_size);
  bytes.Number(2);  // version
  for (int32_t topics = bytes.Number(4); topics > 0 && !bytes.AtEnd(); --topics) {
    const bool is_wanted = bytes.Text(static_cast<size_t>(bytes.Number(2))) == topic;
    for (int32_t partitions = bytes.Number(4); partitions > 0 && !bytes.AtEnd(); --partitions) {
      const int32_t partition = bytes.Number(4);
      if (is_wanted) owned.insert(partition);
    }
  }
}

}  // namespace

void OwnersWatch::Start() {
  thread_.Start("owners-watch", {}, [this] { return Ask(); });
}

std::vector<int32_t> OwnersWatch::unowned_partitions() const {
  const MutexLock lock(mutex_);
  return unowned_;
}

milliseconds OwnersWatch::Ask() {
  if (!link_.reachable()) return kAskEvery;
  const rd_kafka_group_list* groups = nullptr;
  rd_kafka_list_groups(link_.Client().get(), link_.options.group_id.c_str(), &groups,
                       kafka::ToTimeout(kOwnersAnswered));
  if (groups == nullptr) return kAskEvery;  // no answer in time, or no right to ask
  for (int i = 0; i < groups->group_cnt; ++i) {
    const rd_kafka_group_info& group = groups->groups[i];
    const std::string_view state = group.state;
    // In other states an assignment is in progress. A group without members waits for this member to join.
    if (group.err != RD_KAFKA_RESP_ERR_NO_ERROR || (state != "Stable" && state != "Empty")) continue;
    std::set<int32_t> members_own;
    for (int m = 0; m < group.member_cnt; ++m)
      AddAssigned(group.members[m], link_.options.topic, members_own);
    const MutexLock lock(mutex_);
    owned_by_group_ = std::move(members_own);
  }
  rd_kafka_group_list_destroy(groups);
  return kAskEvery;
}

bool OwnersWatch::WantsRejoin(bool may_rejoin) {
  std::optional<std::set<int32_t>> members_own;
  {
    const MutexLock lock(mutex_);
    members_own.swap(owned_by_group_);
  }
  if (!members_own) return false;
  const auto metadata = kafka::TopicMetadata(link_.Client().get(), link_.options.topic, kOwnersMetadata);
  if (!metadata) return false;
  std::vector<int32_t> without;
  for (int32_t partition = 0; partition < (*metadata)->topics[0].partition_cnt; ++partition) {
    if (!members_own->contains(partition)) without.push_back(partition);
  }
  const auto now = std::chrono::steady_clock::now();
  if (without.empty() || unowned_since_ == std::chrono::steady_clock::time_point{}) unowned_since_ = now;
  const bool lasting = !without.empty() && now - unowned_since_ >= kUnownedFor;
  {
    const MutexLock lock(mutex_);
    unowned_ = lasting ? without : std::vector<int32_t>();
  }
  if (without.empty()) {
    unowned_since_ = {};
    rejoin_wait_.Reset();
    rejoin_next_ = {};
    return false;
  }
  if (!lasting || now < rejoin_next_ || !may_rejoin) return false;
  rejoin_next_ = now + rejoin_wait_.Next();
  log::Warning("partitions without an owner: joining the group again, so that it assigns them",
               {{"topic", link_.options.topic},
                {"partitions", without.size()},
                {"first", without.front()},
                {"group", link_.options.group_id}});
  return true;
}

}  // namespace seen
