#include "flow/stored_user_id.h"

#include "model/delta_view.h"

namespace seen {

Result<std::string> StoredUserId(const PartitionStore& store, const UserRef& user) {
  auto mark = store.ReadMark(user);
  if (!mark) return Fail(mark.error());
  if (*mark && !(*mark)->user_id.empty()) return std::move((*mark)->user_id);
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
