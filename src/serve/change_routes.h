#pragma once
// Pages that change what is known of a user, or which group owns. Each writes a record and answers when the
// brokers have it.

#include <optional>
#include <string>

#include "flow/change_port.h"
#include "serve/http_message.h"

namespace seen {

/// What is wrong with the head of a change that must say it is JSON; nullopt: nothing, as yet.
std::optional<HttpResponse> RefuseUnlessJson(const HttpRequest& head);

// `changes` outlives the answer. Any thread.
HttpResponse EraseUser(ChangePort& changes, std::string user_id, const HttpRequest& request);
HttpResponse TakeItemsBack(ChangePort& changes, std::string user_id, const HttpRequest& request);
HttpResponse Promote(ChangePort& changes, const HttpRequest& request);

}  // namespace seen
