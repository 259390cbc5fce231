#pragma once
// librdkafka properties from the configuration's `kafka.client`, checked before anything is connected.

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
  std::string message;  // "kafka.client.linger.ms: "x" ... (what librdkafka says, or why it is ours to set)
};

/// Everything wrong with the settings of `kafka.client`: unknown properties, bad values, and properties that
/// would break what the daemon guarantees (e.g. enable.auto.commit). Empty: all is well. Values of secrets
/// aren't shown.
std::vector<ClientSettingError> ClientSettingErrors(const ClientSettings& settings);

/// The same as one kInvalidArgument with all messages, a line each.
Status CheckClientSettings(const ClientSettings& settings);

/// Whether a librdkafka property of this name holds a secret. Pure.
bool IsSecretSetting(std::string_view property);

/// session.timeout.ms as `settings` has it, or librdkafka's default.
std::chrono::milliseconds SessionTimeout(const ClientSettings& settings);

/// librdkafka's version as linked at run time, e.g. "2.0.2".
std::string ClientLibraryVersion();

}  // namespace seen
