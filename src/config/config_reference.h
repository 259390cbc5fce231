#pragma once
// What the table of keys says, as a JSON schema and as pages for people.

#include <string>

namespace seen {

/// JSON Schema, draft 2020-12: schemas/config.schema.json. It takes what LoadConfig takes but for the rules
/// between keys; kafka.brokers isn't required in it, since --set or --embedded-kafka may stand in.
std::string ConfigSchema();

/// The tables of docs/CONFIGURATION.md in Markdown, a section each.
std::string ConfigKeyTables();

}  // namespace seen
