#include "kafka/hidden_secrets.h"

#include <set>

#include "base/mutex.h"

namespace seen::kafka {
namespace {

constexpr size_t kSecretBytesMin = 4;
constexpr std::string_view kHidden = "(hidden)";
// librdkafka quotes parts of this property's value if it can't parse the value.
constexpr std::string_view kQuoted = "sasl.oauthbearer.config";

struct Secrets {
  Mutex mutex;
  std::set<std::string, std::less<>> values GUARDED_BY(mutex);
};

/// One for the whole process, as the log is.
Secrets& KnownSecrets() {
  static Secrets secrets;
  return secrets;
}

}  // namespace

void HideSecret(std::string_view value) {
  if (value.size() < kSecretBytesMin) return;
  Secrets& secrets = KnownSecrets();
  const MutexLock lock(secrets.mutex);
  secrets.values.emplace(value);
}

std::string WithoutSecrets(std::string_view text) {
  std::string shown(text);
  if (const size_t quoted = shown.find(kQuoted); quoted != std::string::npos) {
    shown.resize(quoted + kQuoted.size());
    shown += ": the rest is hidden";
  }
  Secrets& secrets = KnownSecrets();
  const MutexLock lock(secrets.mutex);
  for (const std::string& value : secrets.values) {
    for (size_t at = shown.find(value); at != std::string::npos; at = shown.find(value, at + kHidden.size()))
      shown.replace(at, value.size(), kHidden);
  }
  return shown;
}

}  // namespace seen::kafka
