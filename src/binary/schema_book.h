#pragma once
// The schemas of a registry by their ids. A thread of the book asks for each once, so that no reader has to
// wait for the registry.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <tl/expected.hpp>
#include <vector>

#include "base/clock.h"
#include "base/log_budget.h"
#include "base/mutex.h"
#include "binary/writer_schema.h"

namespace seen {

/// Why there is no schema for an id.
struct SchemaProblem {
  enum class Kind : uint8_t {
    kAway,      // the registry gives no answer that counts: it is asked again
    kUnknown,   // it doesn't know the id: asked again for a while, because its copies may lag behind
    kUnusable,  // the schema can't be read, or the configured fields don't fit it
  };
  Kind kind = Kind::kAway;
  std::string message;    // for people, with the remedy
  std::string path = {};  // of kUnusable, if a field doesn't fit: "input.fields.user_id"
};

/// Any thread.
class SchemaBook {
 public:
  /// Asks the registry. The book's thread calls it.
  using Fetch = std::function<tl::expected<WriterSchemaPointer, SchemaProblem>(uint32_t id)>;

  struct Options {
    std::string registry;  // its address, for messages
    Fetch fetch;
    std::function<void()> stop_fetching;  // ends a fetch under way; any thread. Empty: none takes long
    std::chrono::milliseconds unknown_after{60'000};  // an id that stays unknown for so long is given up
    // It is asked for again after this time if a record has it still. Meanwhile no other unknown id is waited
    // for: garbage has many of them, and each would hold its partition.
    std::chrono::milliseconds unknown_again{600'000};
    std::chrono::milliseconds retry{500};
    std::chrono::milliseconds wait_max{60'000};  // of MissingSchema::kWait
  };
  static constexpr size_t kIdsMax = 10'000;

  explicit SchemaBook(Options options);
  ~SchemaBook();
  SchemaBook(const SchemaBook&) = delete;
  SchemaBook& operator=(const SchemaBook&) = delete;

  struct Answer {
    WriterSchemaPointer schema;  // nullptr: there is a problem
    SchemaProblem problem = {};  // without a message: none
    bool is_final = false;       // false: ask again
  };
  Answer Find(uint32_t id, MissingSchema missing);
  /// A reader finds that it can't read events of this schema; `whole` false: of a message of it.
  void Refuse(uint32_t id, const FormatError& error, bool whole);

  /// What hinders records from being read, as far as records of the last ten minutes concern it.
  std::vector<std::string> Troubles() const;

 private:
  struct Entry {
    Answer answer;
    bool wanted = true;  // to be asked for once `due`
    Instant due{};
    Instant unknown_since{};  // the registry's first answer that it doesn't know the id
    Instant asked{};          // by a reader, last
  };

  void Run();
  /// Whose turn it is; end: nobody's.
  std::map<uint32_t, Entry>::iterator Next() REQUIRES(mutex_);
  void Note(uint32_t id, Entry& entry, tl::expected<WriterSchemaPointer, SchemaProblem> answer)
      REQUIRES(mutex_);
  bool MakeRoom() REQUIRES(mutex_);

  const Options options_;
  const SystemClock clock_;
  mutable Mutex mutex_;
  ConditionVariable changed_;
  std::map<uint32_t, Entry> entries_ GUARDED_BY(mutex_);
  Instant no_wait_until_ GUARDED_BY(mutex_){};
  bool stops_ GUARDED_BY(mutex_) = false;
  std::thread asks_ GUARDED_BY(mutex_);  // begins with the first question
  LogBudget log_budget_;
};

}  // namespace seen
