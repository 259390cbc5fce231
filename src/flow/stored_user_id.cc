#include "flow/stored_user_id.h"

#include <limits>

#include "model/delta_view.h"

namespace seen {

Result<std::string> StoredUserId(const PartitionStore& store, const UserRef& user) {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  std::optional<UserRef> before = user;
  if (user.user.low > 0) {
    --before->user.low;
  } else if (user.user.high > 0) {
    before->user = {user.user.high - 1, kMost};
  } else if (user.filter.number() > 0) {
    before = UserRef{FilterId(static_cast<size_t>(user.filter.number() - 1)), {kMost, kMost}};
  } else {
    before.reset();
  }
  const auto marks = store.ScanMarks(before, 1);
  if (!marks) return Fail(marks.error());
  if (!marks->empty() && marks->front().user == user && !marks->front().user_id.empty()) {
    return marks->front().user_id;
  }
  std::string stored;
  const auto found = store.ReadDelta(user, stored);
  if (!found) return Fail(found.error());
  DeltaView view;
  if (*found && ParseDelta(stored, view) && !view.user_id.empty()) return std::string(view.user_id);
  PublishedRow kept;
  if (Status read = store.ReadPublished({&user, 1}, {&kept, 1}); !read) return Fail(read.error());
  return kept.user_id;
}

}  // namespace seen
