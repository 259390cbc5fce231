#include "owner/outputs_owner.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/log.h"
#include "base/text.h"

namespace seen {
namespace {
constexpr int kVersionOfPromotions = 1;

bool Contains(const std::vector<std::string>& groups, std::string_view group) {
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}
}  // namespace

std::string EncodePromotion(const Promotion& promotion) {
  const nlohmann::ordered_json json = {{"version", kVersionOfPromotions},
                                       {"group", promotion.group},
                                       {"owners", promotion.owners},
                                       {"instance", promotion.instance},
                                       {"at_ms", promotion.at.value}};
  return JsonText(json);
}

std::optional<Promotion> ParsePromotion(std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("version", nlohmann::json()) != kVersionOfPromotions)
    return std::nullopt;
  Promotion promotion;
  const auto group = json.find("group");
  const auto owners = json.find("owners");
  if (group == json.end() || !group->is_string() || owners == json.end() || !owners->is_array())
    return std::nullopt;
  promotion.group = group->get<std::string>();
  for (const auto& owner : *owners) {
    if (!owner.is_string()) return std::nullopt;
    promotion.owners.push_back(owner.get<std::string>());
  }
  if (promotion.owners.empty() || promotion.owners.back() != promotion.group) return std::nullopt;
  if (const auto by = json.find("instance"); by != json.end() && by->is_string())
    promotion.instance = by->get<std::string>();
  if (const auto at = json.find("at_ms"); at != json.end() && at->is_number_integer())
    promotion.at = {at->get<int64_t>()};
  return promotion;
}

Status Promotions::Obey(std::string_view text) {
  auto promotion = ParsePromotion(text);
  if (!promotion) {
    log::Error("a promotion can't be read: the previous owner stays the owner",
               {{"topic", topic_}, {"remedy", "upgrade this daemon"}});
    return {};
  }
  if (!replica_of_ && !Contains(promotion->owners, here_)) {
    return Fail(Code::kRefused, "kafka.group_id: \"" + here_ + "\", but group \"" + promotion->group +
                                    "\" owns the topics that this daemon would write, as topic \"" + topic_ +
                                    "\" says. Remedy: set role to \"replica\" and replica_of to \"" +
                                    promotion->group + "\", or give this group topics of its own");
  }
  const bool is_this_group = promotion->group == here_;
  {
    const MutexLock lock(mutex_);
    last_ = std::move(*promotion);
    if (is_this_group == is_this_group_.load()) return {};
    log::Warning(is_this_group ? "this group writes the outputs from here on: it was promoted"
                               : "this group is a replica from here on: another one was promoted",
                 {{"owner", last_->group}, {"by", last_->instance}});
  }
  is_this_group_.store(is_this_group, std::memory_order_release);
  return {};
}

std::string Promotions::Group() const {
  const MutexLock lock(mutex_);
  return last_ ? last_->group : ConfiguredOwner();
}

std::string Promotions::FirstGroup() const {
  const MutexLock lock(mutex_);
  return last_ ? last_->owners.front() : ConfiguredOwner();
}

std::optional<Promotion> Promotions::Last() const {
  const MutexLock lock(mutex_);
  return last_;
}

bool Promotions::IsPromoted() const {
  const MutexLock lock(mutex_);
  return last_ && last_->group == here_;
}

bool Promotions::HasOwned(std::string_view group) const {
  const MutexLock lock(mutex_);
  return group == here_ || group == replica_of_ || (last_ && Contains(last_->owners, group));
}

Promotion Promotions::Next(std::string instance, TimeMs now) const {
  const MutexLock lock(mutex_);
  Promotion next{here_, {}, std::move(instance), now};
  if (last_) {
    next.owners = last_->owners;
  } else if (replica_of_) {
    next.owners.push_back(*replica_of_);
  }
  // The first owner stays first: see FirstGroup.
  if (next.owners.size() > 1)
    next.owners.erase(std::remove(next.owners.begin() + 1, next.owners.end(), next.group), next.owners.end());
  if (next.owners.empty() || next.owners.back() != next.group) next.owners.push_back(next.group);
  return next;
}

}  // namespace seen
