#pragma once
// Pages about items: GET /v1/groups/{item}.

#include <string>
#include <string_view>

#include "base/result.h"
#include "query/query_port.h"
#include "serve/http_message.h"
#include "similar/port/similar_port.h"

namespace seen {

/// `item`: the path's segment, percent-encoded.
HttpResponse AnswerGroup(const QueryPort& queries, std::string_view item, const HttpRequest& request);

/// The JSON of POST /v1/similar.
struct SimilarBody {
  std::string title, text, lang, item_id;
  size_t limit = 10;
};

/// {"title":"...","text":"...","lang":"en","item_id":"n1","limit":10}; title or text is needed, the rest may
/// be absent. kInvalidArgument names the JSON path of what is wrong: "$.limit: 0; ...". Unknown and repeated
/// keys are errors.
Result<SimilarBody> ParseSimilarBody(std::string_view body);

}  // namespace seen
