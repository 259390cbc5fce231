// tests/golden/snapshot/also_seen.json: schemas/snapshot.md, "Ids that count as seen besides".

#include <algorithm>

#include "base/result.h"
#include "unit/filter/golden_bytes.h"
#include "unit/filter/golden_snapshots.h"

namespace seen::golden {
namespace {

using Ids = std::vector<std::string>;

struct AlsoSeenCase {
  std::string note;
  std::string file;
  Ids also_seen, candidates;
};

// Two ids of one fingerprint.
constexpr const char* kOne = "c1803";
constexpr const char* kOther = "c88507";

std::vector<AlsoSeenCase> CasesOfAlsoSeen() {
  Check(FingerprintOf(kOne) == FingerprintOf(kOther), "two ids share a fingerprint");
  return {
      {"Nothing is also seen.", "ten.bin", {}, {"n1", "x", "n2", "y", "x"}},
      {"Ids that the snapshot doesn't hold count, each once.",
       "ten.bin",
       {"x", "y", "x"},
       {"y", "z", "n1", "x", "z"}},
      {"Ids that the snapshot holds add nothing.",
       "ten.bin",
       {"n1", "n2", "x"},
       {"n1", "n2", "n3", "x", "w"}},
      {"An integer id is its decimal string.",
       "integers.bin",
       {"42", "7", "-8"},
       {"7", "07", "42", "-8", "8"}},
      {"Ids are told by themselves, not by their fingerprint: one that shares it is not seen.",
       "ten.bin",
       {kOne},
       {kOther, kOne, "x"}},
      {"Two ids that share a fingerprint are two.", "ten.bin", {kOne, kOther}, {"x", kOne, kOther}},
      {"Neither normalised nor folded.", "unicode.bin", {"É", "x"}, {"é", "É", "e\u0301", "X", "x"}},
      {"Of a snapshot that says what is similar, which knows nothing of them.",
       "similar_bloom.bin",
       {"near-0", "item-1"},
       {"near-0", "item-1", "x"}},
      {"Of a day chain.", "day_chain_ten.bin", {"x", "n1"}, {"n1", "x", "y"}},
      {"The rate is a half.", "odd_metadata.bin", {"x", "y", "item-0"}, {"item-0", "x", "w"}},
      {"An empty filter.", "empty.bin", {"a", "b"}, {"b", "c", "c"}},
  };
}

std::string JsonOf(const AlsoSeenCase& one, const std::vector<GoldenSnapshot>& all) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& s) { return s.file == one.file; });
  Check(found != all.end(), "a case is of a golden file");
  const auto view = SnapshotView::Parse(found->bytes);
  Check(view.has_value(), "a case is of a golden file that is read");
  Ids unseen, more;
  for (const std::string& id : one.candidates) {
    const auto is_in = [&](const Ids& ids) { return std::find(ids.begin(), ids.end(), id) != ids.end(); };
    if (!view->MightContain(id) && !is_in(one.also_seen) && !is_in(unseen)) unseen.push_back(id);
  }
  for (const std::string& id : one.also_seen) {
    const bool is_new = std::find(more.begin(), more.end(), id) == more.end();
    if (is_new && !view->MightContain(id)) more.push_back(id);
  }
  std::string sizes;
  for (const int want : {-1, 0, 1, 2, 100, 100'000}) {
    sizes += (sizes.empty() ? "{" : ", ") + Quoted(std::to_string(want)) + ": " +
             std::to_string(RecallSize(view->meta(), want, more.size()));
  }
  return "    {\"note\": " + Quoted(one.note) + ",\n     \"file\": " + Quoted(one.file) +
         ",\n     \"also_seen\": " + List(one.also_seen) + ",\n     \"candidates\": " + List(one.candidates) +
         ",\n     \"unseen\": " + List(unseen) + ",\n     \"recall_size\": " + sizes + "}}";
}

}  // namespace

std::string AlsoSeenCases() {
  const std::vector<GoldenSnapshot> all = Snapshots();
  const std::string text =
      Joined(CasesOfAlsoSeen(), ",\n", [&](const AlsoSeenCase& one) { return JsonOf(one, all); });
  return "{\n  \"about\": \"What a reader answers that knows ids besides a snapshot's: of the candidates "
         "those "
         "that are unseen, and how many to recall.\",\n  \"cases\": [\n" +
         text + "\n  ]\n}\n";
}

}  // namespace seen::golden
