#pragma once
// One answer of GET /v1/routes: which daemons answer for a user.

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "seen/partitioner.h"

namespace seen::client::examples {

/// Whom to ask.
struct Daemon {
  std::string address;   // http://HOST:PORT
  std::string instance;  // who must answer there; empty: anybody may
};

/// Immutable once it is made.
class Routes {
 public:
  Routes() = default;  // of nobody
  /// nullopt: `answer` is none, or of a later version.
  static std::optional<Routes> Parse(std::string_view answer) {
    try {
      const auto json = nlohmann::json::parse(answer);
      Routes routes;
      auto listed = json.at("routes");
      if (listed.empty()) return routes;
      const auto partitioner = PartitionerOf(json.at("partitioner").get<std::string>());
      routes.partitions_ = json.at("partitions");
      if (!partitioner || routes.partitions_ < 1) return std::nullopt;
      routes.partitioner_ = *partitioner;
      // An owner goes before the replicas. A route without a role is an owner's.
      std::stable_partition(listed.begin(), listed.end(),
                            [](const auto& route) { return route.value("role", "owner") == "owner"; });
      for (const auto& route : listed) routes.Add(route);
      return routes;
    } catch (const nlohmann::json::exception&) {
      return std::nullopt;
    }
  }

  /// The daemons that answer for the user, the owner first. Empty: no daemon is known to.
  std::vector<Daemon> Of(std::string_view user) const {
    if (by_partition_.empty()) return {};
    const auto found = by_partition_.find(PartitionOf(partitioner_, user, partitions_));
    return found == by_partition_.end() ? std::vector<Daemon>() : found->second;
  }

  /// Of all daemons that are known, each once.
  const std::vector<std::string>& addresses() const { return addresses_; }

 private:
  void Add(const nlohmann::json& route) {
    if (route.at("address").is_null()) return;
    Daemon daemon{"http://" + route.at("address").get<std::string>(), route.at("instance")};
    if (std::find(addresses_.begin(), addresses_.end(), daemon.address) == addresses_.end()) {
      addresses_.push_back(daemon.address);
    }
    if (route.at("state") == "ready") by_partition_[route.at("partition")].push_back(std::move(daemon));
  }

  Partitioner partitioner_ = Partitioner::kMurmur2;
  std::int32_t partitions_ = 0;
  std::map<std::int32_t, std::vector<Daemon>> by_partition_;  // those that answer
  std::vector<std::string> addresses_;
};

}  // namespace seen::client::examples
