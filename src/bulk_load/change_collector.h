#pragma once
// A store that keeps nothing: a callback collects the rows that checkpoints write. A flow on this store has
// no past. So its rows are changes onto an empty state.

#include <functional>
#include <map>

#include "flow/store_port.h"
#include "rows/row_batch.h"

namespace seen {

/// One thread.
class ChangeCollector final : public PartitionStore {
 public:
  using OnChanges = std::function<void(RowBatch changes)>;
  explicit ChangeCollector(OnChanges on_changes) : on_changes_(std::move(on_changes)) {}

  /// The position of the last checkpoint.
  const Position& position() const { return position_; }
  /// The filter's horizon as of the last checkpoint: which of its bytes have expired.
  Horizon HorizonOf(FilterId filter) const;

  Result<std::optional<Position>> ReadPosition() const override { return std::optional<Position>(); }
  Result<std::unique_ptr<CheckpointWriter>> BeginCheckpoint(const Position& position) override;
  Result<bool> ReadDelta(const UserRef&, std::string& out) const override {
    out.clear();
    return false;
  }
  Result<std::optional<Mark>> ReadMark(const UserRef&) const override { return std::optional<Mark>(); }
  Result<std::vector<Mark>> ScanMarks(const std::optional<UserRef>&, size_t) const override {
    return std::vector<Mark>();
  }
  Result<std::vector<Ending>> ScanEndings(const std::optional<Ending>&, uint32_t, size_t) const override {
    return std::vector<Ending>();
  }
  Result<std::optional<UserRef>> ScanUsers(const std::optional<UserRef>&, size_t,
                                           const VisitUser&) const override {
    return std::optional<UserRef>();
  }
  Result<ServedPage> ScanServed(const std::optional<ServedRow>&, uint32_t, size_t) const override {
    return ServedPage();
  }
  Result<std::string> ReadSweep() const override { return std::string(); }
  void SetHorizon(FilterId filter, const Horizon& horizon) override { horizons_[filter] = horizon; }
  Status KeepPublished(std::span<const PublishedRow>) override { return {}; }
  Status ReadPublished(std::span<const UserRef>, std::span<PublishedRow>) const override { return {}; }
  Result<std::vector<PublishedRow>> ScanPublished(const std::optional<UserRef>&, size_t) const override {
    return std::vector<PublishedRow>();
  }
  uint32_t Level0Files() const override { return 0; }
  StoreFigures Figures() const override { return {}; }

 private:
  class Writer;
  const OnChanges on_changes_;
  Position position_;
  std::map<FilterId, Horizon> horizons_;
};

}  // namespace seen
