#include "binary/schema_book.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/log.h"
#include "base/threads.h"

namespace seen {
namespace {
using Kind = SchemaProblem::Kind;
constexpr std::chrono::minutes kConcerns{10};
constexpr size_t kIdsShown = 5;

std::string IdsText(const std::vector<uint32_t>& ids) {
  const std::vector<uint32_t> shown(ids.begin(),
                                    ids.begin() + static_cast<ptrdiff_t>(std::min(ids.size(), kIdsShown)));
  return fmt::format("{}{}", fmt::join(shown, ", "), shown.size() < ids.size() ? ", ..." : "");
}
}  // namespace

SchemaBook::SchemaBook(Options options) : options_(std::move(options)) {}

SchemaBook::~SchemaBook() {
  std::thread asks;
  {
    const MutexLock lock(mutex_);
    stops_ = true;
    asks.swap(asks_);
    changed_.NotifyAll();
  }
  if (options_.stop_fetching) options_.stop_fetching();
  if (asks.joinable()) asks.join();
}

SchemaBook::Answer SchemaBook::Find(uint32_t id, MissingSchema missing) {
  // Registries count from 1, in 31 bits. Some call another number a bad question.
  if (id == 0 || id > static_cast<uint32_t>(std::numeric_limits<int32_t>::max())) {
    return {nullptr,
            {Kind::kUnusable,
             "no registry has such an id; are there other bytes before the event, such as an id of eight?"},
            true};
  }
  const MutexLock lock(mutex_);
  const Instant now = clock_.Now();
  if (!entries_.contains(id) && entries_.size() >= kIdsMax && !MakeRoom())
    return {nullptr, {Kind::kUnusable, fmt::format("the topic has more than {} schemas", kIdsMax)}, true};
  const auto [found, is_new] = entries_.try_emplace(id);
  Entry& entry = found->second;
  if (is_new) entry.due = now;
  entry.asked = now;
  if (entry.answer.is_final && entry.answer.problem.kind == Kind::kUnknown && now >= entry.due)
    entry.wanted = true;
  if (entry.wanted) {
    if (!asks_.joinable()) asks_ = std::thread([this] { Run(); });
    changed_.NotifyAll();
  }
  const Instant until = now + options_.wait_max;
  // The entry may be dropped to make room while this waits.
  while (missing == MissingSchema::kWait && entries_.contains(id) && !entries_[id].answer.is_final &&
         clock_.Now() < until) {
    (void)changed_.WaitUntil(mutex_, std::chrono::steady_clock::now() + options_.retry);
  }
  return entries_[id].answer;
}

void SchemaBook::Refuse(uint32_t id, const FormatError& error, bool whole) {
  const MutexLock lock(mutex_);
  entries_[id].asked = clock_.Now();
  Answer& answer = entries_[id].answer;
  if (answer.schema == nullptr || !answer.problem.message.empty()) return;
  log::Error("a schema doesn't fit the configuration; its records become dead letters",
             {{"schema", id}, {"field", error.path}, {"reason", error.message}});
  answer.problem = {Kind::kUnusable, error.message, error.path};
  if (whole) answer.schema = nullptr;
}

// Forgets ids that the registry doesn't know.
bool SchemaBook::MakeRoom() {
  return std::erase_if(entries_, [](const auto& each) {
           return each.second.answer.is_final && each.second.answer.problem.kind == Kind::kUnknown;
         }) > 0;
}

std::map<uint32_t, SchemaBook::Entry>::iterator SchemaBook::Next() {
  auto next = entries_.end();
  for (auto each = entries_.begin(); each != entries_.end(); ++each) {
    if (each->second.wanted && (next == entries_.end() || each->second.due < next->second.due)) next = each;
  }
  return next;
}

void SchemaBook::Run() {
  NameThread("schemas");
  MutexLock lock(mutex_);
  while (!stops_) {
    const auto next = Next();
    const Instant now = clock_.Now();
    if (next == entries_.end() || next->second.due > now) {
      const auto wait =
          next == entries_.end() ? std::chrono::nanoseconds(std::chrono::hours(1)) : next->second.due - now;
      (void)changed_.WaitUntil(mutex_, std::chrono::steady_clock::now() + wait);
      continue;
    }
    const uint32_t id = next->first;
    lock.unlock();
    auto answer = options_.fetch(id);
    lock.lock();
    if (stops_) return;
    Note(id, entries_[id], std::move(answer));
    changed_.NotifyAll();
  }
}

void SchemaBook::Note(uint32_t id, Entry& entry, tl::expected<WriterSchemaPointer, SchemaProblem> answer) {
  const Instant now = clock_.Now();
  if (answer) {
    log::Info("schema learned", {{"schema", id}, {"registry", options_.registry}});
    entry.answer = {std::move(*answer), {}, true};
    entry.wanted = false;
    return;
  }
  SchemaProblem& problem = answer.error();
  if (problem.kind == Kind::kAway) {
    if (log_budget_.Allow(now))
      log::Error("the schema registry doesn't answer; records of new schemas wait",
                 {{"schema", id}, {"reason", problem.message}});
    entry.due = now + options_.retry;
    if (!entry.answer.is_final) entry.answer.problem = std::move(problem);
    return;
  }
  if (problem.kind == Kind::kUnusable) {
    log::Error("a schema can't be used; its records become dead letters",
               {{"schema", id}, {"reason", problem.message}});
    entry.answer = {nullptr, std::move(problem), true};
    entry.wanted = false;
    return;
  }
  if (entry.unknown_since == Instant{}) entry.unknown_since = now;
  const bool has_waited = now - entry.unknown_since >= options_.unknown_after;
  const bool was_final = entry.answer.is_final;
  const bool is_final = was_final || has_waited || now < no_wait_until_;
  entry.answer = {nullptr, std::move(problem), is_final};
  entry.wanted = !is_final;
  entry.due = now + (has_waited ? options_.unknown_again : options_.retry);
  if (!is_final || was_final) return;
  if (has_waited) no_wait_until_ = now + options_.unknown_again;
  if (log_budget_.Allow(now))
    log::Error("the schema registry doesn't know a schema; its records become dead letters",
               {{"schema", id}, {"registry", options_.registry}});
}

std::vector<std::string> SchemaBook::Troubles() const {
  const MutexLock lock(mutex_);
  const Instant now = clock_.Now();
  std::vector<std::string> troubles;
  std::vector<uint32_t> awaited, not_found, unknown, unusable;
  std::string away, why;  // of the first id each
  for (const auto& [id, entry] : entries_) {
    if (now - entry.asked > kConcerns) continue;
    const SchemaProblem& problem = entry.answer.problem;
    if (entry.answer.is_final && problem.message.empty()) continue;
    if (!entry.answer.is_final) {
      if (problem.kind != Kind::kUnknown && away.empty()) away = problem.message;
      (problem.kind == Kind::kUnknown ? not_found : awaited).push_back(id);
    } else if (problem.kind == Kind::kUnknown) {
      unknown.push_back(id);
    } else {
      if (unusable.empty()) why = problem.path + (problem.path.empty() ? "" : ": ") + problem.message;
      unusable.push_back(id);
    }
  }
  if (!away.empty())
    troubles.push_back(
        fmt::format("the schema registry doesn't answer, so records of schemas {} wait, and all behind "
                    "them: {}",
                    IdsText(awaited), away));
  if (!not_found.empty())
    troubles.push_back(
        fmt::format("the schema registry {} doesn't know schemas {} yet. Their records wait for at most {} "
                    "s, and all behind them",
                    options_.registry, IdsText(not_found),
                    std::chrono::duration_cast<std::chrono::seconds>(options_.unknown_after).count()));
  if (!unknown.empty())
    troubles.push_back(
        fmt::format("the schema registry {} doesn't know schemas {}, so their records become dead "
                    "letters: is it the registry that the producers use (input.schema_registry.url)?",
                    options_.registry, IdsText(unknown)));
  if (!unusable.empty())
    troubles.push_back(fmt::format("records of schemas {} become dead letters. Schema {}: {}",
                                   IdsText(unusable), unusable.front(), why));
  return troubles;
}

}  // namespace seen
