#include "tools/reach_brokers.h"

#include <fmt/format.h>

#include <chrono>

#include "kafka/admin.h"

namespace seen {

Status ReachBrokers(std::string_view option, const std::string& brokers, const ClientSettings& client) {
  constexpr std::chrono::milliseconds kTimeout(2'500);
  const auto admin = Admin::Open(brokers, client);
  if (!admin) return Fail(admin.error());
  Status answered = (*admin)->Ping(kTimeout);
  if (answered || answered.error().code != Code::kUnavailable) return answered;
  return Fail(
      Code::kUnavailable,
      fmt::format("{}: {}: no broker answers within {:.1f} s: {}. Remedy: start the brokers, name other "
                  "brokers, or give the settings that they need, such as security.protocol, by --client",
                  option, brokers, std::chrono::duration<double>(kTimeout).count(),
                  answered.error().message));
}

}  // namespace seen
