#include "binary/binary_format.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>

#include "base/result.h"
#include "binary/avro_reader.h"
#include "binary/protobuf_reader.h"
#include "binary/schema_book.h"
#include "decode/event_format.h"

namespace seen {
namespace {

/// The field that the key of a configuration maps; empty: it maps none.
std::string_view FieldOfPath(std::string_view path) {
  for (size_t i = 0; i < kFields; ++i) {
    const std::string_view name = FieldName(static_cast<Field>(i));
    if (path == "input.fields." + std::string(name)) return name;
  }
  return {};
}

Rejection RejectionOf(const FormatError& error) {
  const std::string_view field = FieldOfPath(error.path);
  return {field.empty() ? RejectReason::kUnknownSchema : RejectReason::kWrongType, field,
          error.path.empty() ? error.message : error.path + ": " + error.message};
}

/// Readers that are made when the first record needs them. Most records need the same one as the last.
template <typename Key>
class MadeReaders {
 public:
  /// nullptr: it isn't made yet.
  BinaryReader* Find(const Key& key) {
    if (last_ != nullptr && key == last_key_) return last_;
    const auto found = readers_.find(key);
    if (found == readers_.end()) return nullptr;
    last_key_ = key;
    last_ = found->second.get();
    return last_;
  }
  void Add(const Key& key, std::unique_ptr<BinaryReader> reader) { readers_[key] = std::move(reader); }
  size_t size() const { return readers_.size(); }
  /// Of the reader that was found last.
  const FormatError* Missing() const { return last_ != nullptr ? last_->Missing() : nullptr; }

 private:
  std::map<Key, std::unique_ptr<BinaryReader>> readers_;
  Key last_key_{};
  BinaryReader* last_ = nullptr;
};

/// Events of a schema of Avro, read as the schema in input.schema_file wants them, if there is one.
class AvroWriter final : public WriterSchema {
 public:
  AvroWriter(std::shared_ptr<const AvroSchema> writer, std::shared_ptr<const AvroSchema> reader)
      : writer_(std::move(writer)), reader_(std::move(reader)) {}

  tl::expected<std::unique_ptr<BinaryReader>, FormatError> NewReader(
      std::shared_ptr<const EventPlan> plan) const override {
    auto reader = AvroReader::Make(writer_, reader_, plan);
    if (reader) return std::unique_ptr<BinaryReader>(std::move(*reader));
    FormatError& error = reader.error();
    if (error.path == "reader_schema") error.path = "input.schema_file";
    if (error.path == "schema") error.path.clear();
    return tl::unexpected(std::move(error));
  }

 private:
  std::shared_ptr<const AvroSchema> writer_, reader_;
};

/// Events of a message of Protobuf.
class ProtobufWriter final : public WriterSchema {
 public:
  explicit ProtobufWriter(std::shared_ptr<const ProtobufSchema> schema) : schema_(std::move(schema)) {}

  tl::expected<std::unique_ptr<BinaryReader>, FormatError> NewReader(
      std::shared_ptr<const EventPlan> plan) const override {
    auto reader = ProtobufReader::Make(schema_, std::move(plan));
    if (reader) return std::unique_ptr<BinaryReader>(std::move(*reader));
    return tl::unexpected(std::move(reader.error()));
  }

 private:
  std::shared_ptr<const ProtobufSchema> schema_;
};

/// Behind the id of a registry's schema stands which of its messages the record is.
class ProtobufMessages final : public WriterSchema {
 public:
  explicit ProtobufMessages(std::shared_ptr<const ProtobufSchema> first) : first_(std::move(first)) {}

  tl::expected<std::unique_ptr<BinaryReader>, FormatError> NewReader(
      std::shared_ptr<const EventPlan> plan) const override {
    return std::make_unique<Reader>(first_, std::move(plan));
  }

 private:
  class Reader final : public BinaryReader {
   public:
    Reader(std::shared_ptr<const ProtobufSchema> first, std::shared_ptr<const EventPlan> plan)
        : first_(std::move(first)), plan_(std::move(plan)) {}

    bool Read(std::string_view payload, EventBuffers& buffers, Event& event) override {
      if (!TakeMessageIndexes(payload, indexes_)) return false;
      BinaryReader* const reader = readers_.Find(indexes_);
      return reader != nullptr && reader->Read(payload, buffers, event);
    }

    tl::expected<void, Rejection> AppendJson(std::string_view payload, std::string& json) override {
      if (!TakeMessageIndexes(payload, indexes_)) {
        return tl::unexpected(
            Rejection{RejectReason::kNotDecodable,
                      {},
                      "the message indexes behind the schema's id are cut off or too many"});
      }
      if (const auto known = refused_.find(indexes_); known != refused_.end())
        return tl::unexpected<Rejection>(known->second);
      BinaryReader* reader = readers_.Find(indexes_);
      if (reader == nullptr) {
        if (auto made = Make(); !made) return tl::unexpected(std::move(made.error()));
        reader = readers_.Find(indexes_);
      }
      return reader->AppendJson(payload, json);
    }
    const FormatError* Missing() const override { return readers_.Missing(); }

   private:
    static constexpr size_t kMessagesMax = 100;

    tl::expected<void, Rejection> Make() {
      const auto message = first_->MessageAt(indexes_);
      if (!message) return tl::unexpected(Rejection{RejectReason::kNotDecodable, {}, message.error()});
      if (readers_.size() + refused_.size() == kMessagesMax) {
        return tl::unexpected(
            Rejection{RejectReason::kUnknownSchema,
                      {},
                      fmt::format("the topic has more than {} messages of one schema", kMessagesMax)});
      }
      auto reader = ProtobufReader::Make(*message, plan_);
      if (!reader) return tl::unexpected<Rejection>(refused_[indexes_] = RejectionOf(reader.error()));
      readers_.Add(indexes_, std::move(*reader));
      return {};
    }

    const std::shared_ptr<const ProtobufSchema> first_;
    const std::shared_ptr<const EventPlan> plan_;
    MadeReaders<std::vector<int32_t>> readers_;
    std::map<std::vector<int32_t>, Rejection> refused_;  // messages that the fields don't fit
    std::vector<int32_t> indexes_;
  };

  std::shared_ptr<const ProtobufSchema> first_;
};

/// Each record is an event of one schema.
class FileFormat final : public BinaryFormat {
 public:
  explicit FileFormat(WriterSchemaPointer schema) : schema_(std::move(schema)) {}

  std::unique_ptr<BinaryReader> NewReader(std::shared_ptr<const EventPlan> plan,
                                          MissingSchema /*missing*/) override {
    auto reader = schema_->NewReader(std::move(plan));
    seen::Check(reader.has_value(), "the configuration was checked against the schema's file");
    return std::move(*reader);
  }
  std::optional<FormatError> Check(const std::shared_ptr<const EventPlan>& plan) const override {
    auto reader = schema_->NewReader(plan);
    if (reader) {
      const FormatError* const missing = (*reader)->Missing();
      return missing != nullptr ? std::optional(*missing) : std::nullopt;
    }
    FormatError& error = reader.error();
    if (error.path.empty()) error.path = "input.schema_file";
    return std::move(error);
  }
  std::vector<std::string> Troubles() const override { return {}; }

 private:
  WriterSchemaPointer schema_;
};

/// Each record says which schema of a registry it has. Readers are made when the first record needs them.
class RegistryReader final : public BinaryReader {
 public:
  RegistryReader(std::shared_ptr<SchemaBook> book, std::shared_ptr<const EventPlan> plan,
                 MissingSchema missing)
      : book_(std::move(book)), plan_(std::move(plan)), missing_(missing) {}

  bool Read(std::string_view payload, EventBuffers& buffers, Event& event) override {
    if (!IsFramed(payload)) return false;
    BinaryReader* const reader = readers_.Find(SchemaIdOf(payload));
    return reader != nullptr && reader->Read(payload.substr(kFrameBytes), buffers, event);
  }

  tl::expected<void, Rejection> AppendJson(std::string_view payload, std::string& json) override {
    if (!IsFramed(payload)) return Reject(RejectReason::kNotDecodable, {}, NotFramedText(payload));
    const uint32_t id = SchemaIdOf(payload);
    BinaryReader* reader = readers_.Find(id);
    if (reader == nullptr) {
      if (auto made = Make(id); !made) return tl::unexpected(std::move(made.error()));
      reader = readers_.Find(id);
    }
    auto appended = reader->AppendJson(payload.substr(kFrameBytes), json);
    if (!appended && appended.error().reason != RejectReason::kNotDecodable) {
      Rejection& rejection = appended.error();
      book_->Refuse(id, {{}, rejection.message}, false);
      rejection.message = fmt::format("schema {}: {}", id, rejection.message);
    }
    return appended;
  }
  const FormatError* Missing() const override { return readers_.Missing(); }

 private:
  static tl::unexpected<Rejection> Reject(RejectReason reason, std::string_view field, std::string message) {
    return tl::unexpected(Rejection{reason, field, std::move(message)});
  }
  static std::string NotFramedText(std::string_view payload) {
    if (payload.size() < kFrameBytes)
      return fmt::format("{} bytes, fewer than the {} of input.framing \"confluent\"", payload.size(),
                         kFrameBytes);
    return fmt::format(
        "begins with the byte {}, not with the 0 of input.framing \"confluent\"; if no record has the bytes "
        "of a schema registry, set input.framing to \"none\"",
        static_cast<unsigned>(static_cast<unsigned char>(payload.front())));
  }

  tl::expected<void, Rejection> Make(uint32_t id) {
    SchemaBook::Answer answer = book_->Find(id, missing_);
    if (answer.schema != nullptr) {
      auto reader = answer.schema->NewReader(plan_);
      if (reader) {
        readers_.Add(id, std::move(*reader));
        return {};
      }
      book_->Refuse(id, reader.error(), true);
      answer = book_->Find(id, missing_);
    }
    Rejection rejection = RejectionOf({answer.problem.path, answer.problem.message});
    rejection.message = fmt::format("schema {}: {}", id, rejection.message);
    if (!answer.is_final) rejection.reason = RejectReason::kSchemaPending;
    return tl::unexpected(std::move(rejection));
  }

  const std::shared_ptr<SchemaBook> book_;
  const std::shared_ptr<const EventPlan> plan_;
  const MissingSchema missing_;
  MadeReaders<uint32_t> readers_;
};

class RegistryFormat final : public BinaryFormat {
 public:
  /// `wanted`: the schema that all events are read as; nullptr: each is read as its own schema says.
  RegistryFormat(SchemaBook::Options options, WriterSchemaPointer wanted)
      : book_(std::make_shared<SchemaBook>(std::move(options))), wanted_(std::move(wanted)) {}

  std::unique_ptr<BinaryReader> NewReader(std::shared_ptr<const EventPlan> plan,
                                          MissingSchema missing) override {
    return std::make_unique<RegistryReader>(book_, std::move(plan), missing);
  }
  std::optional<FormatError> Check(const std::shared_ptr<const EventPlan>& plan) const override {
    return wanted_ == nullptr ? std::nullopt : FileFormat(wanted_).Check(plan);
  }
  std::vector<std::string> Troubles() const override { return book_->Troubles(); }

 private:
  std::shared_ptr<SchemaBook> book_;
  WriterSchemaPointer wanted_;
};

tl::unexpected<FormatError> Wrong(std::string path, std::string message) {
  return tl::unexpected(FormatError{std::move(path), std::move(message)});
}

bool ReadFile(const std::string& path, std::string& text) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;  // another one may have no end
  std::ifstream file(path, std::ios::binary);
  text.assign(std::istreambuf_iterator<char>(file), {});
  return !file.bad() && file.is_open() && !text.empty();
}

tl::expected<std::string, FormatError> ReadSchemaFile(const std::string& path) {
  std::string text;
  if (!ReadFile(path, text))
    return Wrong("input.schema_file",
                 fmt::format("\"{}\": can't be read, or is empty; give the path of a schema", path));
  return text;
}

/// What the registry's own options lack.
std::optional<FormatError> FindConflict(const RegistryOptions& registry) {
  const std::string keys = "input.schema_registry.";
  const auto needs = [&](const char* key, const char* other) {
    return FormatError{keys + key, fmt::format("needs {}{}; set both, or neither", keys, other)};
  };
  const std::pair<const char*, const std::string*> files[] = {
      {"ca", &registry.ca_file}, {"certificate", &registry.certificate_file}, {"key", &registry.key_file}};
  if (registry.url.empty()) {
    for (const auto& [name, path] : files) {
      if (!path->empty()) return needs(name, "url");
    }
    return needs(registry.user.empty() ? "password" : "user", "url");
  }
  if (HostOfAddress(registry.url, true).empty()) {
    return FormatError{
        keys + "url",
        fmt::format("\"{}\": expected http://HOST:PORT or https://HOST:PORT, perhaps with a path",
                    registry.url)};
  }
  if (registry.user.empty() && !registry.password.empty()) return needs("password", "user");
  if (registry.certificate_file.empty() && !registry.key_file.empty()) return needs("key", "certificate");
  for (const auto& [name, path] : files) {
    if (path->empty()) continue;
    if (!registry.url.starts_with("https:"))
      return FormatError{keys + name, fmt::format("\"{}\": is for https, and {}url is \"{}\"; set null",
                                                  *path, keys, registry.url)};
    if (std::string unused; !ReadFile(*path, unused))
      return FormatError{
          keys + name,
          fmt::format("\"{}\": can't be read, or is empty; give the path of a file in PEM", *path)};
  }
  return std::nullopt;
}

/// Which options go together.
std::optional<FormatError> FindConflict(const BinaryOptions& options) {
  const bool is_json = options.encoding == EventEncoding::kJson;
  const bool is_framed = options.framing == EventFraming::kConfluent;
  const std::string format(kEventEncodingNames[static_cast<size_t>(options.encoding)]);
  const auto wrong = [](std::string path, std::string message) {
    return FormatError{std::move(path), std::move(message)};
  };
  if (options.registry) {
    if (auto conflict = FindConflict(*options.registry)) return conflict;
  }
  if (is_json && options.schema_file)
    return wrong("input.schema_file",
                 "input.format is \"json\", which needs no schema; set input.format, or null");
  if (is_json && options.registry)
    return wrong(
        "input.schema_registry.url",
        "input.format is \"json\", which needs no schema; set input.format, or null. input.framing alone "
        "says that JSON stands behind a registry's bytes");
  if (options.encoding != EventEncoding::kProtobuf && options.protobuf_message)
    return wrong("input.protobuf_message", "is for input.format \"protobuf\"; set null");
  if (is_json) return std::nullopt;
  if (options.encoding == EventEncoding::kProtobuf) {
    const std::string named =
        "each record of input.framing \"confluent\" names its schema and message; set null";
    if (is_framed && options.schema_file) return wrong("input.schema_file", named);
    if (is_framed && options.protobuf_message) return wrong("input.protobuf_message", named);
    if (options.schema_file && !options.protobuf_message)
      return wrong("input.protobuf_message", "missing; give the full name of a message in input.schema_file");
    if (options.protobuf_message && !options.schema_file)
      return wrong("input.schema_file", "missing; input.protobuf_message is the name of a message in it");
  }
  if (is_framed && !options.registry)
    return wrong("input.schema_registry.url",
                 "missing; input.framing \"confluent\" needs the registry, because each record names a "
                 "schema by its id");
  if (!is_framed && options.registry)
    return wrong(
        "input.schema_registry.url",
        "input.framing is \"none\", so no record names a schema; set input.framing to \"confluent\", or "
        "null");
  if (!is_framed && !options.schema_file)
    return wrong("input.schema_file", "missing; input.format \"" + format +
                                          "\" needs the schema's file, or input.framing \"confluent\" "
                                          "and input.schema_registry");
  return std::nullopt;
}

/// A schema of a file.
tl::expected<WriterSchemaPointer, std::string> SchemaOfFile(const BinaryOptions& options,
                                                            const std::string& text,
                                                            std::shared_ptr<const AvroSchema>& avro) {
  if (options.encoding == EventEncoding::kProtobuf) {
    auto protobuf = ProtobufSchema::FromFileSet(text, *options.protobuf_message);
    if (!protobuf) return tl::unexpected(std::move(protobuf.error()));
    return std::make_shared<ProtobufWriter>(std::move(*protobuf));
  }
  auto parsed = AvroSchema::Parse(text);
  if (!parsed) return tl::unexpected(std::move(parsed.error()));
  avro = *parsed;
  return std::make_shared<AvroWriter>(avro, nullptr);
}

/// `wanted`: the schema as which events of Avro are read; nullptr: as their own.
tl::expected<WriterSchemaPointer, std::string> SchemaOf(const RegisteredSchema& schema,
                                                        EventEncoding encoding,
                                                        const std::shared_ptr<const AvroSchema>& wanted) {
  const bool is_avro = encoding == EventEncoding::kAvro;
  if (schema.type != (is_avro ? "AVRO" : "PROTOBUF")) {
    return tl::unexpected(fmt::format("is of type {}, and input.format is \"{}\"", schema.type,
                                      kEventEncodingNames[static_cast<size_t>(encoding)]));
  }
  if (!is_avro) {
    std::vector<ProtobufSchema::Source> imports;
    imports.reserve(schema.references.size());
    for (const auto& [name, text] : schema.references) imports.push_back({name, text});
    auto protobuf = ProtobufSchema::FromText(schema.text, imports);
    if (!protobuf) return tl::unexpected(std::move(protobuf.error()));
    return std::make_shared<ProtobufMessages>(std::move(*protobuf));
  }
  std::vector<std::string> referenced;
  referenced.reserve(schema.references.size());
  for (const auto& reference : schema.references) referenced.push_back(reference.text);
  auto avro = AvroSchema::Parse(schema.text, referenced);
  if (!avro) return tl::unexpected(std::move(avro.error()));
  return std::make_shared<AvroWriter>(std::move(*avro), wanted);
}

}  // namespace

tl::expected<std::shared_ptr<BinaryFormat>, FormatError> MakeBinaryFormat(const BinaryOptions& options) {
  if (auto conflict = FindConflict(options)) return tl::unexpected(std::move(*conflict));
  if (options.encoding == EventEncoding::kJson) return nullptr;
  WriterSchemaPointer of_file;
  std::shared_ptr<const AvroSchema> wanted;
  if (options.schema_file) {
    const auto text = ReadSchemaFile(*options.schema_file);
    if (!text) return tl::unexpected(text.error());
    auto schema = SchemaOfFile(options, *text, wanted);
    if (!schema) return Wrong("input.schema_file", "\"" + *options.schema_file + "\": " + schema.error());
    of_file = std::move(*schema);
  }
  if (!options.registry) return std::make_shared<FileFormat>(std::move(of_file));
  SchemaBook::Options book;
  book.registry = options.registry->url;
  book.unknown_after = options.registry->unknown_after;
  book.unknown_again = 10 * book.unknown_after;
  book.wait_max = book.unknown_after + std::chrono::minutes(1);
  const auto registry = std::make_shared<SchemaRegistry>(*options.registry);
  book.stop_fetching = [registry] { registry->Stop(); };
  book.fetch = [registry, encoding = options.encoding,
                wanted](uint32_t id) -> tl::expected<WriterSchemaPointer, SchemaProblem> {
    const auto registered = registry->Ask(id);
    if (!registered) return tl::unexpected(registered.error());
    auto schema = SchemaOf(*registered, encoding, wanted);
    if (!schema)
      return tl::unexpected(SchemaProblem{SchemaProblem::Kind::kUnusable, std::move(schema.error())});
    return std::move(*schema);
  };
  return std::make_shared<RegistryFormat>(std::move(book), std::move(of_file));
}

}  // namespace seen
