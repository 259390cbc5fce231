#pragma once
// The files that access to the daemon depends on: certificate, key, CA and tokens. All are read again when
// one of them changes, so that what expires is replaced without a restart.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/threads.h"
#include "query/daemon_status.h"

namespace seen {

struct TlsContext;
class TokenTable;

struct CredentialFiles {
  std::string certificate;  // PEM, a chain; empty: no TLS
  std::string key;          // PEM, without a passphrase
  std::string ca;           // PEM, CAs that sign other daemons' certificates; empty: the machine's
  std::string tokens;       // TokenTable has the format; empty: nobody is asked for a token
};

/// The credentials that listeners and forwarders ask for at each connection and request. Any thread.
class Credentials {
 public:
  /// Reads all files. kInvalidArgument names the configuration's key, the file and the remedy.
  static Result<std::unique_ptr<Credentials>> Load(const CredentialFiles& files);
  ~Credentials();
  Credentials(const Credentials&) = delete;
  Credentials& operator=(const Credentials&) = delete;

  /// Looks at the files once a second, on a thread of its own.
  void Watch();
  /// Reads the files again. If one of them is wrong, all stay as they are, and the error says which one it
  /// is.
  Status Reload();

  bool has_tls() const { return !files_.certificate.empty(); }
  /// nullptr: plain HTTP is spoken.
  std::shared_ptr<TlsContext> server_tls() const;
  std::shared_ptr<TlsContext> client_tls() const;
  /// nullptr: nobody is asked for a token.
  std::shared_ptr<const TokenTable> tokens() const;

  AccessFigures figures() const;

 private:
  struct Loaded {
    std::shared_ptr<TlsContext> server_tls;
    std::shared_ptr<TlsContext> client_tls;
    std::shared_ptr<const TokenTable> tokens;
  };
  /// Shows whether a file has changed.
  using Stamp = std::vector<int64_t>;

  explicit Credentials(CredentialFiles files) : files_(std::move(files)) {}
  Result<Loaded> Read() const;
  Stamp StampOf() const;
  void LookAtFiles();

  const CredentialFiles files_;
  mutable Mutex mutex_;
  Loaded loaded_ GUARDED_BY(mutex_);
  AccessFigures figures_ GUARDED_BY(mutex_);
  Mutex reload_mutex_;  // one reload at a time
  Stamp stamp_ GUARDED_BY(reload_mutex_);
  RepeatingThread watcher_;
};

}  // namespace seen
