#pragma once
// Keeps secrets of kafka.client out of librdkafka's messages. Internal to this room.

#include <string>
#include <string_view>

namespace seen::kafka {

/// From now on WithoutSecrets hides `value`. Ignores values of less than four bytes: they would hide common
/// words. Any thread.
void HideSecret(std::string_view value);

/// `text` with "(hidden)" in place of each secret. If librdkafka quotes a token's settings, the rest of the
/// text is hidden, too. Any thread.
std::string WithoutSecrets(std::string_view text);

}  // namespace seen::kafka
