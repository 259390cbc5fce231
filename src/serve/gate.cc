#include "serve/gate.h"

#include <fmt/format.h>

#include "base/log.h"
#include "base/log_budget.h"
#include "model/hashes.h"
#include "serve/http_message.h"
#include "serve/query_string.h"

namespace seen {
namespace {

// Bounds the log lines about mistakes and refusals, which cost a client nothing to repeat.
LogBudget& Refusals() {
  static LogBudget budget(20);
  return budget;
}

constexpr std::string_view kBearer = "Bearer ";
constexpr std::string_view kAnonymous = "anonymous";

/// The subject of a change. A user is given by hash unless the operator wants ids, anything else as it is.
std::string SubjectOf(const PageAccess& page, bool hash_users) {
  if (page.subject.empty()) return {};
  auto decoded = DecodePathSegment(page.subject);
  if (!decoded) return std::string(page.subject.substr(0, 128));
  if (!page.subject_is_user || !hash_users) return *decoded;
  std::string hex;
  for (const char byte : ToBytes(UserKeyOf(*decoded)))
    hex += fmt::format("{:02x}", static_cast<uint8_t>(byte));
  return hex;
}

void WriteAudit(std::string_view who, std::string_view from, const PageAccess& page, std::string_view method,
                std::string_view subject, unsigned status) {
  const bool is_done = status < 400;
  if (!is_done && !Refusals().Allow()) return;
  log::Audit(status == 401 || status == 403 ? "access refused" : "change asked for",
             {{"who", who},
              {"from", from},
              {"method", method},
              {"page", page.route},
              {page.subject_is_user ? "user" : "subject", subject},
              {"status", status},
              {"lines_held_back", is_done ? uint64_t{0} : Refusals().TakeHeldBack()}});
}

}  // namespace

TokenTable::Holder Gate::HolderOf(const HttpRequest& request) const {
  // Daemons recognise each other by the cluster's token. They ask on behalf of a client that they have let
  // in.
  if (!request.hop.empty() && !options_.cluster_token.empty() &&
      EqualSecrets(request.token, options_.cluster_token)) {
    return {Role::kRead, fmt::format("daemon:{}", request.hop)};
  }
  const auto tokens = options_.tokens ? options_.tokens() : nullptr;
  if (!tokens) return {Role::kAdmin, std::string(kAnonymous)};
  if (request.authorization.starts_with(kBearer)) {
    const auto* const found = tokens->Find(request.authorization.substr(kBearer.size()));
    if (found != nullptr) return *found;
  }
  return {Role::kNone, std::string(kAnonymous)};
}

std::optional<HttpResponse> Gate::Refuse(const PageAccess& page, const HttpRequest& request) const {
  if (options_.queries_only && !page.is_query) {
    return Problem(404,
                   fmt::format("{} isn't on this port; use the port of {}", page.route, options_.elsewhere),
                   request.target);
  }
  if (page.role == Role::kNone) return std::nullopt;
  const TokenTable::Holder holder = HolderOf(request);
  if (holder.role >= page.role) return std::nullopt;
  const bool is_known = holder.role != Role::kNone;
  HttpResponse response =
      is_known ? Problem(403,
                         fmt::format("the token of {} has the role {}; this page needs {}", holder.name,
                                     RoleName(holder.role), RoleName(page.role)),
                         request.target)
               : Problem(401, "send a token of access.tokens: Authorization: Bearer TOKEN", request.target);
  if (!is_known) response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"seend\"");
  WriteAudit(holder.name, request.remote, page, request.method, SubjectOf(page, options_.audit_hashes_users),
             response.status);
  return response;
}

void Gate::Audit(const PageAccess& page, const HttpRequest& request, HttpResponse& response) const {
  if (!page.is_change) return;
  const std::string who = HolderOf(request).name;
  const std::string subject = SubjectOf(page, options_.audit_hashes_users);
  if (!response.later) return WriteAudit(who, request.remote, page, request.method, subject, response.status);
  // The request's views are invalid by the time that the answer comes.
  PageAccess kept = page;
  kept.subject = {};
  response.later = [later = std::move(response.later), who, subject, kept, from = std::string(request.remote),
                    method = std::string(request.method)](std::function<void(HttpResponse)> give) {
    later([=, give = std::move(give)](HttpResponse answer) {
      WriteAudit(who, from, kept, method, subject, answer.status);
      give(std::move(answer));
    });
  };
}

}  // namespace seen
