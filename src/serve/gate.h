#pragma once
// A listener's gate: which pages the listener has, who may ask for them, and the audit log of changes.

#include <functional>
#include <memory>
#include <string>

#include "serve/http_message.h"
#include "serve/known_hosts.h"
#include "serve/tokens.h"

namespace seen {

/// What a page requires of a client.
struct PageAccess {
  Role role = Role::kRead;
  bool is_query = false;  // http.listen serves it even if the other pages have a listener of their own
};

/// Any thread.
class Gate {
 public:
  struct Options {
    bool queries_only = false;
    std::function<std::shared_ptr<const TokenTable>()> tokens = {};  // empty, or nullptr: no token is needed
    std::string cluster_token =
        {};                      // of daemons that pass requests on; empty: they need a token, as clients do
    std::string elsewhere = {};  // with queries_only: the key of the listener that has the other pages
    bool audit_hashes_users = true;
    KnownHosts hosts = {};
  };
  Gate() = default;
  explicit Gate(Options options) : options_(std::move(options)) {}

  /// Sets `request.asked_by`, and `request.refusal` if the client may not ask for the page: 404 (not on this
  /// listener), 401 or 403. Writes an audit line about a client whose token doesn't suffice.
  void Check(const PageAccess& page, RoutedRequest& request) const;
  /// Sets `request.refusal` if a web page elsewhere may have sent the change: 403, or 415 if the request
  /// isn't said to be JSON, for which a browser asks first. Nothing here ever agrees to that.
  void CheckChange(RoutedRequest& request) const;
  /// Whether a daemon with the cluster's token passes the request on.
  bool IsPassedOn(const HttpRequest& head) const;
  /// Writes an audit line once the answer to a change is known: at once, or when `response.later` gives it.
  void Audit(const RoutedRequest& request, HttpResponse& response) const;

 private:
  TokenTable::Holder HolderOf(const HttpRequest& request) const;
  Options options_;
};

}  // namespace seen
