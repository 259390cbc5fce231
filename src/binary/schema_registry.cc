#include "binary/schema_registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace seen {
namespace {
using Json = nlohmann::json;
using Kind = SchemaProblem::Kind;

constexpr size_t kDepthMax = 16;  // of references
constexpr std::chrono::milliseconds kTimeout{5'000};
constexpr size_t kAnswerBytesMax = size_t{8} << 20;

tl::unexpected<SchemaProblem> Problem(Kind kind, std::string message) {
  return tl::unexpected(SchemaProblem{kind, std::move(message)});
}

HttpClient::Options ConnectionOf(const RegistryOptions& options) {
  HttpClient::Options connection;
  connection.address = options.url;
  connection.ca = options.ca_file;
  connection.certificate = options.certificate_file;
  connection.key = options.key_file;
  connection.user = options.user;
  connection.password = options.password;
  connection.user_agent = "seend";
  connection.timeout = kTimeout;
  connection.body_bytes_max = kAnswerBytesMax;
  return connection;
}

std::string TextOf(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// Not only a wrong path: 40401 is an unknown subject, 40402 a version, 40403 a schema.
bool IsNotFound(const Json& body) {
  const auto code = body.is_object() ? body.find("error_code") : body.end();
  return body.is_object() && code != body.end() && code->is_number_integer() && *code >= 40401 &&
         *code <= 40403;
}

std::string RemedyFor(unsigned status) {
  if (status == 401 || status == 403)
    return "; check input.schema_registry.user and password, and that this user may read all subjects";
  if (status == 404) return "; is this the address of a schema registry (input.schema_registry.url)?";
  return "";
}

}  // namespace

struct SchemaRegistry::Found {
  std::string type, text;
  Json references;
};

SchemaRegistry::SchemaRegistry(const RegistryOptions& options)
    : url_(options.url), connection_(ConnectionOf(options)) {}

tl::expected<SchemaRegistry::Found, SchemaProblem> SchemaRegistry::Get(const std::string& target) {
  if (std::chrono::steady_clock::now() > until_)
    return Problem(Kind::kAway, fmt::format("{}{}: slow: a schema and those it refers to took over {} s",
                                            url_, target, kTimeout.count() / 1000));
  auto reply = connection_.Ask("GET", target);
  if (!reply) return Problem(Kind::kAway, reply.error().message);
  const Json body = Json::parse(reply->body, nullptr, false);
  if (reply->status == 404 && IsNotFound(body))
    return Problem(Kind::kUnknown, fmt::format("{}{}: {}", url_, target, TextOf(body, "message")));
  if (reply->status != 200) {
    const std::string said = body.is_object() ? TextOf(body, "message") : std::string();
    return Problem(Kind::kAway, fmt::format("{}{}: status {}{}{}{}", url_, target, reply->status,
                                            said.empty() ? "" : ": ", said, RemedyFor(reply->status)));
  }
  Found found;
  if (body.is_object()) {
    found.text = TextOf(body, "schema");
    found.type = TextOf(body, "schemaType");
    if (body.contains("references")) found.references = body["references"];
  }
  if (found.text.empty())
    return Problem(Kind::kAway,
                   fmt::format("{}{}: the answer has no schema; is this the address of a schema registry "
                               "(input.schema_registry.url)?",
                               url_, target));
  if (found.type.empty()) found.type = "AVRO";
  return found;
}

std::optional<SchemaProblem> SchemaRegistry::AddReferences(const Found& found, RegisteredSchema& schema,
                                                           size_t depth) {
  if (!found.references.is_array()) return std::nullopt;
  for (const Json& reference : found.references) {
    if (!reference.is_object() || !reference.contains("version") || !reference["version"].is_number_integer())
      return SchemaProblem{Kind::kUnusable, "a reference of the schema has no version"};
    const std::string name = TextOf(reference, "name");
    const auto known = std::find_if(schema.references.begin(), schema.references.end(),
                                    [&](const auto& one) { return one.name == name; });
    if (known != schema.references.end()) continue;
    if (depth == kDepthMax || schema.references.size() == kReferencesMax) {
      return SchemaProblem{
          Kind::kUnusable,
          fmt::format("the schema refers to more than {} others, or {} deep", kReferencesMax, kDepthMax)};
    }
    auto referred =
        Get(fmt::format("/subjects/{}/versions/{}?deleted=true", PercentEncode(TextOf(reference, "subject")),
                        reference["version"].get<int64_t>()));
    if (!referred) return std::move(referred.error());
    if (auto problem = AddReferences(*referred, schema, depth + 1)) return problem;
    schema.references.push_back({name, std::move(referred->text)});
  }
  return std::nullopt;
}

tl::expected<RegisteredSchema, SchemaProblem> SchemaRegistry::Ask(uint32_t id) {
  until_ = std::chrono::steady_clock::now() + kTimeout;
  auto found = Get(fmt::format("/schemas/ids/{}", id));
  if (!found) return tl::unexpected(std::move(found.error()));
  RegisteredSchema schema{found->type, found->text, {}};
  if (auto problem = AddReferences(*found, schema, 0)) return tl::unexpected(std::move(*problem));
  return schema;
}

}  // namespace seen
