#pragma once
// Why brokers refuse connections of this process: passwords, tokens, certificates, protocols. Internal to
// this room.

#include <string>
#include <string_view>

namespace seen::kafka {

/// What to check, judged by librdkafka's words: ". Remedy: check …"; empty: the words aren't about security.
/// Pure.
std::string_view SecurityRemedy(std::string_view text);

/// Remembers a line of librdkafka's log if it is about security. Any thread.
void NoteConnectionLine(std::string_view text);

/// ": <the last line about security>. Remedy: check …" if there was one within 45 s; empty: there was none.
/// librdkafka suppresses repetitions of a line for 30 s. Any thread.
std::string LastSecurityTrouble();

}  // namespace seen::kafka
