#pragma once
// Pages about fills: docs/HTTP.md, "Fills".

#include <string_view>

#include "query/fill_port.h"
#include "serve/http_message.h"

namespace seen {

// `fills`: nullptr while no partition is open yet. Any thread.
HttpResponse StartFill(FillPort* fills, std::string_view filter, const HttpRequest& request);
HttpResponse StopFill(FillPort* fills, std::string_view filter, const HttpRequest& request);
HttpResponse AnswerFills(const FillPort* fills, const HttpRequest& request);

}  // namespace seen
