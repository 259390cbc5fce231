#pragma once
// What librdkafka logs: lines without secrets, without repetition, and why brokers refuse connections of this
// process. Internal to this room.

#include <librdkafka/rdkafka.h>

#include <string>
#include <string_view>

namespace seen::kafka {

/// librdkafka's log callback: lines go to base/log.h. Any thread.
void LogClientLine(const rd_kafka_t* client, int level, const char* facility, const char* text);

/// Holds back repetitions. Allows each `key` at once, then after waits of 1 s, doubling to 5 min.
/// Thread-safe.
bool MayLog(std::string_view key);

/// What to check, judged by librdkafka's words: ". Remedy: check …"; empty: the words aren't about security.
/// Pure.
std::string_view SecurityRemedy(std::string_view text);

/// Remembers a line of librdkafka's log if it is about security. Any thread.
void NoteConnectionLine(std::string_view text);

/// ": <the last line about security>. Remedy: check …" if there was one within 45 s; empty: there was none.
/// librdkafka suppresses repetitions of a line for 30 s. Any thread.
std::string LastSecurityTrouble();

/// From now on WithoutSecrets hides `value`. Ignores values of less than four bytes: they would hide common
/// words. Any thread.
void HideSecret(std::string_view value);

/// `text` with "(hidden)" in place of each secret. If librdkafka quotes a token's settings, the rest of the
/// text is hidden, too. Any thread.
std::string WithoutSecrets(std::string_view text);

}  // namespace seen::kafka
