#pragma once
// The JSON of .../exposures and .../why: docs/HTTP.md.

#include <string>
#include <string_view>

#include "query/query_port.h"

namespace seen {

std::string WriteExposures(const ExposuresAnswer& answer);
std::string WriteWhy(std::string_view item, const WhyAnswer& answer);

}  // namespace seen
