#include <array>
#include <chrono>
#include <map>
#include <set>

#include "base/back_off.h"
#include "base/log.h"
#include "base/mutex.h"
#include "kafka/rdkafka_handles.h"

namespace seen::kafka {
namespace {

constexpr std::chrono::seconds kTroubleRemembered{45};

struct SecurityWords {
  std::string_view words;
  std::string_view remedy;
};

constexpr std::string_view kCheckCredentials =
    ". Remedy: check sasl.mechanism, sasl.username and sasl.password in kafka.client, and that the brokers "
    "know this "
    "user";
constexpr std::string_view kCheckToken =
    ". Remedy: check the sasl.oauthbearer settings in kafka.client, and that the brokers accept such tokens";
constexpr std::string_view kCheckAuthority =
    ". Remedy: check ssl.ca.location in kafka.client: it must hold the CA that signed the brokers' "
    "certificates. The certificates must name the hosts in kafka.brokers and must not have expired";
constexpr std::string_view kCheckCertificate =
    ". Remedy: check ssl.certificate.location and ssl.key.location in kafka.client: the brokers require "
    "a client certificate that hasn't expired, signed by a CA that they trust";
constexpr std::string_view kCheckProtocol =
    ". Remedy: check security.protocol in kafka.client, and the port in kafka.brokers";

// The first entry that matches counts.
constexpr std::array kSecurityWords = {
    SecurityWords{"OAUTHBEARER", kCheckToken},
    SecurityWords{"invalid_token", kCheckToken},
    SecurityWords{"SASL authentication", kCheckCredentials},
    SecurityWords{"SASL mechanism", kCheckCredentials},
    SecurityWords{"SaslAuthenticateRequest failed", kCheckCredentials},
    SecurityWords{"certificate verify failed", kCheckAuthority},
    SecurityWords{"certificate could not be verified", kCheckAuthority},
    SecurityWords{"hostname mismatch", kCheckAuthority},
    SecurityWords{"alert bad certificate", kCheckCertificate},
    SecurityWords{"alert certificate", kCheckCertificate},  // required, expired, unknown, revoked
    SecurityWords{"alert unknown ca", kCheckCertificate},
    SecurityWords{"alert unsupported certificate", kCheckCertificate},
    SecurityWords{"alert handshake failure", kCheckCertificate},
    SecurityWords{"alert decrypt error", kCheckCertificate},
    SecurityWords{"security.protocol", kCheckProtocol},
    SecurityWords{"listener?", kCheckProtocol},
    SecurityWords{"wrong version number", kCheckProtocol},
};

struct LastTrouble {
  Mutex mutex;
  std::string text GUARDED_BY(mutex);
  std::chrono::steady_clock::time_point at GUARDED_BY(mutex);
};

/// One for the whole process, as the log is: librdkafka's threads report the trouble, and other threads fail
/// because of it.
LastTrouble& Last() {
  static LastTrouble last;
  return last;
}

}  // namespace

std::string_view SecurityRemedy(std::string_view text) {
  for (const SecurityWords& one : kSecurityWords) {
    if (text.find(one.words) != std::string_view::npos) return one.remedy;
  }
  return {};
}

void NoteConnectionLine(std::string_view text) {
  const std::string_view remedy = SecurityRemedy(text);
  if (remedy.empty()) return;
  while (text.ends_with('.')) text.remove_suffix(1);
  LastTrouble& last = Last();
  const MutexLock lock(last.mutex);
  last.text = ": " + std::string(text) + std::string(remedy);
  last.at = std::chrono::steady_clock::now();
}

std::string LastSecurityTrouble() {
  LastTrouble& last = Last();
  const MutexLock lock(last.mutex);
  return std::chrono::steady_clock::now() - last.at < kTroubleRemembered ? last.text : std::string();
}

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

bool MayLog(std::string_view key) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::minutes kWaitMax{5};
  struct Entry {
    Clock::time_point next;
    BackOff wait;
  };
  static Mutex mutex;
  static std::map<std::string, Entry, std::less<>> entries GUARDED_BY(mutex);
  const auto now = Clock::now();
  const MutexLock lock(mutex);
  const auto found = entries.find(key);
  if (found == entries.end()) {
    // Keys are few (facilities, error names). If they aren't, forgetting them only repeats lines.
    if (entries.size() > 1000) entries.clear();
    BackOff wait(std::chrono::seconds(1), kWaitMax);
    const auto next = now + wait.Next();
    entries.emplace(key, Entry{next, wait});
    return true;
  }
  auto& entry = found->second;
  if (now < entry.next) return false;
  if (now - entry.next > kWaitMax) entry.wait.Reset();  // it was quiet
  entry.next = now + entry.wait.Next();
  return true;
}

void LogClientLine(const rd_kafka_t*, int level, const char* facility, const char* text) {
  const std::string_view kind = facility;
  // About properties of the other role: one kafka.client serves consumers and producers.
  if (kind == "CONFWARN" || kind == "AUTOCREATE") return;
  // About a connection that nobody used for a long time.
  if (kind == "FAIL" && std::string_view(text).find("Disconnected (after") != std::string_view::npos) return;
  const std::string shown = WithoutSecrets(text);
  NoteConnectionLine(shown);
  if (level > 6 || !MayLog(std::string("librdkafka ") + facility)) return;
  const auto severity = level <= 3   ? log::Level::kError
                        : level <= 5 ? log::Level::kWarning
                                     : log::Level::kInfo;
  // The client waits for an unreachable broker. It is no error of this program.
  const bool away = kind == "FAIL" || kind == "ERROR";
  log::Write(away ? log::Level::kWarning : severity, "kafka client", {{"about", kind}, {"text", shown}});
}

}  // namespace seen::kafka
