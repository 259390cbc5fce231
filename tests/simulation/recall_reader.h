#pragma once
// A recall service of a recall world: the C++ reader follows three topics at its own pace. The oracles of
// what it claims to know.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "seen/filter_reader.h"
#include "simulation/recall_topics.h"

namespace seen::sim {

class RecallReader {
 public:
  explicit RecallReader(RecallTopics& world);

  void Step(RecallPace pace);
  void ReadBeat();
  /// The topics ended there when they lost their ends.
  void CutTo(size_t snapshots, size_t updates);

  /// Returns what is wrong with what it claims; empty: nothing. Each live event that it claims to know must
  /// be seen, unless it was taken back.
  std::string Check() const;
  /// Whether it claims to know all that the log holds.
  bool KnowsAll() const;
  /// Whether it is fresh as of `since_ms` or later, and needs no addition for that.
  bool IsAtRest(int64_t since_ms) const;
  /// Why it isn't at rest.
  std::string Describe() const;

  int claims() const { return claims_; }
  /// How often it started over in the snapshots.
  int starts() const { return starts_; }
  const std::string& filter() const { return filter_; }

 private:
  void Take(const std::optional<client::Error>& refused) const;
  void ReadUpdate();
  void ReadSnapshot();
  void LookForEnd();
  void StartOver();
  std::string CheckTakenBack() const;

  RecallTopics& world_;
  const std::string filter_;
  const bool is_limited_;  // it may drop additions, and then CompleteTo is no claim
  client::FilterReader reader_;
  int pace_updates_ = 0, pace_snapshots_ = 0;
  size_t at_update_ = 0, at_snapshot_ = 0;
  int starts_ = 0;
  size_t sleeps_ = 0;  // for so many steps
  int64_t generation_ = 0;
  std::string beat_;                              // read last
  std::map<std::string, std::string> snapshots_;  // the newest that it has read, by user
  mutable int claims_ = 0;
};

}  // namespace seen::sim
