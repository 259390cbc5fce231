#pragma once
// Writes the table of keys as a JSON schema and as Markdown.

#include <string>

namespace seen {

/// JSON Schema, draft 2020-12: schemas/config.schema.json. The schema accepts the same documents as
/// LoadConfig, with two exceptions. The schema doesn't check the rules between keys, and doesn't require
/// kafka.brokers: --set or --embedded-kafka may replace this key.
std::string ConfigSchema();

/// The tables of docs/CONFIGURATION.md in Markdown, one per section.
std::string ConfigKeyTables();

}  // namespace seen
