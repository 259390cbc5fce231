#include "flow/partitioner_guess.h"

#include <fmt/format.h>

#include <vector>

namespace seen {
namespace {

constexpr std::array<std::string_view, kPartitioners.size()> kUsers = {
    "Java clients", "librdkafka: Python, kcat", "Sarama and kafka-go"};

// Almost all: the daemon's own events among the records follow the configured partitioner.
bool IsNearlyAll(uint64_t count, uint64_t of) { return count * 20 >= of * 19; }

std::string NameOf(Partitioner partitioner) {
  return fmt::format("{} ({})", PartitionerName(partitioner), kUsers[static_cast<size_t>(partitioner)]);
}

std::string Joined(const std::vector<Partitioner>& partitioners) {
  std::string text;
  for (size_t i = 0; i < partitioners.size(); ++i) {
    const bool is_last = i + 1 == partitioners.size();
    text += fmt::format("{}{}", i == 0 ? "" : is_last ? " and " : ", ", NameOf(partitioners[i]));
  }
  return text;
}

}  // namespace

void PartitionerFits::Add(std::string_view user_id, std::string_view key, int32_t partition,
                          int32_t partitions, Partitioner configured) {
  const bool is_misrouted = PartitionOf(configured, user_id, partitions) != partition;
  ++records;
  keyed_by_user += key == user_id ? 1u : 0u;
  misrouted += is_misrouted ? 1u : 0u;
  for (const Partitioner partitioner : kPartitioners) {
    if (PartitionOf(partitioner, user_id, partitions) != partition) continue;
    ++fits[static_cast<size_t>(partitioner)];
    fits_misrouted[static_cast<size_t>(partitioner)] += is_misrouted ? 1u : 0u;
  }
}

PartitionerFits& PartitionerFits::operator+=(const PartitionerFits& other) {
  records += other.records;
  keyed_by_user += other.keyed_by_user;
  misrouted += other.misrouted;
  for (size_t i = 0; i < fits.size(); ++i) {
    fits[i] += other.fits[i];
    fits_misrouted[i] += other.fits_misrouted[i];
  }
  return *this;
}

std::string GuessPartitioner(const PartitionerFits& fits, Partitioner configured) {
  const std::string looked_at =
      fmt::format("{} record{} looked at", fits.records, fits.records == 1 ? "" : "s");
  std::vector<Partitioner> of_all, of_misrouted;
  for (const Partitioner partitioner : kPartitioners) {
    const auto i = static_cast<size_t>(partitioner);
    if (partitioner == configured || fits.misrouted == 0) continue;
    if (IsNearlyAll(fits.fits[i], fits.records)) of_all.push_back(partitioner);
    if (IsNearlyAll(fits.fits_misrouted[i], fits.misrouted)) of_misrouted.push_back(partitioner);
  }
  if (of_all.size() == 1) {
    return fmt::format("{} fits the {}: set input.partitioner to \"{}\"", NameOf(of_all.front()), looked_at,
                       PartitionerName(of_all.front()));
  }
  if (of_all.size() > 1) {
    return fmt::format("{} fit the {}: set input.partitioner to the one that the producer uses",
                       Joined(of_all), looked_at);
  }
  if (fits.keyed_by_user * 2 < fits.records) {
    return fmt::format(
        "the key of {} of {} isn't the user's id: key the events by user id, or set input.keyed_by_user to "
        "false",
        fits.records - fits.keyed_by_user, looked_at);
  }
  if (!of_misrouted.empty()) {
    return fmt::format(
        "some producers use {}, and some {}: have all producers use one partitioner, or set "
        "input.keyed_by_user to false",
        NameOf(configured), Joined(of_misrouted));
  }
  return fmt::format(
      "none of {} fits the {}: producers choose partitions in another way, or the topic got more partitions. "
      "Set input.keyed_by_user to false",
      Joined({kPartitioners.begin(), kPartitioners.end()}), looked_at);
}

}  // namespace seen
