#pragma once
// The fingerprints of a user's similar set. They have domains of their own, so that the removal of one item
// never takes back what another seen item recorded. schemas/snapshot.md, "What is similar".

#include "model/fingerprint.h"

namespace seen {

/// For an item that is near a seen item: the upper half of XXH64(the fingerprint's four bytes, then 0x01).
Fingerprint NearFingerprintOf(Fingerprint item);
/// For a group that has a seen item: likewise of the group id's fingerprint, then 0x02.
Fingerprint GroupFingerprintOf(Fingerprint group);

}  // namespace seen
