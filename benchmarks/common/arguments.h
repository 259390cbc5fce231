#pragma once
// `key=value` arguments, as benchmarks/run.py gives them to each contender.

#include <cstdint>
#include <map>
#include <string>

namespace seen::bench {

class Arguments {
 public:
  /// Ends the program with a message if an argument isn't key=value.
  Arguments(int count, char** values);

  std::string Text(const std::string& key, const std::string& otherwise = "") const;
  int64_t Number(const std::string& key, int64_t otherwise) const;
  /// The arguments whose key has a dot: librdkafka's properties.
  std::map<std::string, std::string> Dotted() const;
  bool Flag(const std::string& key) const { return Text(key) == "true"; }

 private:
  std::map<std::string, std::string> values_;
};

/// Prints `what` and ends the program with status 1.
[[noreturn]] void Die(const std::string& what);

}  // namespace seen::bench
