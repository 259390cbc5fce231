#pragma once
// Checks first whether a broker answers, so that nobody waits long to learn that none does.

#include <string>
#include <string_view>

#include "base/result.h"
#include "kafka/client_settings.h"

namespace seen {

/// `option` named the brokers. kUnavailable, with the remedy: no broker answers within 2.5 s.
Status ReachBrokers(std::string_view option, const std::string& brokers, const ClientSettings& client);

}  // namespace seen
