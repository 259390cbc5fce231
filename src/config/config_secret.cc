#include "config/config_secret.h"

#include <fmt/format.h>

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "kafka/client_settings.h"

namespace seen {
namespace {

constexpr size_t kSecretBytesMax = 64 * 1024;

tl::expected<std::string, std::string> ReadSecretFile(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(kSecretBytesMax + 1, '\0');
  if (file) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad() || (file.fail() && !file.eof())) {
    const char* const why = errno != 0 ? std::strerror(errno) : "not readable";
    return tl::unexpected(fmt::format("file {}: {}", ShowValue(path), why));
  }
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kSecretBytesMax) {
    return tl::unexpected(fmt::format("file {}: longer than {} bytes", ShowValue(path), kSecretBytesMax));
  }
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

}  // namespace

bool IsSecretReference(const ConfigJson& value) {
  return value.is_object() && (value.contains("env") || value.contains("file"));
}

tl::expected<std::string, std::string> ReadSecret(const ConfigJson& reference) {
  if (reference.size() != 1 || !reference.front().is_string()) {
    return tl::unexpected(std::string(R"(must be {"env": "NAME"} or {"file": "PATH"})"));
  }
  const std::string name = reference.front().get<std::string>();
  if (name.find('\0') != std::string::npos)
    return tl::unexpected(std::string("a name can't hold a null byte"));
  if (reference.contains("file")) return ReadSecretFile(name);
  const char* const value = std::getenv(name.c_str());
  if (value == nullptr)
    return tl::unexpected(fmt::format("environment variable {} is not set", ShowValue(name)));
  return std::string(value);
}

bool IsSecretProperty(std::string_view property) { return IsSecretSetting(property); }

ConfigJson SecretPlaceholder(std::string_view property) {
  std::string name = "KAFKA_";
  for (const char c : property) {
    name += std::isalnum(static_cast<unsigned char>(c))
                ? static_cast<char>(std::toupper(static_cast<unsigned char>(c)))
                : '_';
  }
  return {{"env", name}};
}

}  // namespace seen
