#pragma once
// Asks a schema registry. Source: Confluent Schema Registry, "API reference", which Karapace, Apicurio and
// Redpanda have as well.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "binary/schema_book.h"
#include "http_client/http_client.h"

namespace seen {

struct RegistryOptions {
  std::string url;
  std::string user, password;
  std::string ca_file, certificate_file, key_file;
  std::chrono::seconds unknown_after{60};
};

/// A schema as a registry has it.
struct RegisteredSchema {
  std::string type;  // "AVRO", "PROTOBUF", "JSON"
  std::string text;
  struct Reference {
    std::string name;  // as the schema names it
    std::string text;
  };
  std::vector<Reference> references;  // direct or not; those that others need come first
};

/// One thread, except for Stop.
class SchemaRegistry {
 public:
  static constexpr size_t kReferencesMax = 200;
  explicit SchemaRegistry(const RegistryOptions& options);
  tl::expected<RegisteredSchema, SchemaProblem> Ask(uint32_t id);
  /// Ends a question under way within about a second, and all later ones at once: kAway. Any thread.
  void Stop() { connection_.Stop(); }

 private:
  struct Found;
  tl::expected<Found, SchemaProblem> Get(const std::string& target);
  std::optional<SchemaProblem> AddReferences(const Found& found, RegisteredSchema& schema, size_t depth);

  std::string url_;
  std::chrono::steady_clock::time_point until_;  // for a schema and its references together
  HttpClient connection_;
};

}  // namespace seen
