#include "store/delta_merge.h"

#include <deque>
#include <string>
#include <vector>

#include "store/keys.h"

namespace seen {
namespace {

std::string_view ViewOf(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

/// Nothing of the user is left. The id alone says nothing about what was seen.
bool IsEmpty(const Delta& delta) { return !delta.erased && delta.removals.empty() && delta.segments.empty(); }

class DeltaMergeOperator final : public rocksdb::MergeOperator {
 public:
  explicit DeltaMergeOperator(std::shared_ptr<const MergeRules> rules) : rules_(std::move(rules)) {}

  const char* Name() const override { return "seen.DeltaMerge.1"; }

  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    std::vector<Delta> deltas;
    deltas.reserve(in.operand_list.size() + 1);
    if (in.existing_value != nullptr && !Append(*in.existing_value, deltas)) return false;
    for (const rocksdb::Slice& operand : in.operand_list) {
      if (!Append(operand, deltas)) return false;
    }
    return Fold(in.key, deltas, out->new_value);
  }

  bool PartialMergeMulti(const rocksdb::Slice& key, const std::deque<rocksdb::Slice>& operands,
                         std::string* new_value, rocksdb::Logger*) const override {
    std::vector<Delta> deltas;
    deltas.reserve(operands.size());
    for (const rocksdb::Slice& operand : operands) {
      if (!Append(operand, deltas)) return false;
    }
    return Fold(key, deltas, *new_value);
  }

 private:
  static bool Append(const rocksdb::Slice& bytes, std::vector<Delta>& deltas) {
    auto delta = DecodeDelta(ViewOf(bytes));
    if (delta) deltas.push_back(std::move(*delta));
    return delta.has_value();
  }

  bool Fold(const rocksdb::Slice& key, const std::vector<Delta>& deltas, std::string& out) const {
    const auto user = UserOf(Table::kDeltas, ViewOf(key));
    if (!user || !rules_->Knows(user->filter)) return false;
    Delta folded = ComposeAll(deltas, rules_->LimitsOf(user->filter));
    Expire(folded, rules_->HorizonOf(user->filter));
    out.clear();
    EncodeDelta(folded, out);
    return true;
  }

  const std::shared_ptr<const MergeRules> rules_;
};

class ExpiryFilter final : public rocksdb::CompactionFilter {
 public:
  explicit ExpiryFilter(std::shared_ptr<const MergeRules> rules) : rules_(std::move(rules)) {}

  const char* Name() const override { return "seen.Expiry"; }

  Decision FilterV2(int, const rocksdb::Slice& key, ValueType type, const rocksdb::Slice& value,
                    std::string* new_value, std::string*) const override {
    if (type != ValueType::kValue) return Decision::kKeep;
    const auto user = UserOf(Table::kDeltas, ViewOf(key));
    if (!user || !rules_->Knows(user->filter)) return Decision::kKeep;
    // What doesn't decode is kept: the next read or merge of it reports it.
    auto delta = DecodeDelta(ViewOf(value));
    if (!delta) return Decision::kKeep;
    const size_t segments = delta->segments.size();
    const size_t removals = delta->removals.size();
    const bool erased = delta->erased.has_value();
    Expire(*delta, rules_->HorizonOf(user->filter));
    if (IsEmpty(*delta)) return Decision::kRemove;
    if (delta->segments.size() == segments && delta->removals.size() == removals &&
        delta->erased.has_value() == erased) {
      return Decision::kKeep;
    }
    new_value->clear();
    EncodeDelta(*delta, *new_value);
    return Decision::kChangeValue;
  }

 private:
  const std::shared_ptr<const MergeRules> rules_;
};

class ExpiryFilterFactory final : public rocksdb::CompactionFilterFactory {
 public:
  explicit ExpiryFilterFactory(std::shared_ptr<const MergeRules> rules) : rules_(std::move(rules)) {}

  const char* Name() const override { return "seen.ExpiryFactory"; }
  std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
      const rocksdb::CompactionFilter::Context&) override {
    return std::make_unique<ExpiryFilter>(rules_);
  }

 private:
  const std::shared_ptr<const MergeRules> rules_;
};

}  // namespace

std::shared_ptr<rocksdb::MergeOperator> MakeDeltaMergeOperator(std::shared_ptr<const MergeRules> rules) {
  return std::make_shared<DeltaMergeOperator>(std::move(rules));
}

std::shared_ptr<rocksdb::CompactionFilterFactory> MakeExpiryFilterFactory(
    std::shared_ptr<const MergeRules> rules) {
  return std::make_shared<ExpiryFilterFactory>(std::move(rules));
}

}  // namespace seen
