#pragma once
// Pages about items: GET /v1/groups/{item}.

#include <string_view>

#include "serve/http_message.h"
#include "serve/query_port.h"

namespace seen {

/// `item`: the path's segment, percent-encoded.
HttpResponse AnswerGroup(const QueryPort& queries, std::string_view item, const HttpRequest& request);

}  // namespace seen
