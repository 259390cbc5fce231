#pragma once
// A string given as {"env": "NAME"} or {"file": "PATH"}: the value stands outside the configuration.

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "config/config_text.h"

namespace seen {

/// Whether `value` is meant as a reference: an object with a key "env" or "file".
bool IsSecretReference(const ConfigJson& value);

/// Reads the value of `reference`. A file may have at most 64 KiB, and loses one line end at its end. The
/// error completes "PATH: " and never contains the value.
tl::expected<std::string, std::string> ReadSecret(const ConfigJson& reference);

/// Whether a librdkafka property of this name holds a secret. The daemon never shows such a value, whatever
/// its source.
bool IsSecretProperty(std::string_view property);

/// --print-config shows this in place of a secret that stands in the configuration itself: a reference to an
/// environment variable named after the property.
ConfigJson SecretPlaceholder(std::string_view property);

}  // namespace seen
