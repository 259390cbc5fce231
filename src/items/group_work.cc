#include "items/group_work.h"

namespace seen {

void GroupWork::KeepChangedGroups() {
  for (const ItemRef& item : rows.changed()) {
    const StoredGroup& group = *rows.Group(item);
    outbox.Put(ToItemGroup(*rows.Item(item), &group));
    change.groups.push_back({item, IsAlone(item, group) ? std::nullopt : std::optional(group)});
  }
}

Status GroupWork::WriteChange() {
  if (change.empty()) return {};
  const Status written = index.Write(change);
  change = {};
  return written;
}

}  // namespace seen
