#pragma once
// A string given as {"env": "NAME"} or {"file": "PATH"}: its value stands outside the configuration.

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "config/config_text.h"

namespace seen {

/// Whether `value` means to be a reference: an object with "env" or "file" among its keys.
bool IsSecretReference(const ConfigJson& value);

/// What `reference` stands for; of a file, without one newline at its end, at most 64 KiB. The error
/// completes "PATH: " and never holds the value.
tl::expected<std::string, std::string> ReadSecret(const ConfigJson& reference);

/// Whether a librdkafka property of this name holds a secret: such a value is never shown, wherever it came
/// from.
bool IsSecretProperty(std::string_view property);

/// What --print-config shows in place of a secret that stands in the configuration itself: a reference to an
/// environment variable named after the property.
ConfigJson SecretPlaceholder(std::string_view property);

}  // namespace seen
