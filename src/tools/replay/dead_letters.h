#pragma once
// Records that the daemons couldn't decode, as they stand in the dead-letter topic (docs/EVENTS.md).

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "flow/log_port.h"

namespace seen {

struct DeadLetterPlace {
  std::string topic;  // the source of the record
  std::string partition;
  std::string offset;
  std::string value;  // the beginning of the value, with control characters escaped
};

/// The dead letters of one reason and field.
struct DeadLetterGroup {
  uint64_t records = 0;
  uint64_t truncated = 0;  // letters that were cut, so they can't be sent again
  TimeMs first_at, last_at;
  std::vector<DeadLetterPlace> examples;
};

/// One thread.
class DeadLetters {
 public:
  static constexpr size_t kGroupsMax = 1'000;  // further ones go into the group of field "(others)"

  explicit DeadLetters(size_t examples_max) : examples_max_(examples_max) {}
  /// `record`: a record of the dead-letter topic, from one of its readers.
  void Add(const Record& record);

  using Groups = std::map<std::pair<std::string, std::string>, DeadLetterGroup>;  // by reason and field
  const Groups& groups() const { return groups_; }
  uint64_t records() const { return records_; }

  static std::string_view ReasonOf(const Record& record);
  static bool IsTruncated(const Record& record);

 private:
  const size_t examples_max_;
  Groups groups_;
  uint64_t records_ = 0;
};

std::string DeadLettersText(const DeadLetters& letters);
std::string DeadLettersJson(const DeadLetters& letters);

}  // namespace seen
