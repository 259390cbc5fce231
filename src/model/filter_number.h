#pragma once
// The two numbers of a filter. Neither converts to the other.

#include <compare>
#include <cstddef>
#include <cstdint>

namespace seen {

/// A filter's number in the keys of the state. Stable for the life of a store; store/descriptor.h assigns it.
class FilterId {
 public:
  constexpr FilterId() = default;
  explicit constexpr FilterId(size_t number) : number_(static_cast<uint16_t>(number)) {}
  consteval FilterId(int number) : number_(static_cast<uint16_t>(number)) {}  // implicit, for literals only
  constexpr uint16_t number() const { return number_; }
  constexpr auto operator<=>(const FilterId&) const = default;

 private:
  uint16_t number_ = 0;
};

/// A filter's place in the configuration: the index into everything held per filter. Sinks and metrics name
/// the filter by it.
class FilterIndex {
 public:
  constexpr FilterIndex() = default;
  explicit constexpr FilterIndex(size_t place) : place_(static_cast<uint16_t>(place)) {}
  consteval FilterIndex(int place) : place_(static_cast<uint16_t>(place)) {}
  constexpr operator size_t() const { return place_; }  // also to compare

 private:
  uint16_t place_ = 0;
};

}  // namespace seen
