#include "rocks/listener.h"

#include <cstdarg>
#include <cstring>
#include <utility>

#include "base/log.h"
#include "base/log_budget.h"
#include "base/threads.h"

namespace seen {
namespace {

// These warnings call for no action and no setting. For every ingested file RocksDB warns that it has no
// unique ID yet and that the size of its tail isn't known. At every checkpoint of its own, RocksDB warns that
// it keeps files for two reasons at once.
bool IsIdle(const char* format) {
  for (const char* const text :
       {"without unique ID", "Tail prefetch size", "File Deletions Disabled", "File Deletions Enable"}) {
    if (std::strstr(format, text)) return true;
  }
  return false;
}

class RocksLogger final : public rocksdb::Logger {
 public:
  explicit RocksLogger(int32_t partition)
      : Logger(rocksdb::InfoLogLevel::WARN_LEVEL), partition_(partition) {}

  using rocksdb::Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    Logv(rocksdb::InfoLogLevel::WARN_LEVEL, format, arguments);
  }
  void Logv(const rocksdb::InfoLogLevel level, const char* format, va_list arguments) override {
    // HEADER_LEVEL is above the errors: it lists the options at every open.
    if (level < rocksdb::InfoLogLevel::WARN_LEVEL || level >= rocksdb::InfoLogLevel::HEADER_LEVEL) return;
    if (IsIdle(format) || !budget_.Allow()) return;
    char text[512];
    std::vsnprintf(text, sizeof text, format, arguments);
    const auto write = level == rocksdb::InfoLogLevel::WARN_LEVEL ? log::Level::kWarning : log::Level::kError;
    if (partition_ == kGroupTable) {
      log::Write(write, "rocksdb", {{"of", "groups"}, {"message", static_cast<const char*>(text)}});
    } else {
      log::Write(write, "rocksdb", {{"partition", partition_}, {"message", static_cast<const char*>(text)}});
    }
  }

 private:
  const int32_t partition_;
  LogBudget budget_;
};

class CompactionYielder final : public rocksdb::EventListener {
 public:
  const char* Name() const override { return "seen.CompactionYielder"; }
  // Runs on the thread that compacts. RocksDB itself offers only the priorities 0 and 19.
  void OnCompactionBegin(rocksdb::DB*, const rocksdb::CompactionJobInfo&) override {
    thread_local bool yields = false;
    if (!std::exchange(yields, true)) YieldToOtherThreads();
  }
};

bool IsHard(const rocksdb::Status& error) {
  return error.severity() >= rocksdb::Status::Severity::kHardError;
}

}  // namespace

std::shared_ptr<rocksdb::EventListener> MakeCompactionYielder() {
  return std::make_shared<CompactionYielder>();
}

void BackgroundErrors::OnBackgroundError(rocksdb::BackgroundErrorReason, rocksdb::Status* error) {
  if (IsHard(*error)) {
    const MutexLock lock(mutex_);
    stopped_ = *error;
  }
  log::Error(
      "the store failed in the background",
      {{"partition", partition_}, {"takes_checkpoints", !IsHard(*error)}, {"error", error->ToString()}});
}

void BackgroundErrors::OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status error,
                                            bool* auto_recovery) {
  // The next checkpoint retries at once; RocksDB would retry only every 5 s.
  if (IsHard(error)) *auto_recovery = false;
}

void BackgroundErrors::OnErrorRecoveryEnd(const rocksdb::BackgroundErrorRecoveryInfo& info) {
  if (info.new_bg_error.ok())
    log::Info("the store works in the background again", {{"partition", partition_}});
}

rocksdb::Status BackgroundErrors::Stopped() const {
  const MutexLock lock(mutex_);
  return stopped_;
}

void BackgroundErrors::Clear() {
  const MutexLock lock(mutex_);
  stopped_ = rocksdb::Status::OK();
}

std::shared_ptr<rocksdb::Logger> MakeRocksLogger(int32_t partition) {
  return std::make_shared<RocksLogger>(partition);
}

}  // namespace seen
