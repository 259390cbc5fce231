#pragma once
// Counts the lines of a history that can't be sent, by reason, and keeps some as examples. A file, if there
// is one, gets all such lines. Too many such lines end the run.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/event.h"

namespace seen {

/// One thread.
class Rejects {
 public:
  static constexpr size_t kExamplesMax = 3;  // per reason

  struct Example {
    std::string where;    // a JSON object: file and line, or topic, partition and offset
    std::string message;  // for people
    std::string text;     // the beginning of the line
  };
  struct Reason {
    uint64_t count = 0;
    std::vector<Example> examples;
  };

  /// `share_max`: 0 to 1.
  explicit Rejects(double share_max) : share_max_(share_max) {}
  ~Rejects();
  Rejects(const Rejects&) = delete;
  Rejects& operator=(const Rejects&) = delete;

  /// From now on, appends each reject to this file, one JSON object per line.
  Status OpenFile(const std::string& path);
  Status Add(std::string_view reason, std::string_view message, const std::string& where,
             std::string_view text);
  Status Sync();

  uint64_t total() const { return total_; }
  const std::map<std::string, Reason, std::less<>>& reasons() const { return reasons_; }

  /// kMalformed: more than the allowed share of `lines` was rejected. The message has the most frequent
  /// reason and an example.
  Status CheckShare(uint64_t rejected, uint64_t lines) const;

 private:
  Error Broken() const;
  double share_max_;
  std::string path_;
  int file_ = -1;
  uint64_t total_ = 0;
  std::map<std::string, Reason, std::less<>> reasons_;
};

/// "1%", "0.5%", "100%" -> 0.01, ... kInvalidArgument: another form.
Result<double> ParseShare(std::string_view option, std::string_view text);

}  // namespace seen
