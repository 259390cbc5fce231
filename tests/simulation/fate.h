#pragma once
// A store with injected faults: reads fail, the power is cut within the publisher's step, and level 0 is as
// full as the world says.

#include <algorithm>
#include <functional>
#include <memory>
#include <random>
#include <utility>

#include "flow/store_port.h"

namespace seen::sim {

/// Thrown at a power cut: everything in memory is lost.
struct PowerCut {};

/// The faults of the publisher's ports. No faults unless `armed`.
struct Fate {
  std::mt19937_64& random;
  int read_fail_percent = 0;
  int power_cut_permille = 0;
  bool armed = false;
  uint64_t reads_failed = 0;
  std::function<void()> before_read = {};

  void MayCutPower() const {
    if (armed && static_cast<int>(random() % 1000) < power_cut_permille) throw PowerCut{};
  }
  bool ReadFails() {
    if (before_read) before_read();
    MayCutPower();
    const bool fails = armed && static_cast<int>(random() % 100) < read_fail_percent;
    if (fails) ++reads_failed;  // written only then: while unarmed, several threads may read
    return fails;
  }
};

class FatefulStore final : public PartitionStore {
 public:
  FatefulStore(std::unique_ptr<PartitionStore> store, Fate& fate, const uint32_t& level0_files)
      : store_(std::move(store)), fate_(fate), level0_files_(level0_files) {}

  Result<std::optional<Position>> ReadPosition() const override { return store_->ReadPosition(); }
  Result<std::unique_ptr<CheckpointWriter>> BeginCheckpoint(const Position& position) override {
    return store_->BeginCheckpoint(position);
  }
  Result<bool> ReadDelta(const UserRef& user, std::string& out) const override {
    return Try([&] { return store_->ReadDelta(user, out); });
  }
  Status ReadDeltas(std::span<const UserRef> users, std::span<std::string> out) const override {
    return Try([&] { return store_->ReadDeltas(users, out); });
  }
  Result<std::optional<Mark>> ReadMark(const UserRef& user) const override {
    return Try([&] { return store_->ReadMark(user); });
  }
  Result<std::vector<Mark>> ScanMarks(const std::optional<UserRef>& after, size_t limit) const override {
    return Try([&] { return store_->ScanMarks(after, limit); });
  }
  Result<std::vector<Ending>> ScanEndings(const std::optional<Ending>& after, uint32_t until_s,
                                          size_t limit) const override {
    return Try([&] { return store_->ScanEndings(after, until_s, limit); });
  }
  Result<std::optional<UserRef>> ScanUsers(const std::optional<UserRef>& after, size_t limit,
                                           const VisitUser& visit) const override {
    return Try([&] { return store_->ScanUsers(after, limit, visit); });
  }
  Result<ServedPage> ScanServed(const std::optional<ServedRow>& after, uint32_t due_s,
                                size_t limit) const override {
    return Try([&] { return store_->ScanServed(after, due_s, limit); });
  }
  Result<std::string> ReadSweep() const override {
    return Try([&] { return store_->ReadSweep(); });
  }
  Status KeepPublished(std::span<const PublishedRow> rows) override {
    return Try([&] { return store_->KeepPublished(rows); });
  }
  Status ReadPublished(std::span<const UserRef> users, std::span<PublishedRow> out) const override {
    return Try([&] { return store_->ReadPublished(users, out); });
  }
  Result<std::vector<PublishedRow>> ScanPublished(const std::optional<UserRef>& after,
                                                  size_t limit) const override {
    return Try([&] { return store_->ScanPublished(after, limit); });
  }
  void SetHorizon(FilterId filter, const Horizon& horizon) override { store_->SetHorizon(filter, horizon); }
  uint32_t Level0Files() const override { return std::max(level0_files_, store_->Level0Files()); }
  StoreFigures Figures() const override { return store_->Figures(); }

 private:
  template <typename Call>
  auto Try(const Call& call) const -> decltype(call()) {
    if (fate_.ReadFails()) return Fail(Code::kUnavailable, "injected");
    return call();
  }

  std::unique_ptr<PartitionStore> store_;
  Fate& fate_;
  const uint32_t& level0_files_;
};

}  // namespace seen::sim
