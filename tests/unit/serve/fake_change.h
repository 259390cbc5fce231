#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flow/change_port.h"

namespace seen {

/// Remembers the request and answers at once.
class FakeChange : public ChangePort {
 public:
  Result<ChangePlace> place = ChangePlace{3, 41};
  std::string user_asked;
  std::optional<std::vector<std::string>> removed;  // nullopt: an erasure
  int asked = 0;

  void Erase(std::string_view user_id, Done done) override {
    ++asked;
    user_asked = user_id;
    removed.reset();
    done(place);
  }
  void Remove(std::string_view user_id, std::span<const std::string_view> items, Done done) override {
    ++asked;
    user_asked = user_id;
    removed.emplace(items.begin(), items.end());
    done(place);
  }
  void Promote(Done done) override {
    ++asked;
    done(place);
  }
};

}  // namespace seen
