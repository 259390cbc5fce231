#include "filters/item_sets.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "common/arguments.h"

namespace seen::bench {

ItemSet::ItemSet(uint32_t set, size_t count) {
  constexpr int32_t kToday = 20'400;
  constexpr uint32_t kSecondsPerDay = 86'400;
  for (size_t i = 0; i < count; ++i) fingerprints_.push_back(FingerprintAt(set, static_cast<uint32_t>(i)));
  by_day_ = fingerprints_;
  for (size_t day = 0; day < kDays; ++day) {
    const size_t from = count * day / kDays, to = count * (day + 1) / kDays;
    if (from == to) continue;
    const std::span<Fingerprint> of_day = std::span(by_day_).subspan(from, to - from);
    std::sort(of_day.begin(), of_day.end());
    const auto date = kToday - static_cast<int32_t>(day);
    const uint32_t second = static_cast<uint32_t>(date) * kSecondsPerDay;
    days_.push_back({{date}, second, second + kSecondsPerDay - 1, of_day});
  }
}

Filter::Filter(const SnapshotShape& shape, std::string_view payload)
    : bytes_(static_cast<char*>(::operator new (payload.size(), std::align_val_t{kLineBytes}))),
      size_(payload.size()) {
  std::memcpy(bytes_.get(), payload.data(), size_);
  auto view = ParseView(shape.format, this->payload());
  if (!view) Die("a payload is refused: " + view.error().message);
  view_ = std::make_unique<AnyView>(std::move(*view));
}

void Filter::Ask(std::span<const Fingerprint> fingerprints, std::span<uint8_t> answers) const {
  std::visit([&](const auto& view) { view.MightContainEach(fingerprints, answers); }, *view_);
}

std::string Rendered(const SnapshotShape& shape, const ItemSet& set) {
  std::string payload;
  RenderPayload(shape, set.items(), payload);
  return payload;
}

}  // namespace seen::bench
