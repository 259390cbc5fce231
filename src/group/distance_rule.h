#pragma once
// How near two SimHashes have to be for their items to be compared.

#include "group/item_features.h"

namespace seen {

/// The greatest distance at which items of these classes are candidates: at most `configured` (0 to 3). -1:
/// no item is a candidate. For a pair of different classes the smaller distance counts.
int DistanceMax(int configured, LengthClass length, ScriptClass script);

}  // namespace seen
