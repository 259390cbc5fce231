#pragma once
// Lines of a history that can't be sent: counted by reason, some kept as examples, all written to a file if
// there is one, and too many of them end the run.

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
  static constexpr size_t kExamplesMax = 3;  // of each reason

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

  /// Appends each reject to this file, a JSON object a line.
  Status OpenFile(const std::string& path);
  Status Add(std::string_view reason, std::string_view message, const std::string& where,
             std::string_view text);
  Status Sync();

  uint64_t total() const { return total_; }
  const std::map<std::string, Reason, std::less<>>& reasons() const { return reasons_; }

  /// kMalformed, with the commonest reason and an example, if more than the share of `lines` were rejected.
  Status CheckShare(uint64_t rejected, uint64_t lines) const;

 private:
  Error Broken() const;
  double share_max_;
  std::string path_;
  int file_ = -1;
  uint64_t total_ = 0;
  std::map<std::string, Reason, std::less<>> reasons_;
};

/// "1%", "0.5%", "100%" -> 0.01, ... kInvalidArgument.
Result<double> ParseShare(std::string_view option, std::string_view text);

}  // namespace seen
