#include "tools/whole_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

namespace seen {

Result<std::string> ReadWhole(const std::string& path) {
  std::ostringstream bytes;
  if (path == "-") {
    bytes << std::cin.rdbuf();
    return bytes.str();
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return Fail(Code::kInvalidArgument, fmt::format("{}: {}", path, std::strerror(errno)));
  bytes << file.rdbuf();
  if (file.bad() || bytes.fail()) return Fail(Code::kInvalidArgument, fmt::format("{}: can't be read", path));
  return bytes.str();
}

}  // namespace seen
