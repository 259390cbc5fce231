#pragma once
// Pages that change what is known of a user. Each writes an event and answers when the brokers have it.

#include <optional>
#include <string>

#include "flow/change_port.h"
#include "serve/http_message.h"

namespace seen {

/// What is wrong with the head of a POST .../removed; nullopt: nothing, as yet.
std::optional<HttpResponse> RefuseRemoval(const HttpRequest& head);

// `changes` outlives the answer. Any thread.
HttpResponse EraseUser(ChangePort& changes, std::string user_id, const HttpRequest& request);
HttpResponse TakeItemsBack(ChangePort& changes, std::string user_id, const HttpRequest& request);

}  // namespace seen
