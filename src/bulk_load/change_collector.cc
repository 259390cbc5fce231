#include "bulk_load/change_collector.h"

#include "rows/row_batch.h"

namespace seen {

class ChangeCollector::Writer final : public RowWriter {
 public:
  Writer(ChangeCollector& collector, const Position& position) : collector_(collector), position_(position) {}
  Status Commit() override {
    collector_.position_ = position_;
    collector_.on_changes_(std::move(changes_));
    return {};
  }

 private:
  Status Write(const Row& row) override {
    changes_.Add(row);
    return {};
  }
  ChangeCollector& collector_;
  const Position position_;
  RowBatch changes_;
};

Horizon ChangeCollector::HorizonOf(FilterId filter) const {
  const auto found = horizons_.find(filter);
  return found == horizons_.end() ? Horizon() : found->second;
}

Result<std::unique_ptr<CheckpointWriter>> ChangeCollector::BeginCheckpoint(const Position& position) {
  return std::unique_ptr<CheckpointWriter>(std::make_unique<Writer>(*this, position));
}

}  // namespace seen
