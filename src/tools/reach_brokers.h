#pragma once
// Whether there is a cluster to talk to: asked first, so that nobody waits to learn that there is none.

#include <string>
#include <string_view>

#include "base/result.h"
#include "kafka/client_settings.h"

namespace seen {

/// kUnavailable, with the remedy: none of them answers within 2.5 s. `option` is where they come from.
Status ReachBrokers(std::string_view option, const std::string& brokers, const ClientSettings& client);

}  // namespace seen
