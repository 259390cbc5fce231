#include "tools/state/history_digest.h"

#include <optional>

#include "rows/descriptor.h"
#include "rows/keys.h"
#include "tools/common_options.h"
#include "tools/own_folder.h"
#include "tools/progress.h"

namespace seen {
namespace {

/// Sums the rows of the built state in the order of the sort.
class DigestDestination final : public StateDestination {
 public:
  DigestDestination(const HistoryDigestSettings& settings, StateReport& report)
      : settings_(settings), report_(report) {}

  Status Prepare(int32_t partitions) override {
    auto folder = OwnFolder::Make("--scratch", settings_.scratch, "digest");
    if (!folder) return Fail(folder.error());
    folder_.emplace(std::move(*folder));
    report_.partitions_total = partitions;
    return {};
  }
  std::string SortFolder() const override { return folder_->path(); }

  Status Write(StateBuilder& builder, const std::vector<BuiltState>& states) override {
    Progress progress("digest", states.size(), "partitions",
                      settings_.build.quiet ? Progress::Mode::kQuiet : Progress::Mode::kAuto);
    for (const BuiltState& state : states) {
      if (Interrupted()) return Fail(Code::kUnavailable, "interrupted");
      if (Status summed = Sum(builder, state); !summed) return summed;
      progress.Update(report_.partitions.size());
    }
    progress.Finish();
    return {};
  }
  void Clear() override { folder_.reset(); }
  uint64_t StateBytes() const override { return 0; }

 private:
  Status Sum(StateBuilder& builder, const BuiltState& state) {
    std::optional<StoreDescriptor> descriptor;
    Status first = builder.ForEachFirstRow(state, [&](const Row& row) -> Status {
      if (row.key != DescriptorKey()) return {};
      auto decoded = DecodeDescriptor(row.value);
      if (!decoded) return Fail(decoded.error());
      descriptor = std::move(*decoded);
      return {};
    });
    if (!first) return first;
    if (!descriptor) return Fail(Code::kCorrupt, "digest: a built state without a descriptor");
    StateDigester digester(*descriptor, settings_.as_of);
    Status added = builder.ForEachUserRow(state.partition,
                                          [&](const Row& row) { return digester.Add(row.key, row.value); });
    if (!added) return added;
    report_.topic = descriptor->identity.topic;
    report_.partitions.push_back({.partition = state.partition,
                                  .next_offset = state.live_offset,
                                  .partition_time = builder.PartitionTime(state.partition),
                                  .as_of = settings_.as_of,
                                  .filters = digester.Finish()});
    return {};
  }

  const HistoryDigestSettings& settings_;
  StateReport& report_;
  std::optional<OwnFolder> folder_;
};

}  // namespace

Result<StateReport> DigestHistory(const HistoryDigestSettings& settings, const ReplayTarget& target,
                                  HistorySource& source, Rejects& rejects) {
  StateReport report;
  report.source = "history";
  report.as_of = settings.as_of;
  DigestDestination destination(settings, report);
  const auto built = IntoState(settings.build, target, destination, source, rejects);
  if (!built) return Fail(built.error());
  return report;
}

}  // namespace seen
