#pragma once
// /v1/status and .../segments as JSON. Times in ms since the epoch, units in the names.

#include <string>

#include "query/query_port.h"

namespace seen {

std::string WriteStatus(const DaemonStatus& status);
std::string WriteUser(std::string_view filter, std::string_view user_id, const UserAnswer& answer);

}  // namespace seen
