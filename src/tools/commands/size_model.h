#pragma once
// The processors, disk, network and Kafka that a platform needs. Pure. docs/SCALE.md has the formulas, says
// where each constant was measured, and compares the model with two runs that didn't calibrate it.

#include <cstdint>

namespace seen {

/// The bytes of one user, as the store and the publisher write them.
struct UserBytes {
  double state = 0;  // the row, with RocksDB's overhead
  double snapshot = 0;
};

/// What an operator knows about a platform.
struct Platform {
  double users = 0;  // with an item in the window
  double items_a_day = 0;
  int32_t partitions = 8;
  double peak = 3;              // events a second at the busiest hour, divided by the day's average
  double session_items = 20;    // in one visit
  double session_s = 300;       // duration of one visit
  double debounce_s = 1;        // snapshot.debounce_ms
  double refresh_s = 0;         // updates.refresh_s; 0: the filter has no updates
  double event_bytes = 140;     // a record with one item, as it goes over the network
  double queries_a_second = 0;  // over HTTP
  double memory_bytes = 0;      // store.memory_mib of all daemons together
};

/// Needs at the busiest hour, over all daemons.
struct Needs {
  double events_a_second = 0;
  double events_a_second_on_average = 0;
  double snapshots_a_second = 0;
  double users_in_session = 0;  // with updates: who changed within a round of the refresh
  double cold_share = 0;        // share of snapshots whose users are read from the disk

  double intake_cores = 0;
  double publish_cores = 0;
  double query_cores = 0;
  double cores() const { return intake_cores + publish_cores + query_cores; }

  double state_bytes = 0;
  double disk_bytes = 0;
  double disk_reads_a_second = 0;
  double disk_read_bytes_a_second = 0;
  double write_amplification = 0;
  double disk_write_bytes_a_second = 0;

  double input_bytes_a_second = 0;
  double snapshot_bytes_a_second = 0;
  double update_bytes_a_second = 0;
  double snapshot_topic_bytes = 0;  // after compaction
  double followed_bytes = 0;        // the least store.memory_mib, in bytes, for prompt leading edges
};

Needs NeedsOf(const Platform& platform, const UserBytes& user);

}  // namespace seen
