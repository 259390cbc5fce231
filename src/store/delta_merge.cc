#include "store/delta_merge.h"

#include <deque>
#include <string>
#include <vector>

#include "model/delta_fold.h"
#include "rows/keys.h"

namespace seen {
namespace {

std::string_view ViewOf(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

class DeltaMergeOperator final : public rocksdb::MergeOperator {
 public:
  explicit DeltaMergeOperator(std::shared_ptr<const MergeRules> rules) : rules_(std::move(rules)) {}

  const char* Name() const override { return "seen.DeltaMerge.1"; }

  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    std::vector<std::string_view> parts;
    parts.reserve(in.operand_list.size() + 1);
    if (in.existing_value != nullptr) parts.push_back(ViewOf(*in.existing_value));
    for (const rocksdb::Slice& operand : in.operand_list) parts.push_back(ViewOf(operand));
    return Fold(in.key, parts, out->new_value);
  }

  bool PartialMergeMulti(const rocksdb::Slice& key, const std::deque<rocksdb::Slice>& operands,
                         std::string* new_value, rocksdb::Logger*) const override {
    std::vector<std::string_view> parts;
    parts.reserve(operands.size());
    for (const rocksdb::Slice& operand : operands) parts.push_back(ViewOf(operand));
    return Fold(key, parts, *new_value);
  }

 private:
  bool Fold(const rocksdb::Slice& key, const std::vector<std::string_view>& parts, std::string& out) const {
    const auto user = UserOf(Table::kDeltas, ViewOf(key));
    if (!user || !rules_->Knows(user->filter)) return false;
    return FoldEncoded(parts, rules_->LimitsOf(user->filter), rules_->HorizonOf(user->filter), out);
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
    // Bytes that aren't a delta stay: their next read or merge reports them.
    switch (ExpireEncoded(ViewOf(value), rules_->HorizonOf(user->filter), *new_value)) {
      case Expired::kEverything:
        return Decision::kRemove;
      case Expired::kSomething:
        return Decision::kChangeValue;
      case Expired::kNothing:
        break;
    }
    return Decision::kKeep;
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
