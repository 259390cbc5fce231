#pragma once
// Whether brokers answer, and what a topic holds up to its present end.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kafka/client_settings.h"
#include "kafka/topic_reader.h"

namespace seen {

/// Call it first, so that nobody waits long to learn that no broker answers. `option` named the brokers.
/// kUnavailable, with the remedy: no broker answers within 2.5 s.
Status ReachBrokers(std::string_view option, const std::string& brokers, const ClientSettings& client);

/// All records, or the records from `from_offsets` (partition -> offset) on. Errors: as TopicReader::Open.
Result<std::unique_ptr<TopicReader>> OpenWholeTopic(const std::string& brokers, const ClientSettings& client,
                                                    const std::string& topic,
                                                    std::map<int32_t, int64_t> from_offsets = {});

/// Partition -> end offset (exclusive). Errors: as above.
Result<std::map<int32_t, int64_t>> EndsOf(const std::string& brokers, const ClientSettings& client,
                                          const std::string& topic);

}  // namespace seen
