#pragma once
// Pages that change what is known of a user, or which group owns. Each page writes a record and answers when
// the brokers have the record.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "flow/change_port.h"
#include "serve/http_message.h"

namespace seen {

/// For a change whose head must say JSON: what is wrong with the head. nullopt: nothing so far.
std::optional<HttpResponse> RefuseUnlessJson(const HttpRequest& head);

// `changes` outlives the answer. Any thread.
HttpResponse EraseUser(ChangePort& changes, std::string user_id, const HttpRequest& request);
HttpResponse TakeItemsBack(ChangePort& changes, std::string user_id, const HttpRequest& request);
HttpResponse Promote(ChangePort& changes, const HttpRequest& request);

// The JSON of POST .../removed.

/// `{"items":["a",7]}`: ids as strings, an integer as its decimal string; at least one and at most
/// kRemovedItemsMax. kInvalidArgument names the JSON path of what is wrong: "$.items[3]: empty". Unknown and
/// repeated keys are errors.
Result<std::vector<std::string>> ParseRemovedItems(std::string_view body);

/// True for a Content-Type header that says JSON, with or without parameters.
bool IsJson(std::string_view content_type);

}  // namespace seen
