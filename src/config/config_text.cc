#include "config/config_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <unordered_set>

#include "base/text.h"
#include "kafka/client_settings.h"

namespace seen {

namespace {

constexpr size_t kDepthMax = 32;

/// Builds the document during parsing, and reports equal keys. nlohmann's own builder silently keeps only the
/// last of two equal keys.
class Builder final : public nlohmann::json_sax<ConfigJson> {
 public:
  explicit Builder(std::string_view text) : text_(text) {}

  bool null() override { return Add(nullptr) != nullptr; }
  bool boolean(bool value) override { return Add(value) != nullptr; }
  bool number_integer(number_integer_t value) override { return Add(value) != nullptr; }
  bool number_unsigned(number_unsigned_t value) override { return Add(value) != nullptr; }
  bool number_float(number_float_t value, const string_t&) override { return Add(value) != nullptr; }
  bool string(string_t& value) override { return Add(std::move(value)) != nullptr; }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return Open(ConfigJson::object()); }
  bool start_array(size_t) override { return Open(ConfigJson::array()); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }

  bool key(string_t& name) override {
    Level& level = levels_.back();
    level.key = name;
    level.skip = !level.keys.insert(name).second;
    if (level.skip) errors.push_back({JoinPath(level.path, name), "given twice; keep one"});
    return true;
  }

  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception& exception) override {
    // Drops nlohmann's "[json.exception.parse_error.101] parse error at line 1, column 2: ": the message
    // below names the place.
    std::string what = exception.what();
    if (const size_t end = what.find("] "); end != std::string::npos) what.erase(0, end + 2);
    if (what.starts_with("parse error at ")) what.erase(0, std::min(what.size(), what.find(": ") + 2));
    if (what.starts_with("syntax error while parsing "))
      what.erase(0, std::string_view("syntax error while ").size());
    // The last token that was read may be a password, so the message leaves it out. Line and column still
    // name the place.
    if (const size_t read = what.find("; last read: '"); read != std::string::npos) {
      const size_t end = what.rfind("'; expected ");
      what.erase(read, end != std::string::npos && end > read ? end + 1 - read : std::string::npos);
    }
    const std::string_view before = text_.substr(0, position > 0 ? std::min(position - 1, text_.size()) : 0);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    errors.push_back(
        {"", fmt::format("line {}, column {}: not JSON: {}", line, before.size() - line_start + 1, what)});
    return false;
  }

  ConfigJson document;
  std::vector<ConfigError> errors;

 private:
  struct Level {
    ConfigJson* container;
    std::string path;
    std::string key;                       // the key whose value comes next
    bool skip = false;                     // this key was given before: its value is dropped
    std::unordered_set<std::string> keys;  // given so far
    std::unique_ptr<ConfigJson> skipped;
  };

  ConfigJson* Add(ConfigJson value) {
    if (levels_.empty()) {
      document = std::move(value);
      return &document;
    }
    Level& level = levels_.back();
    if (level.container->is_array()) {
      level.container->push_back(std::move(value));
      return &level.container->back();
    }
    if (level.skip) {
      level.skipped = std::make_unique<ConfigJson>(std::move(value));
      return level.skipped.get();
    }
    return &((*level.container)[level.key] = std::move(value));
  }

  bool Open(ConfigJson container) {
    std::string path;
    if (!levels_.empty()) {
      const Level& level = levels_.back();
      path = level.container->is_array() ? JoinPath(level.path, level.container->size())
                                         : JoinPath(level.path, level.key);
    }
    if (levels_.size() == kDepthMax) {
      errors.push_back({path, fmt::format("nested more than {} levels deep", kDepthMax)});
      return false;
    }
    ConfigJson* const added = Add(std::move(container));
    levels_.push_back({added, std::move(path), {}, false, {}, nullptr});
    return true;
  }

  bool Close() {
    levels_.pop_back();
    return true;
  }

  std::string_view text_;
  std::vector<Level> levels_;  // open containers; only the last one grows: pointers to the others stay valid
};

}  // namespace

tl::expected<ConfigJson, std::vector<ConfigError>> ParseConfigText(std::string_view text) {
  Builder builder(text);
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return ConfigJson::object();
  ConfigJson::sax_parse(text, &builder, nlohmann::json::input_format_t::json, true, true);
  if (!builder.errors.empty()) return tl::unexpected(std::move(builder.errors));
  return std::move(builder.document);
}

std::string JoinPath(std::string_view path, std::string_view key) {
  const bool plain = !key.empty() && key.size() <= 100 && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-' || c == '$';
  });
  if (!plain) return fmt::format("{}[{}]", path, ShowValue(std::string(key)));
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

std::string JoinPath(std::string_view path, size_t index) { return fmt::format("{}[{}]", path, index); }

std::string ShowValue(const ConfigJson& value) {
  constexpr size_t kBytesMax = 100;
  std::string text = JsonText(value);
  if (text.size() <= kBytesMax) return text;
  size_t end = kBytesMax;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // not within a character
  return text.substr(0, end) + "...";
}

std::string TextAt(const ConfigJson& document, const char* pointer) {
  const ConfigJson::json_pointer at(pointer);
  return document.contains(at) && document.at(at).is_string() ? document.at(at).get<std::string>()
                                                              : std::string();
}

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
