#pragma once
// What one tail adds to the search for items that were served and never shown: served items with the text to
// publish, and exposures, which resolve them. The partition's worker is the only writer. The rest is for the
// checkpoint, once the tail is frozen.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "flow/store_port.h"
#include "model/delta.h"
#include "model/event.h"
#include "model/hashes.h"

namespace seen {

/// When a served item that wasn't exposed is published. A bucket is `width_s` seconds.
struct UnexposedPolicy {
  uint32_t width_s = 300;  // a sixth of the longest filters[].served_ttl_s
  uint32_t grace_s = 600;

  uint32_t BucketOf(int64_t second) const { return static_cast<uint32_t>(second / width_s); }
  /// After this second of partition time, nothing resolves an item that was served in `bucket`. It is the
  /// bucket's end, plus the TTL and the grace.
  int64_t DueOf(uint32_t bucket) const { return (int64_t{bucket} + 1 + kServedWidths) * width_s + grace_s; }
};

class UnexposedLog {
 public:
  explicit UnexposedLog(const UnexposedPolicy& policy) : policy_(policy) {}

  /// `text`: see UnexposedText. `place`: of the item in its event.
  void AddServed(const UserKey& user, Fingerprint item, int64_t served_second, int64_t offset, uint16_t place,
                 std::string_view text);
  /// `partition_second`: the greatest record timestamp up to the exposure's own record, included.
  void AddExposed(const UserKey& user, Fingerprint item, int64_t exposed_second, int64_t partition_second);
  /// What was served to the user before is no longer published.
  void AddErased(const UserKey& user);
  uint64_t bytes() const { return bytes_; }

  /// Brings everything that was added into the store's order. Call it once, before the functions below.
  void Sort();
  /// One user's exposures as a delta, ascending by user.
  struct Resolved {
    UserKey user;
    Delta delta;
  };
  std::vector<Resolved> ResolvedUsers() const;
  /// Ascending. `from` and `length` give the text, see TextOf.
  struct Served {
    ServedRow row;
    uint64_t from = 0;
    uint32_t length = 0;
  };
  const std::vector<Served>& served() const { return served_; }
  std::string_view TextOf(const Served& served) const {
    return std::string_view(texts_).substr(served.from, served.length);
  }
  /// Ascending, each once.
  const std::vector<UserKey>& erased() const { return erased_; }

 private:
  struct Exposed {
    UserKey user;
    Fingerprint item;
    uint32_t bucket;
    uint32_t after_s;  // partition time, from the bucket's start
  };

  const UnexposedPolicy policy_;
  std::vector<Served> served_;
  std::string texts_;
  std::vector<Exposed> exposed_;
  std::vector<UserKey> erased_;
  uint64_t bytes_ = 0;
};

/// What is kept of a served item: when and to whom it was served, and the JSON that is published if it isn't
/// shown.
std::string UnexposedText(std::string_view user_id, std::string_view item_id, TimeMs served_at,
                          std::string_view scene, const ItemDetails& details, std::string_view request_id);
struct UnexposedParts {
  TimeMs served_at;
  std::string_view user_id;
  std::string_view json;
};
/// kCorrupt for what UnexposedText can't have made.
Result<UnexposedParts> SplitUnexposedText(std::string_view text);

}  // namespace seen
