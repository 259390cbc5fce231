#pragma once
// Pages that change what is known of a user, or which group owns. Each page writes a record and answers when
// the brokers have the record.

#include <optional>
#include <string>

#include "flow/change_port.h"
#include "serve/http_message.h"

namespace seen {

/// For a change whose head must say JSON: what is wrong with the head. nullopt: nothing so far.
std::optional<HttpResponse> RefuseUnlessJson(const HttpRequest& head);

// `changes` outlives the answer. Any thread.
HttpResponse EraseUser(ChangePort& changes, std::string user_id, const HttpRequest& request);
HttpResponse TakeItemsBack(ChangePort& changes, std::string user_id, const HttpRequest& request);
HttpResponse Promote(ChangePort& changes, const HttpRequest& request);

}  // namespace seen
