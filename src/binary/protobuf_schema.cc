#include "binary/protobuf_schema.h"

#include <google/protobuf/compiler/parser.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/stubs/strutil.h>

#include <ranges>
#include <utility>

#include "binary/protobuf_cursor.h"

namespace seen {
namespace {

namespace pb = google::protobuf;

using Files = std::vector<pb::FileDescriptorProto>;

constexpr std::string_view kEditions =
    " is of an edition of Protobuf, which isn't supported; write it in proto2 or proto3";

/// Keeps the first error.
class FirstError final : public pb::DescriptorPool::ErrorCollector, public pb::io::ErrorCollector {
 public:
  // Of the pool.
  void AddError(const std::string& file, const std::string& element, const pb::Message* /*descriptor*/,
                ErrorLocation /*location*/, const std::string& message) override {
    Keep("file " + file + ", " + element + ": " + message);
  }
  // Of the parser.
  void AddError(int line, int column, const std::string& message) override {
    Keep("line " + std::to_string(line + 1) + ", column " + std::to_string(column + 1) + ": " + message);
  }
  const std::string& text() const { return text_; }

 private:
  void Keep(std::string text) {
    if (text_.empty()) text_ = std::move(text);
  }
  std::string text_;
};

class PoolBuilder {
 public:
  /// Adds `files`, each one after those that it imports. The last one's descriptor.
  tl::expected<const pb::FileDescriptor*, std::string> Build(const Files& files) {
    // protobuf would write a line for each event that it can't read.
    [[maybe_unused]] static const auto once = pb::SetLogHandler(nullptr);
    for (const auto& file : files) {
      if (auto built = Build(file.name(), files, kImportDepthMax); !built || &file == &files.back())
        return built;
    }
    return nullptr;
  }
  std::shared_ptr<const pb::DescriptorPool> pool() const { return pool_; }

 private:
  static constexpr size_t kImportDepthMax = 64;

  tl::expected<const pb::FileDescriptor*, std::string> Build(const std::string& name, const Files& files,
                                                             size_t depth) {
    if (const pb::FileDescriptor* const built = pool_->FindFileByName(name)) return built;
    if (depth == 0)
      return tl::unexpected("file " + name + " imports itself, or files " + std::to_string(kImportDepthMax) +
                            " deep");
    pb::FileDescriptorProto proto;
    if (!Find(name, files, proto))
      return tl::unexpected("file " + name +
                            " is imported but missing; write the set with --include_imports, or register the "
                            "file as a reference of the schema");
    for (const std::string& import : proto.dependency()) {
      if (auto built = Build(import, files, depth - 1); !built) return built;
    }
    if (proto.syntax() == "editions") return tl::unexpected("file " + name + std::string(kEditions));
    FirstError errors;
    const pb::FileDescriptor* const built = pool_->BuildFileCollectingErrors(proto, &errors);
    if (built == nullptr) return tl::unexpected(errors.text());
    return built;
  }

  static bool Find(const std::string& name, const Files& files, pb::FileDescriptorProto& proto) {
    for (const auto& file : files) {
      if (file.name() != name) continue;
      proto = file;
      return true;
    }
    const pb::FileDescriptor* const known = pb::DescriptorPool::generated_pool()->FindFileByName(name);
    if (known != nullptr) known->CopyTo(&proto);
    return known != nullptr;
  }

  std::shared_ptr<pb::DescriptorPool> pool_ = std::make_shared<pb::DescriptorPool>();
};

std::string Messages(const Files& files) {
  constexpr int kShown = 8;
  std::string names;
  int shown = 0;
  for (const auto& file : std::views::reverse(files)) {  // those that are imported come first
    for (const auto& message : file.message_type()) {
      if (++shown > kShown) return names + ", ...";
      names +=
          (shown == 1 ? "" : ", ") + (file.package().empty() ? "" : file.package() + ".") + message.name();
    }
  }
  return shown == 0 ? "no messages" : "the messages " + names;
}

// protobuf's parser calls itself for each message within another.
bool IsNestedTooDeeply(std::string_view text) {
  size_t depth = 0;
  for (const char c : text) {
    if (c == '{' && ++depth > ProtobufSchema::kDepthMax) return true;
    if (c == '}' && depth > 0) --depth;
  }
  return false;
}

tl::expected<pb::FileDescriptorProto, std::string> Parse(const std::string& name, std::string_view text) {
  if (text.size() > ProtobufSchema::kBytesMax)
    return tl::unexpected("file " + name + " is longer than 4 MiB");
  pb::FileDescriptorProto described;
  std::string bytes;
  if (pb::Base64Unescape({text.data(), text.size()}, &bytes) && described.ParseFromString(bytes)) {
    described.set_name(name);
    return described;
  }
  if (IsNestedTooDeeply(text))
    return tl::unexpected("file " + name + " is nested more than " +
                          std::to_string(ProtobufSchema::kDepthMax) + " deep");
  pb::io::ArrayInputStream input(text.data(), static_cast<int>(text.size()));
  FirstError errors;
  pb::io::Tokenizer tokenizer(&input, &errors);
  pb::compiler::Parser parser;
  parser.RecordErrorsTo(&errors);
  pb::FileDescriptorProto proto;
  if (!parser.Parse(&tokenizer, &proto) || !errors.text().empty()) {
    const bool has_edition =
        text.starts_with("edition ") || text.find("\nedition ") != std::string_view::npos;
    return tl::unexpected("file " + name + (has_edition ? std::string(kEditions) : ", " + errors.text()));
  }
  proto.set_name(name);
  return proto;
}

}  // namespace

tl::expected<std::shared_ptr<const ProtobufSchema>, std::string> ProtobufSchema::FromFileSet(
    std::string_view files, std::string_view message) {
  pb::FileDescriptorSet set;
  if (files.size() > kBytesMax || !set.ParseFromArray(files.data(), static_cast<int>(files.size())) ||
      set.file_size() == 0)
    return tl::unexpected(
        std::string("no FileDescriptorSet; write one by protoc --include_imports --descriptor_set_out=FILE"));
  const Files known(set.file().begin(), set.file().end());
  PoolBuilder builder;
  if (auto built = builder.Build(known); !built) return tl::unexpected(std::move(built.error()));
  const auto* const found = builder.pool()->FindMessageTypeByName(std::string(message));
  if (found == nullptr)
    return tl::unexpected("no message \"" + std::string(message) + "\"; the set has " + Messages(known));
  return std::shared_ptr<const ProtobufSchema>(new ProtobufSchema(builder.pool(), *found));
}

tl::expected<std::shared_ptr<const ProtobufSchema>, std::string> ProtobufSchema::FromText(
    std::string_view text, std::span<const Source> imports) {
  Files files;
  for (const Source& source : imports) {
    auto file = Parse(source.name, source.text);
    if (!file) return tl::unexpected(std::move(file.error()));
    files.push_back(std::move(*file));
  }
  auto file = Parse("(schema)", text);  // a name that no import has
  if (!file) return tl::unexpected(std::move(file.error()));
  files.push_back(std::move(*file));
  PoolBuilder builder;
  const auto built = builder.Build(files);
  if (!built) return tl::unexpected(built.error());
  if ((*built)->message_type_count() == 0) return tl::unexpected(std::string("the schema has no message"));
  return std::shared_ptr<const ProtobufSchema>(
      new ProtobufSchema(builder.pool(), *(*built)->message_type(0)));
}

tl::expected<std::shared_ptr<const ProtobufSchema>, std::string> ProtobufSchema::MessageAt(
    std::span<const int32_t> indexes) const {
  const pb::FileDescriptor& file = *message_->file();
  const pb::Descriptor* message = nullptr;
  std::string shown;
  for (const int32_t index : indexes) {
    shown += (shown.empty() ? "" : ", ") + std::to_string(index);
    const int count = message == nullptr ? file.message_type_count() : message->nested_type_count();
    if (index < 0 || index >= count) return tl::unexpected("the schema has no message at indexes " + shown);
    message = message == nullptr ? file.message_type(index) : message->nested_type(index);
  }
  if (message == nullptr) return tl::unexpected(std::string("no message indexes"));
  return std::shared_ptr<const ProtobufSchema>(new ProtobufSchema(pool_, *message));
}

bool TakeMessageIndexes(std::string_view& payload, std::vector<int32_t>& indexes) {
  constexpr int64_t kIndexesMax = 32;
  ProtobufCursor cursor(payload);
  const auto take = [&](int64_t& number) {
    uint64_t zigzag = 0;
    if (!cursor.TakeVarint(zigzag)) return false;
    number = static_cast<int64_t>(zigzag >> 1) ^ -static_cast<int64_t>(zigzag & 1);
    return true;
  };
  indexes.clear();
  int64_t count = 0, index = 0;
  if (!take(count) || count < 0 || count > kIndexesMax) return false;
  if (count == 0) indexes.push_back(0);
  for (; count > 0; --count) {
    if (!take(index) || index < 0 || index > INT32_MAX) return false;
    indexes.push_back(static_cast<int32_t>(index));
  }
  payload = cursor.rest();
  return true;
}

}  // namespace seen
