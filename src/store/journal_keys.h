#pragma once
// Names of the journal's column families, and keys in them: schemas/store.md, "Journal".

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "flow/journal_port.h"
#include "model/hashes.h"

namespace seen {

/// "journal-20000".
std::string JournalFamilyName(Day day);
/// nullopt for anything JournalFamilyName doesn't return.
std::optional<Day> DayOfJournalFamily(std::string_view name);

inline constexpr size_t kJournalUserBytes = 16;  // what a user's keys begin with
inline constexpr size_t kJournalKeyBytes = kJournalUserBytes + 4 + 8;
using JournalKey = std::array<char, kJournalKeyBytes>;
/// A key in the family of DayOf(place.at). Bytewise order: users, then places, newest first.
JournalKey JournalKeyOf(const UserKey& user, const JournalPlace& place);
/// The place of `key`, which is in the family of `day`. nullopt: `key` isn't such a key.
std::optional<JournalPlace> JournalPlaceOf(Day day, std::string_view key);

// The range of a user's keys in a family: from Begin on, below End.
std::string JournalUserBegin(const UserKey& user);
std::string JournalUserEnd(const UserKey& user);

/// The value under JournalStartKey.
std::string EncodeJournalStart(Day day);
Result<Day> DecodeJournalStart(std::string_view bytes);

}  // namespace seen
