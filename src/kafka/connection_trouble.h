#pragma once
// Why brokers refuse connections of this process: passwords, tokens, certificates, protocols. Internal to
// this room.

#include <string>
#include <string_view>

namespace seen::kafka {

/// What to check, judged by librdkafka's words: " Remedy: check …"; empty: they aren't of security. Pure.
std::string_view SecurityRemedy(std::string_view text);

/// Takes a line of librdkafka's log. Any thread.
void NoteConnectionLine(std::string_view text);

/// ": <the last line of security> Remedy: check …" if there was one within 45 s; empty: none. librdkafka
/// holds the same line back for 30 s. Any thread.
std::string LastSecurityTrouble();

}  // namespace seen::kafka
