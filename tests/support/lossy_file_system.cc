#include "support/lossy_file_system.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <random>
#include <set>

namespace seen::test {
namespace {

namespace fs = std::filesystem;
using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

std::string Normal(const std::string& path) {
  std::string normal = fs::path(path).lexically_normal().string();
  while (normal.size() > 1 && normal.back() == '/') normal.pop_back();
  return normal;
}
std::string ParentOf(const std::string& path) { return fs::path(path).parent_path().string(); }

// An inode. A link in the vault keeps the bytes as long as a crash may bring them back.
struct File {
  explicit File(std::string vault_path) : in_vault(std::move(vault_path)) {}
  ~File() { ::unlink(in_vault.c_str()); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  const std::string in_vault;
  uint64_t size = 0;
  uint64_t synced = 0;
};

// The entries of all folders, by path.
struct Tree {
  std::map<std::string, std::shared_ptr<File>> files;
  std::set<std::string> folders;
};

}  // namespace

struct LossyDisk::State {
  std::mutex mutex;  // guards all below
  std::string folder;
  std::string vault;
  uint64_t vault_next = 0;
  Tree live;
  Tree durable;
  uint64_t generation = 0;
  uint64_t operations = 0;
  std::optional<uint64_t> operations_left;
  std::optional<uint64_t> free_bytes;
  std::map<DiskOperation, uint64_t> failing;  // successes before the failure

  // Called before every operation that changes something. The caller holds the mutex.
  IOStatus Begin(DiskOperation operation, uint64_t mount) {
    if (mount != generation) return IOStatus::IOError("this mount's disk has crashed");
    if (operations_left && *operations_left == 0) return IOStatus::IOError("the power is off");
    if (const auto fails = failing.find(operation); fails != failing.end()) {
      if (fails->second-- == 0) {
        failing.erase(fails);
        return IOStatus::IOError("injected");
      }
    }
    if (operations_left) --*operations_left;
    ++operations;
    return IOStatus::OK();
  }

  std::shared_ptr<File> Register(const std::string& path) {
    auto file = std::make_shared<File>(vault + "/" + std::to_string(vault_next++));
    fs::create_hard_link(path, file->in_vault);
    live.files[path] = file;
    return file;
  }

  void Forget(const std::string& path) {
    const auto found = live.files.find(path);
    if (found == live.files.end()) return;
    const std::shared_ptr<File> file = found->second;
    live.files.erase(found);
    const bool linked = std::any_of(live.files.begin(), live.files.end(),
                                    [&](const auto& entry) { return entry.second == file; });
    if (free_bytes && !linked) *free_bytes += file->size;
  }

  void SyncFolder(const std::string& path) {
    const auto inside = [&](const std::string& entry) { return ParentOf(entry) == path; };
    std::erase_if(durable.files, [&](const auto& entry) { return inside(entry.first); });
    std::erase_if(durable.folders, inside);
    for (const auto& entry : live.files) {
      if (inside(entry.first)) durable.files.insert(entry);
    }
    for (const std::string& entry : live.folders) {
      if (inside(entry)) durable.folders.insert(entry);
    }
  }

  // If a folder's own entry is lost, everything in the folder is lost, too.
  bool Reachable(std::string path) const {
    for (path = ParentOf(path); path.size() > folder.size(); path = ParentOf(path)) {
      if (live.folders.contains(path) && !durable.folders.contains(path)) return false;
    }
    return true;
  }

  void Restore(uint64_t torn_seed) {
    std::mt19937_64 random(torn_seed);
    for (const auto& [path, file] : live.files) ::unlink(path.c_str());
    std::erase_if(durable.files, [&](const auto& entry) { return !Reachable(entry.first); });
    std::erase_if(durable.folders, [&](const std::string& path) { return !Reachable(path); });
    for (auto path = live.folders.rbegin(); path != live.folders.rend(); ++path) {
      if (!durable.folders.contains(*path)) fs::remove_all(*path);
    }
    for (const std::string& path : durable.folders) fs::create_directories(path);
    std::set<File*> files;
    for (const auto& [path, file] : durable.files) {
      fs::create_hard_link(file->in_vault, path);
      files.insert(file.get());
    }
    for (File* file : files) {
      const uint64_t lost = file->size - file->synced;
      if (torn_seed != 0 && lost > 0) file->synced += random() % (lost + 1);
      fs::resize_file(file->in_vault, file->synced);
      file->size = file->synced;
    }
    live = durable;
    operations_left.reset();
    failing.clear();
    ++generation;
  }
};

namespace {

using State = LossyDisk::State;

class LossyFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  LossyFile(std::unique_ptr<rocksdb::FSWritableFile> target, std::shared_ptr<State> state,
            std::shared_ptr<File> file, uint64_t mount)
      : FSWritableFileOwnerWrapper(std::move(target)),
        state_(std::move(state)),
        file_(std::move(file)),
        mount_(mount) {}

  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options, IODebugContext* debug) override {
    const std::lock_guard lock(state_->mutex);
    if (IOStatus begun = state_->Begin(DiskOperation::kWrite, mount_); !begun.ok()) return begun;
    const uint64_t fits = std::min<uint64_t>(data.size(), state_->free_bytes.value_or(UINT64_MAX));
    const IOStatus written =
        FSWritableFileOwnerWrapper::Append(rocksdb::Slice(data.data(), fits), options, debug);
    if (!written.ok()) return written;
    file_->size += fits;
    if (state_->free_bytes) *state_->free_bytes -= fits;
    return fits < data.size() ? IOStatus::NoSpace("injected") : IOStatus::OK();
  }
  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options, const rocksdb::DataVerificationInfo&,
                  IODebugContext* debug) override {
    return Append(data, options, debug);
  }
  IOStatus Truncate(uint64_t size, const IOOptions& options, IODebugContext* debug) override {
    const std::lock_guard lock(state_->mutex);
    if (IOStatus begun = state_->Begin(DiskOperation::kWrite, mount_); !begun.ok()) return begun;
    file_->size = size;
    file_->synced = std::min(file_->synced, size);
    return FSWritableFileOwnerWrapper::Truncate(size, options, debug);
  }
  IOStatus Sync(const IOOptions&, IODebugContext*) override {
    const std::lock_guard lock(state_->mutex);
    if (IOStatus begun = state_->Begin(DiskOperation::kSync, mount_); !begun.ok()) return begun;
    file_->synced = file_->size;  // no need to wait for the real disk
    return IOStatus::OK();
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override { return Sync(options, debug); }

 private:
  const std::shared_ptr<State> state_;
  const std::shared_ptr<File> file_;
  const uint64_t mount_;
};

class LossyFolder final : public rocksdb::FSDirectory {
 public:
  LossyFolder(std::string path, std::shared_ptr<State> state, uint64_t mount)
      : path_(std::move(path)), state_(std::move(state)), mount_(mount) {}

  IOStatus Fsync(const IOOptions&, IODebugContext*) override {
    const std::lock_guard lock(state_->mutex);
    if (IOStatus begun = state_->Begin(DiskOperation::kSyncFolder, mount_); !begun.ok()) return begun;
    state_->SyncFolder(path_);
    return IOStatus::OK();
  }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }

 private:
  const std::string path_;
  const std::shared_ptr<State> state_;
  const uint64_t mount_;
};

class LossyFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  LossyFileSystem(std::shared_ptr<State> state, uint64_t mount)
      : FileSystemWrapper(rocksdb::FileSystem::Default()), state_(std::move(state)), mount_(mount) {}

  const char* Name() const override { return "LossyFileSystem"; }

  IOStatus NewWritableFile(const std::string& name, const FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* result, IODebugContext* debug) override {
    const std::string path = Normal(name);
    const std::lock_guard lock(state_->mutex);
    if (IOStatus begun = state_->Begin(DiskOperation::kCreate, mount_); !begun.ok()) return begun;
    // Makes a new file instead of overwriting the old one, whose bytes a crash may bring back.
    ::unlink(path.c_str());
    state_->Forget(path);
    std::unique_ptr<rocksdb::FSWritableFile> real;
    if (IOStatus made = target()->NewWritableFile(path, options, &real, debug); !made.ok()) return made;
    *result = std::make_unique<LossyFile>(std::move(real), state_, state_->Register(path), mount_);
    return IOStatus::OK();
  }

  IOStatus ReopenWritableFile(const std::string& name, const FileOptions& options,
                              std::unique_ptr<rocksdb::FSWritableFile>* result,
                              IODebugContext* debug) override {
    const std::string path = Normal(name);
    std::shared_ptr<File> file;
    {
      const std::lock_guard lock(state_->mutex);
      if (const auto found = state_->live.files.find(path); found != state_->live.files.end())
        file = found->second;
    }
    if (!file) return NewWritableFile(name, options, result, debug);
    std::unique_ptr<rocksdb::FSWritableFile> real;
    if (IOStatus made = target()->ReopenWritableFile(path, options, &real, debug); !made.ok()) return made;
    *result = std::make_unique<LossyFile>(std::move(real), state_, std::move(file), mount_);
    return IOStatus::OK();
  }

  IOStatus ReuseWritableFile(const std::string&, const std::string&, const FileOptions&,
                             std::unique_ptr<rocksdb::FSWritableFile>*, IODebugContext*) override {
    return IOStatus::NotSupported("ReuseWritableFile");
  }
  IOStatus NewRandomRWFile(const std::string&, const FileOptions&, std::unique_ptr<rocksdb::FSRandomRWFile>*,
                           IODebugContext*) override {
    return IOStatus::NotSupported("NewRandomRWFile");
  }

  IOStatus NewDirectory(const std::string& name, const IOOptions& options,
                        std::unique_ptr<rocksdb::FSDirectory>* result, IODebugContext* debug) override {
    if (IOStatus made = target()->NewDirectory(name, options, result, debug); !made.ok()) return made;
    *result = std::make_unique<LossyFolder>(Normal(name), state_, mount_);
    return IOStatus::OK();
  }

  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* debug) override {
    const std::lock_guard lock(state_->mutex);
    if (IOStatus begun = state_->Begin(DiskOperation::kRename, mount_); !begun.ok()) return begun;
    if (IOStatus done = target()->RenameFile(from, to, options, debug); !done.ok()) return done;
    state_->Forget(Normal(to));
    if (auto moved = state_->live.files.extract(Normal(from))) {
      moved.key() = Normal(to);
      state_->live.files.insert(std::move(moved));
    }
    return IOStatus::OK();
  }

  IOStatus LinkFile(const std::string& from, const std::string& to, const IOOptions& options,
                    IODebugContext* debug) override {
    const std::lock_guard lock(state_->mutex);
    if (IOStatus begun = state_->Begin(DiskOperation::kLink, mount_); !begun.ok()) return begun;
    if (IOStatus done = target()->LinkFile(from, to, options, debug); !done.ok()) return done;
    if (const auto found = state_->live.files.find(Normal(from)); found != state_->live.files.end()) {
      state_->live.files[Normal(to)] = found->second;
    }
    return IOStatus::OK();
  }

  IOStatus DeleteFile(const std::string& name, const IOOptions& options, IODebugContext* debug) override {
    const std::lock_guard lock(state_->mutex);
    if (IOStatus begun = state_->Begin(DiskOperation::kDelete, mount_); !begun.ok()) return begun;
    if (IOStatus done = target()->DeleteFile(name, options, debug); !done.ok()) return done;
    state_->Forget(Normal(name));
    return IOStatus::OK();
  }

  IOStatus CreateDir(const std::string& name, const IOOptions& options, IODebugContext* debug) override {
    const std::lock_guard lock(state_->mutex);
    if (IOStatus begun = state_->Begin(DiskOperation::kCreateFolder, mount_); !begun.ok()) return begun;
    if (IOStatus done = target()->CreateDir(name, options, debug); !done.ok()) return done;
    state_->live.folders.insert(Normal(name));
    return IOStatus::OK();
  }
  IOStatus CreateDirIfMissing(const std::string& name, const IOOptions& options,
                              IODebugContext* debug) override {
    if (fs::is_directory(name)) return IOStatus::OK();
    return CreateDir(name, options, debug);
  }

  IOStatus GetFreeSpace(const std::string& path, const IOOptions& options, uint64_t* free,
                        IODebugContext* debug) override {
    const std::lock_guard lock(state_->mutex);
    if (!state_->free_bytes) return target()->GetFreeSpace(path, options, free, debug);
    *free = *state_->free_bytes;
    return IOStatus::OK();
  }

 private:
  const std::shared_ptr<State> state_;
  const uint64_t mount_;
};

}  // namespace

LossyDisk::LossyDisk(std::string folder) : state_(std::make_shared<State>()) {
  state_->folder = Normal(folder);
  state_->vault = state_->folder + ".vault";
  fs::create_directory(state_->vault);
}

LossyDisk::~LossyDisk() {
  const std::lock_guard lock(state_->mutex);
  ++state_->generation;
  state_->live = {};
  state_->durable = {};
  std::error_code ignored;
  fs::remove_all(state_->vault, ignored);
}

std::shared_ptr<rocksdb::FileSystem> LossyDisk::Mount() {
  const std::lock_guard lock(state_->mutex);
  return std::make_shared<LossyFileSystem>(state_, state_->generation);
}

void LossyDisk::Crash(uint64_t torn_seed) {
  const std::lock_guard lock(state_->mutex);
  state_->Restore(torn_seed);
}

void LossyDisk::CrashAfter(uint64_t operations) {
  const std::lock_guard lock(state_->mutex);
  state_->operations_left = operations;
}

uint64_t LossyDisk::operations() const {
  const std::lock_guard lock(state_->mutex);
  return state_->operations;
}

void LossyDisk::SetFreeBytes(std::optional<uint64_t> bytes) {
  const std::lock_guard lock(state_->mutex);
  state_->free_bytes = bytes;
}

void LossyDisk::FailNext(DiskOperation operation, uint64_t skip) {
  const std::lock_guard lock(state_->mutex);
  state_->failing[operation] = skip;
}

}  // namespace seen::test
