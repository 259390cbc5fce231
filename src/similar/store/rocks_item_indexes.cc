#include "similar/store/rocks_item_indexes.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "base/durable_file.h"
#include "base/log.h"
#include "rocks/rocks_status.h"
#include "similar/store/candidate_lister.h"

namespace seen {

Result<std::unique_ptr<RocksItemIndex>> RocksItemIndex::Open(ItemIndexOptions options) {
  std::unique_ptr<RocksItemIndex> index(new RocksItemIndex(std::move(options)));
  if (Status opened = index->database_.Open(); !opened) return Fail(opened.error());
  index->checkpoint_.RemoveUnfinished();
  return index;
}

Status RocksItemIndex::Candidates(const CandidateQuery& query, uint32_t entries_max,
                                  CandidateLists& out) const {
  thread_local CandidateLister lister;
  return lister.List(reader_, query, entries_max, out);
}

// A failed change is half done in memory: from now on only what is on disk counts.
Status RocksItemIndex::Stop(const rocksdb::Status& status, std::string_view action) {
  unsaved_bytes_.store(tail_.tail.bytes(), std::memory_order_relaxed);
  if (status.ok()) return {};
  stopped_ = ToError(status, database_.What(action));
  return Fail(*stopped_);
}

Status RocksItemIndex::Write(const IndexChange& change) {
  if (stopped_) return Fail(*stopped_);
  return Stop(writer_.Write(change), "can't write");
}

Status RocksItemIndex::Checkpoint(const IndexPosition& position, int32_t first_bucket) {
  if (stopped_) return Fail(*stopped_);
  rocksdb::Status done = checkpoint_.Write(position);
  // Drops buckets only now: a replay from the last checkpoint would have needed them.
  if (done.ok()) done = database_.Drop(first_bucket);
  return Stop(done, "checkpoint");
}

Status RocksItemIndexes::Prepare() {
  const std::string& directory = options_.directory;
  const std::string path = directory + "/log";
  const std::string expected = options_.topic + "\t" + std::to_string(options_.partitions) + "\n";
  misfit_.reset();
  if (Status made = MakeFolder(directory); !made) return made;
  std::string stored;
  {
    std::ifstream file(path, std::ios::binary);
    stored.assign(std::istreambuf_iterator<char>(file), {});
  }
  if (stored == expected) return {};
  if (!stored.empty()) {
    std::string of = stored.substr(0, stored.find('\n'));
    std::replace(of.begin(), of.end(), '\t', ' ');
    const std::string what = "the indexes in " + directory + " are of topic and partitions \"" + of +
                             "\", but items are now read from \"" + options_.topic + " " +
                             std::to_string(options_.partitions) + "\"";
    if (!options_.rebuild) {
      misfit_ = Error{Code::kRefused, what +
                                          ". Remedy: give items.topic its partitions and name back, or start "
                                          "once with --rebuild to drop the indexes and read from the "
                                          "earliest record"};
      return {};
    }
    log::Warning("indexes of items dropped", {{"reason", what}});
    std::error_code failed;
    std::filesystem::remove_all(directory, failed);
    if (failed) return Fail(FileError(failed.value(), "can't remove", directory));
    if (Status made = MakeFolder(directory); !made) return made;
  }
  return WriteDurably(path, expected);
}

Result<ItemIndexes::Opened> RocksItemIndexes::Open(int32_t partition) {
  if (misfit_) return Fail(*misfit_);
  // Each index gets an equal share, because any daemon may come to own all of them.
  auto index =
      RocksItemIndex::Open({.directory = options_.directory,
                            .partition = partition,
                            .generation = options_.generation,
                            .kept = options_.rebuild ? KeptSettings{} : options_.kept,
                            .idf = options_.idf,
                            .idf_text = options_.idf_text,
                            .resources = *options_.resources,
                            .presence_bytes_max = options_.presence_bytes_max /
                                                  static_cast<uint64_t>(std::max(1, options_.partitions))});
  if (!index) return Fail(std::move(index.error()));
  std::shared_ptr<const IdfTable> idf = (*index)->idf();
  if (options_.rebuild && idf->version() != options_.idf->version())
    return Fail(Code::kRefused, PathOf(partition) + ": built with another items.idf_file");
  auto features = FeatureOptionsOf((*index)->generation(), std::move(idf));
  if (!features) return Fail(Code::kCorrupt, PathOf(partition) + ": " + features.error().message);
  const IndexGeneration& generation = (*index)->generation();
  const SimilarMethod method = generation.method;
  const double containment_min = generation.containment_min;
  return Opened{std::move(*index), std::move(*features), method, containment_min};
}

Status RocksItemIndexes::Remove(int32_t partition) {
  if (misfit_) return Fail(*misfit_);
  return RocksItemIndex::Remove(options_.directory, partition);
}

std::string RocksItemIndexes::PathOf(int32_t partition) const {
  return RocksItemIndex::PathOf(options_.directory, partition);
}

}  // namespace seen
