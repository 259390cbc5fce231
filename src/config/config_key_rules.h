#pragma once
// Rules for texts, for keys that stand in several files.

#include "config/config_keys.h"

namespace seen {

inline constexpr TextRule kTopicName = {
    "a topic name Kafka allows: 1 to 249 characters of a-z, A-Z, 0-9, '.', '_' and '-', not '.' or '..'",
    "(?!\\.{1,2}$)[a-zA-Z0-9._-]{1,249}", 249};
inline constexpr TextRule kPath = {"a path of 1 to 1024 bytes", "[^\\u0000]+", 1024};

}  // namespace seen
