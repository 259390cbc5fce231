#include "common/arguments.h"

#include <cstdio>
#include <cstdlib>

namespace seen::bench {

Arguments::Arguments(int count, char** values) {
  for (int i = 1; i < count; ++i) {
    const std::string argument = values[i];
    const auto at = argument.find('=');
    if (at == std::string::npos) Die("\"" + argument + "\" isn't key=value");
    values_[argument.substr(0, at)] = argument.substr(at + 1);
  }
}

std::string Arguments::Text(const std::string& key, const std::string& otherwise) const {
  const auto found = values_.find(key);
  return found == values_.end() ? otherwise : found->second;
}

int64_t Arguments::Number(const std::string& key, int64_t otherwise) const {
  const auto found = values_.find(key);
  return found == values_.end() ? otherwise : std::strtoll(found->second.c_str(), nullptr, 10);
}

std::map<std::string, std::string> Arguments::Dotted() const {
  std::map<std::string, std::string> dotted;
  for (const auto& [key, value] : values_) {
    if (key.find('.') != std::string::npos) dotted[key] = value;
  }
  return dotted;
}

void Die(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::_Exit(1);
}

}  // namespace seen::bench
