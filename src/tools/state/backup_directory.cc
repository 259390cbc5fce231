#include "tools/state/backup_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "tools/read_files.h"

namespace seen {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void Refuse(const Json& object, const std::string& why) {
  throw Json::other_error::create(501, why, &object);
}

// Throws if there is no format.
Status CheckFormat(const Json& object, std::string_view what) {
  const int format = object.at("format").get<int>();
  if (format <= kBackupFormat) return {};
  return Fail(Code::kRefused, fmt::format("{}: format {}, and this seenctl knows formats up to {}. Remedy: "
                                          "use the seenctl that made the backups, or a newer one",
                                          what, format, kBackupFormat));
}

Hash128 HashAt(const Json& object, const char* field) {
  const auto hash = HashFromHex(object.at(field).get<std::string>());
  if (!hash) Refuse(object, std::string(field) + ": not 32 hexadecimal digits");
  return *hash;
}

// Checks the name, because it becomes part of a path.
std::string NameAt(const Json& object) {
  auto name = object.at("name").get<std::string>();
  if (name.empty() || name.starts_with('.') || name.find('/') != std::string::npos)
    Refuse(object, "name: not a file's name");
  return name;
}

Json PartitionToJson(const BackedUpPartition& partition) {
  Json json = {{"partition", partition.partition}, {"files", Json::array()}};
  for (const BackupFile& file : partition.files) {
    json["files"].push_back({{"name", file.name},
                             {"bytes", file.bytes},
                             {"xxh3", ToHex(file.checksum)},
                             {"tail_xxh3", ToHex(file.tail)}});
  }
  return json;
}

BackedUpPartition PartitionFromJson(const Json& json) {
  BackedUpPartition partition;
  partition.partition = json.at("partition").get<int32_t>();
  for (const Json& file : json.at("files")) {
    partition.files.push_back(
        {NameAt(file), file.at("bytes").get<uint64_t>(), HashAt(file, "xxh3"), HashAt(file, "tail_xxh3")});
  }
  return partition;
}

BackupManifest FromJson(const Json& json) {
  BackupManifest manifest;
  manifest.number = json.at("number").get<uint32_t>();
  manifest.made_at = {json.at("made_at_ms").get<int64_t>()};
  manifest.program = json.at("program").get<std::string>();
  manifest.instance = json.at("instance").get<std::string>();
  manifest.partitioner = json.at("partitioner").get<std::string>();
  auto report = StateReportFromJson(nlohmann::json(json.at("state")));
  if (!report) Refuse(json, report.error().message);
  manifest.report = std::move(*report);
  for (const Json& partition : json.at("files_of"))
    manifest.partitions.push_back(PartitionFromJson(partition));
  return manifest;
}

tl::unexpected<Error> Damaged(std::string_view why) {
  return Fail(Code::kCorrupt,
              fmt::format("manifest: {}. Remedy: use another backup, and check the disk", why));
}

}  // namespace

uint64_t BackupManifest::Files() const {
  uint64_t files = 0;
  for (const BackedUpPartition& partition : partitions) files += partition.files.size();
  return files;
}

uint64_t BackupManifest::Bytes() const {
  uint64_t bytes = 0;
  for (const BackedUpPartition& partition : partitions) {
    for (const BackupFile& file : partition.files) bytes += file.bytes;
  }
  return bytes;
}

std::string EncodeManifest(const BackupManifest& manifest) {
  Json json = {{"number", manifest.number},
               {"made_at_ms", manifest.made_at.value},
               {"program", manifest.program},
               {"instance", manifest.instance},
               {"partitioner", manifest.partitioner},
               {"state", StateReportToJson(manifest.report)},
               {"files_of", Json::array()}};
  for (const BackedUpPartition& partition : manifest.partitions)
    json["files_of"].push_back(PartitionToJson(partition));
  const Json whole = {{"format", kBackupFormat}, {"xxh3", ToHex(HashOf(JsonText(json)))}, {"manifest", json}};
  return JsonText(whole, 1) + "\n";
}

Result<BackupManifest> DecodeManifest(std::string_view text) {
  const Json whole = Json::parse(text, nullptr, false);
  if (!whole.is_object()) return Damaged("not a JSON object");
  try {
    if (Status known = CheckFormat(whole, "manifest"); !known) return Fail(known.error());
    const Json& json = whole.at("manifest");
    if (HashAt(whole, "xxh3") != HashOf(JsonText(json))) return Damaged("the checksum differs");
    return FromJson(json);
  } catch (const Json::exception& error) {
    return Damaged(error.what());
  }
}

namespace {

namespace fs = std::filesystem;

constexpr size_t kPieceBytes = 1 << 20;
constexpr uint64_t kTailBytes = 64 << 10;

/// Passes the file from `at` on to `take`, in pieces.
template <typename Take>
Status ReadFrom(const Descriptor& file, const std::string& path, uint64_t at, Take take) {
  std::vector<char> piece(kPieceBytes);
  for (;;) {
    const ssize_t count = ::pread(file.number(), piece.data(), piece.size(), static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Fail(FileError(errno, "can't read", path));
    if (count == 0) return {};
    if (Status taken = take(std::string_view(piece.data(), static_cast<size_t>(count))); !taken) return taken;
    at += static_cast<uint64_t>(count);
  }
}

Result<Hash128> HashFrom(const Descriptor& file, const std::string& path, uint64_t at) {
  ByteHash hash;
  const Status read = ReadFrom(file, path, at, [&](std::string_view piece) -> Status {
    hash.Add(piece);
    return {};
  });
  if (!read) return Fail(read.error());
  return hash.Finish();
}

// Reads from the disk if possible, not from memory.
Result<Hash128> HashOfFile(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return Fail(FileError(errno, "can't open", path));
  (void)::posix_fadvise(file.number(), 0, 0, POSIX_FADV_DONTNEED);
  return HashFrom(file, path, 0);
}

constexpr const char* kOwnerFile = "seen-backups.json";

std::string OwnerText(const BackupOwner& owner) {
  const Json json = {{"format", kBackupFormat},
                     {"topic", owner.topic},
                     {"partitioner", owner.partitioner},
                     {"partitions_total", owner.partitions_total},
                     {"instance", owner.instance}};
  return JsonText(json, 1) + "\n";
}

Result<BackupOwner> ReadOwner(const std::string& path) {
  const auto text = ReadWhole(path);
  if (!text) return Fail(text.error());
  const auto json = Json::parse(*text, nullptr, false);
  if (!json.is_object()) return Fail(Code::kCorrupt, path + ": not a JSON object");
  try {
    if (Status known = CheckFormat(json, path); !known) return Fail(known.error());
    return BackupOwner{json.at("topic").get<std::string>(), json.at("partitioner").get<std::string>(),
                       json.at("partitions_total").get<int32_t>(), json.at("instance").get<std::string>()};
  } catch (const Json::exception& error) {
    return Fail(Code::kCorrupt, fmt::format("{}: {}", path, error.what()));
  }
}

std::optional<uint32_t> NumberOf(const std::string& name) {
  constexpr std::string_view kSuffix = ".json";
  if (!name.ends_with(kSuffix)) return std::nullopt;
  uint32_t number = 0;
  const char* const end = name.data() + name.size() - kSuffix.size();
  const auto [at, error] = std::from_chars(name.data(), end, number);
  if (error != std::errc{} || at != end || number == 0 || name != std::to_string(number) + ".json")
    return std::nullopt;
  return number;
}

tl::unexpected<Error> CantList(const std::string& path, const std::error_code& code) {
  return Fail(Code::kUnavailable, fmt::format("can't list {}: {}", path, code.message()));
}

/// Identifies a file without reading all of it: by its size and a hash of its last 64 KiB. In an SST file
/// they hold the session that wrote the file, and its number there. So no two SST files share them.
Result<BackupFile> LookAt(const std::string& path, const std::string& name) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about = {};
  if (!file.is_open() || ::fstat(file.number(), &about) != 0)
    return Fail(FileError(errno, "can't open", path));
  BackupFile found;
  found.name = name;
  found.bytes = static_cast<uint64_t>(about.st_size);
  const auto tail = HashFrom(file, path, found.bytes - std::min(found.bytes, kTailBytes));
  if (!tail) return Fail(tail.error());
  found.tail = *tail;
  return found;
}

}  // namespace

Status CheckEmpty(std::string_view option, const std::string& path, const std::set<std::string>& may_have) {
  std::error_code code;
  if (!fs::exists(path, code)) return {};
  for (const fs::directory_entry& entry : fs::directory_iterator(path, code)) {
    const std::string name = entry.path().filename().string();
    if (may_have.contains(name)) continue;
    return Fail(Code::kRefused,
                fmt::format("{}: {} isn't empty: {} is in it. Remedy: name an empty or a new directory",
                            option, path, name));
  }
  return code ? CantList(path, code) : Status();
}

Result<Hash128> LinkOrCopy(const std::string& from, const std::string& to, bool may_link) {
  if (may_link && ::link(from.c_str(), to.c_str()) == 0) return HashOfFile(from);
  const Descriptor source(::open(from.c_str(), O_RDONLY | O_CLOEXEC));
  if (!source.is_open()) return Fail(FileError(errno, "can't open", from));
  const Descriptor target(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!target.is_open()) return Fail(FileError(errno, "can't make", to));
  ByteHash hash;
  const Status copied = ReadFrom(source, from, 0, [&](std::string_view piece) {
    hash.Add(piece);
    return WriteAll(target, to, piece);
  });
  if (!copied) return Fail(copied.error());
  if (Status synced = Sync(target, to); !synced) return Fail(synced.error());
  return hash.Finish();
}

Result<BackupDirectory> BackupDirectory::OpenToWrite(const std::string& path, const BackupOwner& owner) {
  std::error_code code;
  const std::string owner_path = path + "/" + kOwnerFile;
  if (!fs::exists(owner_path, code)) {
    // An interrupted first backup leaves these.
    const Status unused = CheckEmpty("--to", path, {"LOCK", std::string(kOwnerFile) + ".tmp"});
    if (!unused) return Fail(unused.error());
  }
  if (Status made = MakeFolder(path); !made) return Fail(made.error());
  auto lock = FileLock::Take(path + "/LOCK", true, false);
  if (!lock) return Fail(lock.error());
  BackupDirectory directory(path, std::move(*lock));
  if (!fs::exists(owner_path, code)) {
    if (Status written = WriteDurably(owner_path, OwnerText(owner)); !written) return Fail(written.error());
  }
  if (Status fits = directory.CheckOwner(owner); !fits) return Fail(fits.error());
  fs::remove_all(path + "/incoming", code);
  for (const char* const folder : {"/backups", "/files", "/incoming"}) {
    if (Status made = MakeFolder(path + folder); !made) return Fail(made.error());
  }
  if (Status learned = directory.LearnFiles(); !learned) return Fail(learned.error());
  return directory;
}

Result<BackupDirectory> BackupDirectory::OpenToRead(const std::string& path) {
  std::error_code code;
  if (!fs::exists(path + "/" + kOwnerFile, code))
    return Fail(Code::kNotFound,
                path + ": not a directory of backups. Name a directory that backup --to wrote");
  if (const auto owner = ReadOwner(path + "/" + kOwnerFile); !owner) return Fail(owner.error());
  return BackupDirectory(path, std::nullopt);
}

Status BackupDirectory::CheckOwner(const BackupOwner& owner) const {
  const auto stored = ReadOwner(path_ + "/" + kOwnerFile);
  if (!stored) return Fail(stored.error());
  if (*stored == owner) return {};
  return Fail(
      Code::kRefused,
      fmt::format(
          "--to: {} has backups of instance {}, topic {} with {} partitions ({}). The daemon is instance {}, "
          "topic {} with {} partitions ({}). Remedy: give each daemon and topic a directory of its own",
          path_, stored->instance, stored->topic, stored->partitions_total, stored->partitioner,
          owner.instance, owner.topic, owner.partitions_total, owner.partitioner));
}

// Skips a manifest that can't be read: its files are then read again.
Status BackupDirectory::LearnFiles() {
  const auto numbers = Numbers();
  if (!numbers) return Fail(numbers.error());
  for (const uint32_t number : *numbers) {
    const auto manifest = Read(number);
    if (!manifest) continue;
    for (const BackedUpPartition& partition : manifest->partitions) {
      for (const BackupFile& file : partition.files) known_[{file.bytes, ToHex(file.tail)}] = file.checksum;
    }
  }
  return {};
}

std::string BackupDirectory::ManifestPath(uint32_t number) const {
  return fmt::format("{}/backups/{}.json", path_, number);
}

std::string BackupDirectory::PathOf(const BackupFile& file) const {
  return fmt::format("{}/files/{}-{}", path_, ToHex(file.checksum), file.bytes);
}

Result<std::vector<uint32_t>> BackupDirectory::Numbers() const {
  std::vector<uint32_t> numbers;
  std::error_code code;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_ + "/backups", code)) {
    if (const auto number = NumberOf(entry.path().filename().string())) numbers.push_back(*number);
  }
  if (code && code != std::errc::no_such_file_or_directory) return CantList(path_ + "/backups", code);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

Result<BackupManifest> BackupDirectory::Read(uint32_t number) const {
  const std::string path = ManifestPath(number);
  const auto text = ReadWhole(path);
  if (!text) return Fail(Code::kNotFound, fmt::format("--backup: {} has no backup {}", path_, number));
  auto manifest = DecodeManifest(*text);
  if (!manifest) return Fail(manifest.error().code, fmt::format("{}: {}", path, manifest.error().message));
  return manifest;
}

Result<BackupManifest> BackupDirectory::ReadOrNewest(std::optional<uint32_t> number) const {
  if (number) return Read(*number);
  const auto numbers = Numbers();
  if (!numbers) return Fail(numbers.error());
  if (numbers->empty()) return Fail(Code::kNotFound, path_ + ": no backup in it is whole yet");
  return Read(numbers->back());
}

Result<BackupFile> BackupDirectory::Take(const std::string& path, const std::string& name, bool may_link,
                                         Added& added) {
  auto file = LookAt(path, name);
  if (!file) return file;
  std::error_code code;
  // Only SST files are never written again, and only SST files can be identified by their tails.
  const bool is_table = name.ends_with(".sst");
  const auto known = known_.find({file->bytes, ToHex(file->tail)});
  if (is_table && known != known_.end()) {
    file->checksum = known->second;
    if (fs::file_size(PathOf(*file), code) == file->bytes && !code) return file;
  }
  const std::string incoming = fmt::format("{}/incoming/{}", path_, ++incoming_made_);
  auto checksum = LinkOrCopy(path, incoming, is_table && may_link);
  if (!checksum) return Fail(checksum.error());
  file->checksum = *checksum;
  known_[{file->bytes, ToHex(file->tail)}] = *checksum;
  const std::string place = PathOf(*file);
  if (fs::file_size(place, code) == file->bytes && !code) {
    fs::remove(incoming, code);
    return file;
  }
  fs::rename(incoming, place, code);
  if (code) return Fail(Code::kUnavailable, fmt::format("can't rename to {}: {}", place, code.message()));
  ++added.files;
  added.bytes += file->bytes;
  return file;
}

Status BackupDirectory::Verify(const BackupFile& file) const {
  const std::string path = PathOf(file);
  const auto checksum = HashOfFile(path);
  if (!checksum) return Fail(checksum.error());
  if (*checksum == file.checksum) return {};
  return Fail(Code::kCorrupt, fmt::format("{}: its bytes have the checksum {}. Remedy: check the disk; "
                                          "delete the file, and make a new backup",
                                          path, ToHex(*checksum)));
}

Status BackupDirectory::Commit(BackupManifest& manifest) {
  const auto numbers = Numbers();
  if (!numbers) return Fail(numbers.error());
  manifest.number = numbers->empty() ? 1 : numbers->back() + 1;
  if (Status synced = SyncFolder(path_ + "/files"); !synced) return synced;
  return WriteDurably(ManifestPath(manifest.number), EncodeManifest(manifest));
}

Result<uint32_t> BackupDirectory::Keep(uint32_t count) {
  const auto numbers = Numbers();
  if (!numbers) return Fail(numbers.error());
  uint32_t gone = 0;
  std::error_code code;
  for (size_t i = 0; i + count < numbers->size(); ++i, ++gone) {
    if (!fs::remove(ManifestPath((*numbers)[i]), code) && code) {
      return Fail(Code::kUnavailable,
                  fmt::format("--keep: can't remove backup {}: {}", (*numbers)[i], code.message()));
    }
  }
  if (Status synced = SyncFolder(path_ + "/backups"); !synced) return Fail(synced.error());
  return gone;
}

Status BackupDirectory::RemoveUnnamed() const {
  const auto numbers = Numbers();
  if (!numbers) return Fail(numbers.error());
  std::set<std::string> named;
  for (const uint32_t number : *numbers) {
    const auto manifest = Read(number);
    if (!manifest) return Fail(manifest.error());
    for (const BackedUpPartition& partition : manifest->partitions) {
      for (const BackupFile& file : partition.files) named.insert(PathOf(file));
    }
  }
  std::error_code code;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_ + "/files", code)) {
    std::error_code removing;
    if (!named.contains(entry.path().string())) fs::remove(entry.path(), removing);
    if (removing)
      return Fail(Code::kUnavailable,
                  fmt::format("can't remove {}: {}", entry.path().string(), removing.message()));
  }
  if (code) return CantList(path_ + "/files", code);
  return {};
}

}  // namespace seen
