#include "flow/replica_letters.h"

#include <utility>

namespace seen {

void ReplicaLetters::DropFirst(Letters& letters) const {
  bytes_ -= letters.front().bytes();
  letters.pop_front();
}

void ReplicaLetters::Keep(const DeadLetter& letter) {
  Letters& letters = kept_[letter.partition];
  const int64_t published_to = owner_.PublishedTo(letter.partition);
  while (!letters.empty() && letters.front().record.offset < published_to) DropFirst(letters);
  // If a record is read again, its letter is kept already.
  if (!letters.empty() && letters.back().record.offset >= letter.record->offset) return;
  Kept kept{letter.rejection, *letter.record, std::string(letter.record->key),
            std::string(letter.record->value)};
  kept.record.message = nullptr;
  bytes_ += kept.bytes();
  letters.push_back(std::move(kept));
  while (bytes_ > kBytesMax && !letters.empty()) DropFirst(letters);
}

bool ReplicaLetters::SendKept(int32_t partition, Letters& letters) const {
  for (; !letters.empty(); DropFirst(letters)) {
    Kept& kept = letters.front();
    kept.record.key = kept.key;
    kept.record.value = kept.value;
    if (!sink_.TrySend({kept.rejection, partition, &kept.record})) return false;
  }
  return true;
}

bool ReplicaLetters::TrySend(const DeadLetter& letter) {
  const MutexLock lock(mutex_);
  if (!owner_.IsThisGroup()) {
    Keep(letter);
    return true;
  }
  const auto kept = kept_.find(letter.partition);
  return (kept == kept_.end() || SendKept(letter.partition, kept->second)) && sink_.TrySend(letter);
}

int64_t ReplicaLetters::OldestUnacknowledged(int32_t partition) const {
  const MutexLock lock(mutex_);
  const auto kept = kept_.find(partition);
  if (owner_.IsThisGroup() && kept != kept_.end() && !SendKept(partition, kept->second))
    return kept->second.front().record.offset;
  return sink_.OldestUnacknowledged(partition);
}

void ReplicaLetters::Forget(int32_t partition) {
  const MutexLock lock(mutex_);
  if (const auto kept = kept_.find(partition); kept != kept_.end()) {
    while (!kept->second.empty()) DropFirst(kept->second);
  }
  sink_.Forget(partition);
}

}  // namespace seen
