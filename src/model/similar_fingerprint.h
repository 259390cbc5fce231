#pragma once
// What a user's similar set holds beside what was seen: fingerprints in domains of their own, so that taking
// an item back never touches what was seen of another. schemas/snapshot.md, "What is similar".

#include "model/fingerprint.h"

namespace seen {

/// Of an item that is near one that was seen: the upper half of XXH64(the fingerprint's four bytes, then
/// 0x01).
Fingerprint NearFingerprintOf(Fingerprint item);
/// Of a group that has an item that was seen: likewise of the group id's fingerprint, then 0x02.
Fingerprint GroupFingerprintOf(Fingerprint group);

}  // namespace seen
