#pragma once
// Reads lists of ids, as nearly all clients write them, in one pass and without a copy.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace seen {

/// A member that is true or false, beside the lists.
struct PlainSwitch {
  std::string_view name;
  bool given = false;
  bool on = false;
};

/// Reads `{"items":["a",7,{"id":"b","created_at":1763700000000}],"also_seen":["c"]}`: the ids under names[i]
/// go to lists[i], as views into `text`. given[i] says whether the name was there. In the first list an id
/// may be an object that also has the item's creation time, in ms since the epoch. `created_seconds` gets the
/// second of each id of that list, 0 if it is unknown. It stays empty if no id has a time.
/// False: `text` isn't such an object in plain JSON. Causes are escapes, another name, a name twice, and
/// another kind of value. Others are an id of 0 or more than kIdBytesMax bytes, a time that 32 bits of
/// seconds don't hold, and more than `ids_max` in a list. Then the lists mean nothing, and another reader
/// must say what is wrong. Pure, any thread.
bool ReadPlainLists(std::string_view text, size_t ids_max, std::span<const std::string_view> names,
                    std::span<std::vector<std::string_view>> lists, std::span<bool> given,
                    std::vector<uint32_t>& created_seconds, PlainSwitch& also);

}  // namespace seen
