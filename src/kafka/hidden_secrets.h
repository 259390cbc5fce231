#pragma once
// Keeps secrets of kafka.client out of what librdkafka says. Internal to this room.

#include <string>
#include <string_view>

namespace seen::kafka {

/// From now on WithoutSecrets hides it. Values of less than four bytes would hide common words: not taken.
/// Any thread.
void HideSecret(std::string_view value);

/// `text` with "(hidden)" in place of each secret, and of what librdkafka quotes of a token's settings. Any
/// thread.
std::string WithoutSecrets(std::string_view text);

}  // namespace seen::kafka
