#include "binary/avro_reading.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "binary/avro_default.h"

namespace seen {
namespace {

using Type = AvroType;
using SchemaNode = AvroSchema::Node;

constexpr uint32_t kNone = UINT32_MAX;

std::string_view Unqualified(std::string_view name) { return name.substr(name.rfind('.') + 1); }

bool IsTextOrBytes(Type type) { return type == Type::kString || type == Type::kBytes; }

bool NamesMatch(const SchemaNode& writer, const SchemaNode& reader) {
  return Unqualified(writer.name) == Unqualified(reader.name) ||
         std::find(reader.aliases.begin(), reader.aliases.end(), writer.name) != reader.aliases.end();
}

bool IsSame(const SchemaNode& writer, const SchemaNode& reader) {
  return writer.type == reader.type && NamesMatch(writer, reader) && writer.size == reader.size;
}

bool HasSameName(const SchemaNode& writer, const SchemaNode& reader) {
  return IsSame(writer, reader) && writer.name == reader.name;
}

bool IsPromoted(const SchemaNode& writer, const SchemaNode& reader) {
  if (IsTextOrBytes(writer.type) && IsTextOrBytes(reader.type)) return true;
  return writer.type >= Type::kInt && writer.type < reader.type && reader.type <= Type::kDouble;
}

std::string NameOfSchema(const SchemaNode& node) {
  return std::string(AvroTypeName(node.type)) + (node.name.empty() ? "" : " " + node.name);
}

/// Resolves the two schemas, each pair of nodes once. Recursive, as deep as types refer to one another.
class Resolver {
 public:
  Resolver(const AvroSchema& writer, const AvroSchema* reader) : writer_(writer), reader_(reader) {}

  tl::expected<AvroReading, std::string> Make() {
    reading_.record = writer_.RootRecord().name;
    reading_.root = Resolve(writer_.root(), reader_ != nullptr ? reader_->root() : kNone);
    if (error_.empty()) error_ = At(reading_.root).mismatch;
    if (!error_.empty()) return tl::unexpected(std::move(error_));
    return std::move(reading_);
  }

 private:
  static constexpr size_t kDepthMax = 200;

  AvroReading::Node& At(uint32_t node) { return reading_.nodes[node]; }

  /// The node for what `writer` has written and `reader` wants. kNone for `reader`: as it was written. kNone
  /// for `writer`: a value of the reader's schema itself.
  uint32_t Resolve(uint32_t writer, uint32_t reader) {
    const uint64_t pair = uint64_t{writer} << 32 | reader;
    if (const auto known = known_.find(pair); known != known_.end()) return known->second;
    if (reading_.nodes.size() == AvroReading::kNodesMax || depth_ == kDepthMax)
      error_ = "its types refer to too many others; use fewer unions, or records that are nested less";
    if (!error_.empty()) return 0;
    const SchemaNode& from = writer != kNone ? writer_[writer] : (*reader_)[reader];
    const SchemaNode* const to = writer != kNone && reader != kNone ? &(*reader_)[reader] : nullptr;
    if (to != nullptr && from.type != Type::kUnion && to->type == Type::kUnion) {
      const uint32_t branch = BranchFor(from, *to);
      if (branch != kNone) return Resolve(writer, branch);
    }
    const auto at = static_cast<uint32_t>(reading_.nodes.size());
    reading_.nodes.push_back({});
    known_.emplace(pair, at);
    if (to != nullptr && from.type != Type::kUnion && !IsSame(from, *to) && !IsPromoted(from, *to)) {
      At(at).mismatch = MismatchOf(from, *to);
      return at;
    }
    ++depth_;
    CopyValue(at, from, to);
    ResolveWithin(at, from, to, writer, reader);
    At(at).fixed_bytes = FixedBytesOf(At(at));
    --depth_;
    return at;
  }

  void ResolveWithin(uint32_t at, const SchemaNode& from, const SchemaNode* to, uint32_t writer,
                     uint32_t reader) {
    const auto resolve = [&](uint32_t child, uint32_t wanted) {
      return writer == kNone ? Resolve(kNone, child) : Resolve(child, wanted);
    };
    if (from.type == Type::kRecord && to != nullptr) {
      ResolveFields(at, from, *to);
    } else if (from.type == Type::kRecord) {
      for (const AvroSchema::Field& field : from.fields) {
        const uint32_t child = resolve(field.node, kNone);
        At(at).members.push_back({field.name, child, true});
      }
    } else if (from.type == Type::kUnion) {
      bool is_readable = false;
      for (const uint32_t branch : from.within) {
        const uint32_t child = resolve(branch, reader);
        At(at).within.push_back(child);
        is_readable |= At(child).mismatch.empty();
      }
      if (!is_readable) Need(at, At(at).within.front());
    } else if (!from.within.empty()) {
      const uint32_t child = resolve(from.within.front(), to != nullptr ? to->within.front() : kNone);
      Need(at, child);
      At(at).within = {child};
    }
  }

  /// A value of `node` has a value of `child`. Only the innermost `place` is shown.
  void Need(uint32_t node, uint32_t child, const std::string& place = {}) {
    const std::string& what = At(child).mismatch;
    if (what.empty() || !At(node).mismatch.empty()) return;
    const bool has_place = place.empty() || what.find(": ") != std::string::npos;
    At(node).mismatch = has_place ? what : place + ": " + what;
  }

  /// kNone: no branch of the reader's union holds it.
  uint32_t BranchFor(const SchemaNode& writer, const SchemaNode& reader) const {
    for (const auto fits : {HasSameName, IsSame, IsPromoted}) {
      for (const uint32_t branch : reader.within) {
        if (fits(writer, (*reader_)[branch])) return branch;
      }
    }
    return kNone;
  }

  static std::string MismatchOf(const SchemaNode& writer, const SchemaNode& reader) {
    return "the writer's " + NameOfSchema(writer) + " isn't the reader's " + NameOfSchema(reader) +
           (writer.name.empty() || writer.type != reader.type
                ? "; give the reader's schema a type that holds it"
                : "; give the reader's type the alias " + writer.name);
  }

  void CopyValue(uint32_t at, const SchemaNode& from, const SchemaNode* reader) {
    AvroReading::Node& node = At(at);
    const bool both = reader != nullptr && from.type != Type::kUnion;
    node.shown = both ? reader->type : from.type;
    node.type = IsTextOrBytes(from.type) ? node.shown : from.type;
    // The unit and the scale are those of the writer. Whether the value has one at all, the reader says.
    const SchemaNode& source = both && from.logical == AvroLogical::kNone ? *reader : from;
    const bool wanted = !both || reader->logical != AvroLogical::kNone;
    const bool is_number = node.shown == Type::kFloat || node.shown == Type::kDouble;
    if (wanted && !is_number && (from.type == node.shown || node.type == Type::kInt)) {
      node.logical = source.logical;
      node.scale = source.scale;
    }
    node.size = from.size;
    node.name = both ? reader->name : from.name;
    for (const std::string& symbol : from.symbols) {
      const bool known =
          !both || std::find(reader->symbols.begin(), reader->symbols.end(), symbol) != reader->symbols.end();
      node.symbols.push_back(known ? std::optional(symbol) : reader->symbol_default);
    }
  }

  void ResolveFields(uint32_t at, const SchemaNode& from, const SchemaNode& to) {
    using Field = AvroSchema::Field;
    std::unordered_map<std::string_view, const Field*> wanted;  // by the names of the writer's fields
    for (const Field& field : from.fields) wanted.emplace(field.name, nullptr);
    std::unordered_set<const Field*> written;
    const auto take = [&](const std::string& name, const Field& field) {
      const auto found = wanted.find(name);
      if (found == wanted.end() || found->second != nullptr || !written.insert(&field).second) return;
      found->second = &field;
    };
    for (const Field& field : to.fields) take(field.name, field);
    for (const Field& field : to.fields) {
      for (const std::string& alias : field.aliases) take(alias, field);
    }
    for (const Field& field : from.fields) {
      const Field* const kept = wanted[field.name];
      const uint32_t child = Resolve(field.node, kept != nullptr ? kept->node : kNone);
      Need(at, child, "record " + from.name + ", field " + field.name);
      At(at).members.push_back({kept != nullptr ? kept->name : field.name, child, kept != nullptr});
    }
    for (const Field& field : to.fields) {
      if (!written.contains(&field)) AddDefault(at, field, "record " + to.name + ", field " + field.name);
    }
  }

  void AddDefault(uint32_t at, const AvroSchema::Field& field, const std::string& place) {
    if (!field.default_json) {
      if (At(at).mismatch.empty())
        At(at).mismatch = place + ": the writer's schema lacks it; give it a default in the reader's schema";
      return;
    }
    auto bytes = EncodeAvroDefault(*reader_, field.node, *field.default_json);
    if (!bytes && error_.empty())
      error_ = place + ": its default is no value of its type; correct it in the reader's schema";
    const uint32_t child = Resolve(kNone, field.node);
    At(at).defaults.push_back({field.name, child, bytes.value_or("")});
  }

  /// A record whose fields have fixed sizes has one too. One that holds itself has none.
  std::optional<uint32_t> FixedBytesOf(const AvroReading::Node& node) {
    uint64_t sum = 0;
    switch (node.type) {
      case Type::kNull:
        return 0;
      case Type::kBoolean:
        return 1;
      case Type::kFloat:
        return 4;
      case Type::kDouble:
        return 8;
      case Type::kFixed:
        return node.size;
      case Type::kRecord:
        for (const AvroReading::Member& member : node.members) {
          const AvroReading::Node& within = At(member.node);
          if (!within.fixed_bytes) return std::nullopt;
          sum = std::min<uint64_t>(sum + *within.fixed_bytes, UINT32_MAX);  // no payload is so long
        }
        return static_cast<uint32_t>(sum);
      default:
        return std::nullopt;
    }
  }

  const AvroSchema& writer_;
  const AvroSchema* reader_;
  AvroReading reading_;
  std::unordered_map<uint64_t, uint32_t> known_;
  size_t depth_ = 0;
  std::string error_;
};

}  // namespace

tl::expected<AvroReading, std::string> AvroReading::Make(const AvroSchema& writer, const AvroSchema* reader) {
  return Resolver(writer, reader).Make();
}

}  // namespace seen
