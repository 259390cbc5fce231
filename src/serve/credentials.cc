#include "serve/credentials.h"

#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <utility>

#include "base/log.h"
#include "serve/tls.h"
#include "serve/tokens.h"

namespace seen {
namespace {

constexpr std::chrono::milliseconds kLookEvery{1'000};
constexpr size_t kTokensBytesMax = 1 << 20;

Result<std::shared_ptr<const TokenTable>> ReadTokens(const std::string& path) {
  const auto bad = [&path](const std::string& what) {
    return Fail(Code::kInvalidArgument, "access.tokens: " + path + ": " + what);
  };
  std::ifstream file(path, std::ios::binary);
  if (!file) return bad("can't be read; give a file that this user may read");
  std::string text(kTokensBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return bad("can't be read; give a file, not a folder");
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kTokensBytesMax) return bad("longer than 1 MiB; a line is ROLE NAME TOKEN");
  auto table = TokenTable::Parse(text);
  if (!table) return bad(table.error().message);
  return std::make_shared<const TokenTable>(std::move(*table));
}

}  // namespace

Result<std::unique_ptr<Credentials>> Credentials::Load(const CredentialFiles& files) {
  std::unique_ptr<Credentials> credentials(new Credentials(files));
  {
    const MutexLock lock(credentials->reload_mutex_);
    credentials->stamp_ = credentials->StampOf();
  }
  auto loaded = credentials->Read();
  if (!loaded) return Fail(loaded.error());
  const MutexLock lock(credentials->mutex_);
  if (loaded->server_tls) credentials->figures_.certificate_not_after = loaded->server_tls->not_after;
  credentials->loaded_ = std::move(*loaded);
  return credentials;
}

Credentials::~Credentials() { watcher_.Stop(); }

void Credentials::Watch() {
  if (files_.certificate.empty() && files_.tokens.empty() && files_.ca.empty()) return;
  watcher_.Start("credentials", kLookEvery, [this] {
    LookAtFiles();
    return kLookEvery;
  });
}

Result<Credentials::Loaded> Credentials::Read() const {
  Loaded loaded;
  if (!files_.certificate.empty()) {
    auto server = MakeServerTls(files_.certificate, files_.key);
    if (!server) return Fail(Code::kInvalidArgument, "access.certificate: " + server.error().message);
    auto client = MakeClientTls(files_.ca);
    if (!client) return Fail(Code::kInvalidArgument, "access.ca: " + client.error().message);
    loaded.server_tls = std::move(*server);
    loaded.client_tls = std::move(*client);
  }
  if (!files_.tokens.empty()) {
    auto tokens = ReadTokens(files_.tokens);
    if (!tokens) return Fail(tokens.error());
    loaded.tokens = std::move(*tokens);
  }
  return loaded;
}

Status Credentials::Reload() {
  const MutexLock one_at_a_time(reload_mutex_);
  stamp_ = StampOf();  // before the files are read: a change meanwhile is noticed next time
  auto loaded = Read();
  const MutexLock lock(mutex_);
  if (!loaded) {
    ++figures_.reloads_failed;
    figures_.problem = loaded.error().message;
    log::Error("access files can't be read: the old ones stay in use", {{"reason", loaded.error().message}});
    return Fail(loaded.error());
  }
  ++figures_.reloads;
  figures_.problem.clear();
  if (loaded->server_tls) figures_.certificate_not_after = loaded->server_tls->not_after;
  log::Info("access files read", {{"tokens", loaded->tokens ? loaded->tokens->size() : size_t{0}},
                                  {"certificate_not_after_ms", figures_.certificate_not_after.value}});
  loaded_ = std::move(*loaded);
  return {};
}

void Credentials::LookAtFiles() {
  {
    const MutexLock one_at_a_time(reload_mutex_);
    if (StampOf() == stamp_) return;
  }
  (void)Reload();  // logged and counted there
}

Credentials::Stamp Credentials::StampOf() const {
  Stamp stamp;
  for (const std::string* path : {&files_.certificate, &files_.key, &files_.ca, &files_.tokens}) {
    struct stat now {};
    if (path->empty() || stat(path->c_str(), &now) != 0) now = {};
    stamp.insert(stamp.end(),
                 {static_cast<int64_t>(now.st_ino), static_cast<int64_t>(now.st_size), now.st_mtim.tv_sec,
                  now.st_mtim.tv_nsec, now.st_ctim.tv_sec, now.st_ctim.tv_nsec});
  }
  return stamp;
}

std::shared_ptr<TlsContext> Credentials::server_tls() const {
  const MutexLock lock(mutex_);
  return loaded_.server_tls;
}

std::shared_ptr<TlsContext> Credentials::client_tls() const {
  const MutexLock lock(mutex_);
  return loaded_.client_tls;
}

std::shared_ptr<const TokenTable> Credentials::tokens() const {
  const MutexLock lock(mutex_);
  return loaded_.tokens;
}

AccessFigures Credentials::figures() const {
  const MutexLock lock(mutex_);
  return figures_;
}

}  // namespace seen
