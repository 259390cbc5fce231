#pragma once
// Errors as RFC 9457 problem documents.

#include <string_view>

#include "base/result.h"
#include "serve/http_message.h"

namespace seen {

inline constexpr std::string_view kProblemJson = "application/problem+json";

/// `target`: the request's target, for `instance`; empty if it isn't known. 503 gets `Retry-After: 1`.
HttpResponse Problem(unsigned status, std::string_view detail, std::string_view target);

/// The same for an error of the QueryPort: 404, 400, 503 or 500 by its code.
HttpResponse Problem(const Error& error, std::string_view target);

}  // namespace seen
