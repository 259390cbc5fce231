#include "flow/partition_fill.h"

#include <algorithm>
#include <array>
#include <span>

#include "model/delta_fold.h"

namespace seen {
namespace {
constexpr size_t kUsersAtOnce = 128;  // read from the store together
}  // namespace

Status PartitionFill::WriteUsers(const FillPage& page, CheckpointWriter& writer) {
  std::vector<UserRef> refs;
  std::vector<std::string> stored(kUsersAtOnce);
  std::string composed;
  for (size_t from = 0; from < page.users.size(); from += kUsersAtOnce) {
    const auto users = std::span(page.users).subspan(from, std::min(kUsersAtOnce, page.users.size() - from));
    refs.clear();
    for (const FillPage::User& user : users) refs.push_back(user.ref);
    if (Status read = store_.ReadDeltas(refs, std::span(stored).first(refs.size())); !read) return read;
    for (size_t i = 0; i < users.size(); ++i) {
      const FillPage::User& user = users[i];
      std::string_view delta = user.delta;
      if (!stored[i].empty()) {
        const auto filter =
            std::find_if(state_.options().filters.begin(), state_.options().filters.end(),
                         [&](const FilterPolicy& each) { return each.id == user.ref.filter; });
        if (filter == state_.options().filters.end())
          return Fail(Code::kInvalidArgument, "fill: no filter has this id");
        const std::array<std::string_view, 2> parts = {user.delta, stored[i]};
        if (!FoldEncoded(parts, filter->limits, Horizon(), composed))
          return Fail(Code::kCorrupt, "fill: the stored bytes of a user are not a delta");
        delta = composed;
      }
      if (Status added = writer.AddDelta(user.ref, delta); !added) return added;
    }
  }
  return {};
}

Result<Position> PartitionFill::StoredPosition() const {
  auto position = store_.ReadPosition();
  if (!position) return Fail(position.error());
  if (!*position) return Fail(Code::kUnavailable, "the partition has no checkpoint yet");
  return std::move(**position);
}

Status PartitionFill::End(FilterIndex filter_index, TimeMs complete_since, uint64_t losses) {
  auto position = StoredPosition();
  if (!position) return Fail(position.error());
  state_.wholeness().Filled(filter_index, complete_since, losses);
  position->filters = state_.wholeness().Now();
  auto writer = BeginCheckpoint(state_.options(), store_, *position);
  if (!writer) return Fail(writer.error());
  return (*writer)->Commit();
}

Status PartitionFill::Write(const FillPage& page) {
  const auto position = StoredPosition();
  if (!position) return Fail(position.error());
  auto writer = BeginCheckpoint(state_.options(), store_, *position);
  if (!writer) return Fail(writer.error());
  if (Status written = WriteUsers(page, **writer); !written) return written;
  std::vector<UserRef> marked;
  marked.reserve(page.marks.size());
  for (const Mark& mark : page.marks) {
    if (Status set = (*writer)->SetMark(mark); !set) return set;
    marked.push_back(mark.user);
  }
  std::vector<Ending> endings = page.endings;
  endings_.KeepNotDone(endings);
  for (const Ending& ending : endings) {
    if (Status added = (*writer)->AddEnding(ending); !added) return added;
  }
  if (Status committed = (*writer)->Commit(); !committed) return committed;
  publish_.MarksWritten(marked);
  endings_.Written(endings);
  return {};
}

}  // namespace seen
