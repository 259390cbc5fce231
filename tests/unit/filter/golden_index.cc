// tests/golden/snapshot/index.json.

#include <array>
#include <charconv>

#include "filter/snapshot.h"
#include "unit/filter/golden_bytes.h"
#include "unit/filter/golden_snapshots.h"
#include "unit/filter/reference_bloom.h"

namespace seen::golden {
namespace {

using namespace std::string_literals;

std::string Hex(uint64_t value) {
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[value >> shift & 15];
  return Quoted(text);
}

/// `name` is the member's, `value` is JSON.
void AddMember(std::string& object, std::string_view name, const std::string& value) {
  object += object.empty() ? "    {" : ",\n     ";
  object += Quoted(name) + ": " + value;
}

std::string RecallSizes(const SnapshotMeta& meta) {
  const std::vector<int> wants = {-1, 0, 1, 2, 9, 10, 100, 1000, 100'000};
  return "{" +
         Joined(wants, ", ",
                [&](int want) {
                  return Quoted(std::to_string(want)) + ": " + std::to_string(RecallSize(meta, want, 0));
                }) +
         "}";
}

/// The shortest text of the number.
std::string Shortest(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
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

/// The ids of days that are left out for which the chain then answers no.
template <typename IsLeftOut, typename MightContain>
std::string UnseenAmong(const std::vector<GoldenDay>& days, IsLeftOut is_left_out,
                        MightContain might_contain) {
  std::vector<std::string> unseen;
  for (const GoldenDay& day : days) {
    if (!is_left_out(day)) continue;
    for (const std::string& id : day.seen) {
      if (!might_contain(FingerprintOf(id))) unseen.push_back(id);
    }
  }
  return List(unseen);
}

/// What a chain answers if a reader leaves out some of its days.
void AddLeftOut(std::string& entry, const GoldenSnapshot& snapshot, const SnapshotView& view) {
  const auto* const chain = std::get_if<DayChainView>(&view.view());
  if (chain == nullptr) return;
  const GoldenDay& middle = snapshot.days[snapshot.days.size() / 2];
  const uint32_t created = snapshot.created_second.value_or(middle.last_second);
  const Day from = snapshot.from_day.value_or(middle.day);
  const auto by_created = [&](Fingerprint f) { return chain->MightContain(f, created); };
  const auto by_day = [&](Fingerprint f) { return chain->MightContain(f, 0, from); };
  AddMember(entry, "created_second", std::to_string(created));
  AddMember(entry, "random_created",
            Answers(view, [&](const auto&, Fingerprint f) { return by_created(f); }));
  AddMember(entry, "unseen_created",
            UnseenAmong(
                snapshot.days, [&](const GoldenDay& day) { return day.last_second < created; }, by_created));
  AddMember(entry, "from_day", std::to_string(from.since_epoch));
  AddMember(entry, "random_from", Answers(view, [&](const auto&, Fingerprint f) { return by_day(f); }));
  AddMember(entry, "unseen_from",
            UnseenAmong(
                snapshot.days, [&](const GoldenDay& day) { return day.day < from; }, by_day));
}

void AddDays(std::string& entry, const GoldenSnapshot& snapshot, const SnapshotView& view) {
  const auto text_of = [](const GoldenDay& day) {
    return "{\"day\": " + std::to_string(day.day.since_epoch) +
           ", \"first_second\": " + std::to_string(day.first_second) +
           ", \"last_second\": " + std::to_string(day.last_second) + ", \"seen\": " + List(day.seen) + "}";
  };
  AddMember(entry, "days", "[" + Joined(snapshot.days, ", ", text_of) + "]");
  AddLeftOut(entry, snapshot, view);
}

/// All entries of some of the ids.
void AddEntries(std::string& entry, const GoldenSnapshot& snapshot, const IndexedCuckooView& indexed) {
  std::string entries;
  for (size_t i = 0; i < snapshot.seen.size(); i += 1 + snapshot.seen.size() / 20) {
    for (const IndexedItem& found : indexed.Find(FingerprintOf(snapshot.seen[i]))) {
      const auto known = [&](int64_t value) { return found.has_day ? std::to_string(value) : "null"; };
      entries += (entries.empty() ? "" : ", ") + ("{\"id\": " + Quoted(snapshot.seen[i])) +
                 ", \"number\": " + std::to_string(found.number) +
                 ", \"day\": " + known(found.day.since_epoch) + ", \"rank\": " + known(found.rank) + "}";
    }
  }
  AddMember(entry, "entries", "[" + entries + "]");
}

std::string ListOf(const std::vector<Fingerprint>& fingerprints) {
  return "[" + Joined(fingerprints, ",", [](Fingerprint f) { return std::to_string(f.value); }) + "]";
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
  AddMember(entry, "false_positive_rate", Shortest(meta.false_positive_rate));
  AddMember(entry, "payload_bytes",
            std::to_string(snapshot.bytes.data() + snapshot.bytes.size() - view->payload().data()));
  AddMember(entry, "checksum", std::to_string(reference::Checksum(snapshot.bytes)));
  AddMember(entry, "recall_size", RecallSizes(meta));
  AddMember(entry, "random",
            Answers(*view, [](const auto& any, Fingerprint f) { return any.MightContain(f); }));
  if (!snapshot.days.empty()) AddDays(entry, snapshot, *view);
  if (const auto* indexed = std::get_if<IndexedCuckooView>(&view->view()); indexed != nullptr)
    AddEntries(entry, snapshot, *indexed);
  if (view->has_similar()) AddSimilar(entry, snapshot.similar, *view);
  if (!snapshot.seen_fingerprints.empty()) {
    AddMember(entry, "seen_fingerprints", ListOf(snapshot.seen_fingerprints));
    AddMember(entry, "unseen_fingerprints", ListOf(snapshot.unseen_fingerprints));
  }
  AddMember(entry, "seen", List(snapshot.seen));
  AddMember(entry, "unseen", List(snapshot.unseen));
  return entry + "}";
}

std::string Hashes() {
  std::string lines;
  std::vector<std::string> ids = {"n1", "42", "-7", "曝光", "e\u0301", "a\0b"s, std::string(40, 'x'), ""};
  for (const size_t length : {3u, 4u, 5u, 7u, 8u, 9u, 15u, 31u, 32u, 33u, 63u, 64u, 65u, 100u})
    ids.push_back(OfLength(length));
  for (const std::string& id : ids) {
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
  const std::string snapshots = Joined(Snapshots(), ",\n", Entry);
  const std::string refused = Joined(Refused(), ",\n", [](const RefusedSnapshot& snapshot) {
    return "    {\"file\": " + Quoted(snapshot.file) + ", \"step\": " + std::to_string(snapshot.step) +
           ", \"why\": " + Quoted(snapshot.why) + "}";
  });
  return "{\n  \"about\": \"Snapshots every reader is tested with; schemas/snapshot.md says how they are "
         "read. "
         "Written by test_filter with SEEN_WRITE_GOLDEN=1.\",\n  \"hashes\": [\n" +
         Hashes() + "\n  ],\n  \"snapshots\": [\n" + snapshots + "\n  ],\n  \"refused\": [\n" + refused +
         "\n  ]\n}\n";
}

}  // namespace seen::golden
