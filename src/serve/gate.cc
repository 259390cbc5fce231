#include "serve/gate.h"

#include <fmt/format.h>

#include "base/log.h"
#include "base/log_budget.h"
#include "model/hashes.h"
#include "serve/http_message.h"
#include "serve/request_input.h"

namespace seen {
namespace {

// Bounds the log lines about refusals and mistakes, which cost a client nothing to repeat. Neither takes
// lines of the other. A change is always written, also one without an answer of the brokers: it may have an
// effect.
LogBudget* BudgetOf(unsigned status) {
  static LogBudget refusals(20);
  static LogBudget mistakes(20);
  if (status < 400 || status >= 500) return nullptr;
  return status == 401 || status == 403 ? &refusals : &mistakes;
}

constexpr std::string_view kBearer = "Bearer ";
constexpr std::string_view kAnonymous = "anonymous";

/// What an audit line says besides the status.
struct Audited {
  std::string_view route;
  bool is_about_user;
  std::string who, from, method, subject;
};

/// A user is given by hash unless the operator wants ids, anything else as it is.
std::string SubjectOf(std::string_view segment, bool hash) {
  if (segment.empty()) return {};
  auto decoded = DecodePathSegment(segment);
  if (!decoded) return std::string(segment.substr(0, 128));
  if (!hash) return *decoded;
  std::string hex;
  for (const char byte : ToBytes(UserKeyOf(*decoded)))
    hex += fmt::format("{:02x}", static_cast<uint8_t>(byte));
  return hex;
}

Audited AuditedOf(const RoutedRequest& routed, bool hash_users) {
  const bool is_about_user = routed.route.starts_with("/v1/users/");
  return {routed.route,
          is_about_user,
          routed.asked_by,
          std::string(routed.request.remote),
          std::string(routed.request.method),
          SubjectOf(routed.parameters[0], is_about_user && hash_users)};
}

void WriteAudit(const Audited& of, unsigned status) {
  LogBudget* const budget = BudgetOf(status);
  if (budget != nullptr && !budget->Allow()) return;
  log::Audit(status == 401 || status == 403 ? "access refused" : "change asked for",
             {{"who", of.who},
              {"from", of.from},
              {"method", of.method},
              {"page", of.route},
              {of.is_about_user ? "user" : "subject", of.subject},
              {"status", status},
              {"lines_held_back", budget == nullptr ? uint64_t{0} : budget->TakeHeldBack()}});
}

}  // namespace

TokenTable::Holder Gate::HolderOf(const HttpRequest& request) const {
  // A daemon with the cluster's token (see Check) asks on behalf of a client that it has let in.
  if (!request.hop.empty() && !options_.cluster_token.empty()) {
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

bool Gate::IsPassedOn(const HttpRequest& head) const {
  return !head.hop.empty() && !options_.cluster_token.empty() &&
         EqualSecrets(head.token, options_.cluster_token);
}

void Gate::Check(const PageAccess& page, RoutedRequest& routed) const {
  const std::string_view target = routed.request.target;
  // A request that was passed on says so in Seen-Hop; otherwise it could go round. Only daemons may set it.
  if (!routed.request.hop.empty() && !options_.cluster_token.empty() &&
      !EqualSecrets(routed.request.token, options_.cluster_token)) {
    routed.refusal = Problem(
        403, "Seen-Token: not the cluster.token of this daemon. Give all daemons the same token", target);
    return;
  }
  if (options_.queries_only && !page.is_query) {
    routed.refusal = Problem(
        404, fmt::format("{} isn't on this port; use the port of {}", routed.route, options_.elsewhere),
        target);
    return;
  }
  if (page.role == Role::kNone) return;
  TokenTable::Holder holder = HolderOf(routed.request);
  routed.asked_by = std::move(holder.name);
  if (holder.role >= page.role) return;
  if (holder.role != Role::kNone) {
    routed.refusal = Problem(403,
                             fmt::format("the token of {} has the role {}; this page needs {}",
                                         routed.asked_by, RoleName(holder.role), RoleName(page.role)),
                             target);
  } else {
    routed.refusal = Problem(401, "send a token of access.tokens: Authorization: Bearer TOKEN", target);
    routed.refusal->headers.emplace_back("WWW-Authenticate", "Bearer realm=\"seend\"");
  }
  WriteAudit(AuditedOf(routed, options_.audit_hashes_users), routed.refusal->status);
}

void Gate::CheckChange(RoutedRequest& routed) const {
  if (const auto foreign = options_.hosts.WhyForeign(routed.request)) {
    routed.refusal = Problem(403, *foreign, routed.request.target);
  } else if (routed.request.method == "POST" || !routed.request.content_type.empty()) {
    routed.refusal = RefuseUnlessJson(routed.request);
  }
  if (routed.refusal) WriteAudit(AuditedOf(routed, options_.audit_hashes_users), routed.refusal->status);
}

void Gate::Audit(const RoutedRequest& request, HttpResponse& response) const {
  Audited audited = AuditedOf(request, options_.audit_hashes_users);
  if (!response.later) return WriteAudit(audited, response.status);
  response.later = [later = std::move(response.later),
                    audited = std::move(audited)](std::function<void(HttpResponse)> give) {
    later([audited, give = std::move(give)](HttpResponse answer) {
      WriteAudit(audited, answer.status);
      give(std::move(answer));
    });
  };
}

}  // namespace seen
