#pragma once
// Lists of ids as nearly all clients write them, read in one pass and without a copy.

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

/// `{"items":["a",7,{"id":"b","created_at":1763700000000}],"also_seen":["c"]}`: the ids under each of `names`
/// to the list of the same place, as views into `text`; `given[i]` tells whether the name was there. In the
/// first list an id may be an object that also says when the item was created, in ms since the epoch:
/// `created_seconds` gets the second of each of its ids, 0 where it isn't known, and stays empty where none
/// is. False for whatever isn't such an object in plain JSON (escapes, another name, a name twice, an id of 0
/// or more than kIdBytesMax bytes, a time that 32 bits of seconds don't hold, another kind of value, more
/// than `ids_max` in a list): the lists mean nothing then, and why it isn't is for another reader to say.
/// Pure, any thread.
bool ReadPlainLists(std::string_view text, size_t ids_max, std::span<const std::string_view> names,
                    std::span<std::vector<std::string_view>> lists, std::span<bool> given,
                    std::vector<uint32_t>& created_seconds, PlainSwitch& also);

}  // namespace seen
