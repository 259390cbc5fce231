// tests/golden/snapshot/index.json.

#include <cmath>

#include "filter/snapshot.h"
#include "unit/filter/golden_snapshots.h"
#include "unit/filter/reference_bloom.h"

namespace seen::golden {
namespace {

using namespace std::string_literals;

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      constexpr std::string_view kHex = "0123456789abcdef";
      quoted += "\\u00";
      quoted += kHex[static_cast<size_t>(c) >> 4];
      quoted += kHex[static_cast<size_t>(c) & 15];
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string Hex(uint64_t value) {
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[value >> shift & 15];
  return Quoted(text);
}

std::string List(const std::vector<std::string>& ids) {
  std::string list = "[";
  for (const std::string& id : ids) list += (list.size() > 1 ? "," : "") + Quoted(id);
  return list + "]";
}

/// `name` is the member's, `value` is JSON.
void AddMember(std::string& object, std::string_view name, const std::string& value) {
  object += object.empty() ? "    {" : ",\n     ";
  object += Quoted(name) + ": " + value;
}

std::string RecallSizes(const SnapshotMeta& meta) {
  std::string sizes;
  for (const int want : {0, 1, 10, 100, 1000, 100'000}) {
    const double p = meta.false_positive_rate;
    const double more = want == 0 ? 0 : std::ceil((want + 3 * std::sqrt(want * p)) / (1 - p));
    const uint64_t size = want == 0 ? 0 : meta.item_count + static_cast<uint64_t>(more);
    sizes += (sizes.empty() ? "{" : ", ") + Quoted(std::to_string(want)) + ": " + std::to_string(size);
  }
  return sizes + "}";
}

const std::vector<Fingerprint>& RandomIds() {
  static const std::vector<Fingerprint> ids = [] {
    std::vector<Fingerprint> made;
    for (uint32_t i = 0; i < 100'000; ++i)
      made.push_back(FingerprintOf(std::to_string(reference::HashOf(Fingerprint{i}))));
    return made;
  }();
  return ids;
}

template <typename Ask>
std::string Answers(const SnapshotView& view, Ask ask) {
  std::string answers;
  uint64_t yes = 0;
  for (const Fingerprint id : RandomIds()) {
    answers += ask(view, id) ? '\1' : '\0';
    yes += static_cast<uint64_t>(answers.back());
  }
  return "{\"count\": " + std::to_string(answers.size()) + ", \"might_contain\": " + std::to_string(yes) +
         ", \"xxh64_of_answers\": " + Hex(reference::Xxh64(answers)) + "}";
}

/// What the days allow: of a chain the answers with some of them left out, of numbered entries their numbers.
void AddDays(std::string& entry, const GoldenSnapshot& snapshot, const SnapshotView& view) {
  std::string days;
  for (const GoldenDay& day : snapshot.days) {
    days += (days.empty() ? "" : ", ") + ("{\"day\": " + std::to_string(day.day.since_epoch)) +
            ", \"first_second\": " + std::to_string(day.first_second) +
            ", \"last_second\": " + std::to_string(day.last_second) + ", \"seen\": " + List(day.seen) + "}";
  }
  AddMember(entry, "days", "[" + days + "]");
  if (const auto* const chain = std::get_if<DayChainView>(&view.view())) {
    const GoldenDay& middle = snapshot.days[snapshot.days.size() / 2];
    AddMember(entry, "created_second", std::to_string(middle.last_second));
    AddMember(entry, "random_created", Answers(view, [&](const auto&, Fingerprint f) {
                return chain->MightContain(f, middle.last_second);
              }));
    AddMember(entry, "from_day", std::to_string(middle.day.since_epoch));
    AddMember(entry, "random_from", Answers(view, [&](const auto&, Fingerprint f) {
                return chain->MightContain(f, 0, middle.day);
              }));
  }
  if (const auto* const indexed = std::get_if<IndexedCuckooView>(&view.view())) {
    std::string entries;
    for (size_t i = 0; i < snapshot.seen.size(); i += 1 + snapshot.seen.size() / 20) {
      for (const auto& found : indexed->Find(FingerprintOf(snapshot.seen[i]))) {
        entries += (entries.empty() ? "" : ", ") + ("{\"id\": " + Quoted(snapshot.seen[i])) +
                   ", \"number\": " + std::to_string(found.number) +
                   ", \"day\": " + std::to_string(found.day.since_epoch) +
                   ", \"rank\": " + std::to_string(found.rank) + "}";
      }
    }
    AddMember(entry, "entries", "[" + entries + "]");
  }
}

void AddSimilar(std::string& entry, const GoldenSimilar& ids, const SnapshotView& view) {
  const SimilarPart& similar = *view.similar();
  AddMember(entry, "similar_bytes", std::to_string(similar.payload.size()));
  AddMember(entry, "similar_format", Quoted(SnapshotFormatName(similar.format)));
  AddMember(entry, "similar_count", std::to_string(similar.fingerprint_count));
  AddMember(entry, "random_near",
            Answers(view, [](const auto& any, Fingerprint f) { return any.MightBeNear(f); }));
  AddMember(entry, "random_groups",
            Answers(view, [](const auto& any, Fingerprint f) { return any.MightHoldGroup(f); }));
  AddMember(entry, "near", List(ids.near));
  AddMember(entry, "not_near", List(ids.not_near));
  AddMember(entry, "groups", List(ids.groups));
  AddMember(entry, "not_groups", List(ids.not_groups));
}

std::string Entry(const GoldenSnapshot& snapshot) {
  const auto view = SnapshotView::Parse(snapshot.bytes);
  if (!view) return "    {" + Quoted("unreadable") + ": " + Quoted(view.error().message) + "}";
  const SnapshotMeta& meta = view->meta();
  std::string entry;
  AddMember(entry, "file", Quoted(snapshot.file));
  AddMember(entry, "note", Quoted(snapshot.note));
  AddMember(entry, "format", Quoted(SnapshotFormatName(meta.format)));
  AddMember(entry, "header_bytes", std::to_string(view->payload().data() - snapshot.bytes.data()));
  AddMember(entry, "item_count", std::to_string(meta.item_count));
  AddMember(entry, "as_of_ms", std::to_string(meta.as_of.value));
  AddMember(entry, "horizon_day", std::to_string(meta.horizon.since_epoch));
  AddMember(entry, "partition", std::to_string(meta.partition));
  AddMember(entry, "input_offset", std::to_string(meta.input_offset));
  AddMember(entry, "false_positive_rate", meta.false_positive_rate == 0.01 ? "0.01" : "0.001");
  AddMember(entry, "payload_bytes",
            std::to_string(snapshot.bytes.data() + snapshot.bytes.size() - view->payload().data()));
  AddMember(entry, "checksum", std::to_string(reference::Checksum(snapshot.bytes)));
  AddMember(entry, "recall_size", RecallSizes(meta));
  AddMember(entry, "random",
            Answers(*view, [](const auto& any, Fingerprint f) { return any.MightContain(f); }));
  if (!snapshot.days.empty()) AddDays(entry, snapshot, *view);
  if (view->has_similar()) AddSimilar(entry, snapshot.similar, *view);
  AddMember(entry, "seen", List(snapshot.seen));
  AddMember(entry, "unseen", List(snapshot.unseen));
  return entry + "}";
}

std::string Hashes() {
  std::string lines;
  for (const std::string& id : {"n1"s, "42"s, "-7"s, "曝光"s, "e\u0301"s, "a\0b"s, std::string(40, 'x')}) {
    const Fingerprint fingerprint = FingerprintOf(id);
    lines += (lines.empty() ? "" : ",\n") + ("    {\"id\": " + Quoted(id)) +
             ", \"xxh64_of_id\": " + Hex(reference::Xxh64(id)) +
             ", \"fingerprint\": " + std::to_string(fingerprint.value) +
             ", \"xxh64_of_fingerprint\": " + Hex(reference::HashOf(fingerprint)) +
             ", \"near_fingerprint\": " + std::to_string(NearFingerprintOf(fingerprint).value) +
             ", \"group_fingerprint\": " + std::to_string(GroupFingerprintOf(fingerprint).value) + "}";
  }
  return lines;
}

}  // namespace

std::string Index() {
  std::string snapshots;
  for (const GoldenSnapshot& snapshot : Snapshots()) {
    snapshots += (snapshots.empty() ? "" : ",\n") + Entry(snapshot);
  }
  std::string refused;
  for (const RefusedSnapshot& snapshot : Refused()) {
    refused += (refused.empty() ? "" : ",\n") + ("    {\"file\": " + Quoted(snapshot.file)) +
               ", \"why\": " + Quoted(snapshot.why) + "}";
  }
  return "{\n  \"about\": \"Snapshots every reader is tested with; schemas/snapshot.md says how they are "
         "read. "
         "Written by test_filter with SEEN_WRITE_GOLDEN=1.\",\n  \"hashes\": [\n" +
         Hashes() + "\n  ],\n  \"snapshots\": [\n" + snapshots + "\n  ],\n  \"refused\": [\n" + refused +
         "\n  ]\n}\n";
}

}  // namespace seen::golden
