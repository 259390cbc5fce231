#pragma once
// seend's life: lock, serve, find the brokers, consume, stop. Threads and their order are in daemon.cc's Run.

#include "config/config.h"

namespace seen {

struct DaemonOptions {
  Config config;
  bool embedded_kafka = false;
  bool rebuild = false;
  bool publish_incomplete = false;  // see flow/last_published.h
  bool share_topics = false;        // start although another group publishes into the same topics
};

/// What must not pass silently stopped it: an operator decides.
inline constexpr int kExitRefused = 3;
/// It could not start, e.g. the port is taken.
inline constexpr int kExitFailed = 1;

/// Runs until SIGTERM or SIGINT, or until it must refuse to go on; returns the exit status. Handles these
/// signals itself: call it on the main thread before any other thread is started.
int RunDaemon(const DaemonOptions& options);

}  // namespace seen
