#pragma once
// The message of Protobuf events, from a FileDescriptorSet or from .proto sources. protobuf's own library
// reads both; its types stay in this room.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace google::protobuf {
class Descriptor;
class DescriptorPool;
}  // namespace google::protobuf

namespace seen {

/// Immutable: any thread. Errors are for people. The files google/protobuf/*.proto are there without being
/// given.
class ProtobufSchema {
 public:
  static constexpr size_t kBytesMax = size_t{4} << 20;  // of a set, and of each source
  static constexpr size_t kDepthMax = 100;              // of braces in a source

  /// `files`: what `protoc --include_imports --descriptor_set_out=FILE` writes. `message`: its full name,
  /// such as "shop.Exposure". The error names the messages that are there instead.
  static tl::expected<std::shared_ptr<const ProtobufSchema>, std::string> FromFileSet(
      std::string_view files, std::string_view message);

  struct Source {
    std::string name;  // as others import it
    std::string text;  // .proto, or a FileDescriptorProto in base64, as some registries have it
  };
  /// The first message of the source `text`, which imports from `imports` in any order.
  static tl::expected<std::shared_ptr<const ProtobufSchema>, std::string> FromText(
      std::string_view text, std::span<const Source> imports = {});

  /// Another message of the same file. `indexes`: its place among the file's messages, then among that
  /// message's own, and so on (see TakeMessageIndexes).
  tl::expected<std::shared_ptr<const ProtobufSchema>, std::string> MessageAt(
      std::span<const int32_t> indexes) const;

  const google::protobuf::Descriptor& message() const { return *message_; }

 private:
  ProtobufSchema(std::shared_ptr<const google::protobuf::DescriptorPool> pool,
                 const google::protobuf::Descriptor& message)
      : pool_(std::move(pool)), message_(&message) {}

  std::shared_ptr<const google::protobuf::DescriptorPool> pool_;
  const google::protobuf::Descriptor* message_;
};

/// Takes the message indexes from the front of `payload`; they stand behind the schema's id. A 0 alone is the
/// first message. False: they are cut off, or more than 32. Source: Confluent Schema Registry, "Wire format".
bool TakeMessageIndexes(std::string_view& payload, std::vector<int32_t>& indexes);

}  // namespace seen
