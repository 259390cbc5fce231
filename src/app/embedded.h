#pragma once

#include <memory>

#include "config/config.h"
#include "kafka/embedded_broker.h"

namespace seen {

/// Starts a broker in this process, with the topics that the daemon uses there, and makes `config` use it.
Result<std::unique_ptr<EmbeddedBroker>> StartEmbeddedKafka(Config& config);

}  // namespace seen
