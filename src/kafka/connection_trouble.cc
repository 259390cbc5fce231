#include "kafka/connection_trouble.h"

#include <array>
#include <chrono>

#include "base/mutex.h"

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

}  // namespace seen::kafka
