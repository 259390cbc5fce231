#pragma once
// librdkafka properties from `kafka.client` in the configuration. They are checked before anything connects.

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace seen {

/// Any property of librdkafka by its own name, e.g. {"security.protocol", "SASL_SSL"}.
using ClientSettings = std::map<std::string, std::string>;

struct ClientSettingError {
  std::string property;
  std::string message;  // "kafka.client.linger.ms: "x": " and what librdkafka says, or why seend sets it
};

/// All errors in the settings of `kafka.client`: unknown properties, bad values, and properties that would
/// break the daemon's guarantees (e.g. enable.auto.commit). Empty: there are none. Values of secrets aren't
/// shown.
std::vector<ClientSettingError> ClientSettingErrors(const ClientSettings& settings);

/// The same errors as one kInvalidArgument, with one message per line.
Status CheckClientSettings(const ClientSettings& settings);

/// Whether a librdkafka property of this name holds a secret. Pure.
bool IsSecretSetting(std::string_view property);

/// session.timeout.ms from `settings`, or librdkafka's default.
std::chrono::milliseconds SessionTimeout(const ClientSettings& settings);

/// librdkafka's version as linked at run time, e.g. "2.0.2".
std::string ClientLibraryVersion();

}  // namespace seen
