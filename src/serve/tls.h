#pragma once
// TLS contexts made of PEM files. Only for rooms that use sockets, because it brings in Boost.Asio and
// OpenSSL.

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace seen {

/// Immutable once made. Any thread.
struct TlsContext {
  boost::asio::ssl::context context;
  TimeMs not_after{0};  // of the certificate that is shown; 0: there is none
};

/// For incoming connections: TLS 1.2 and 1.3, no renegotiation. `certificate`: a chain, the server's own
/// certificate first. kInvalidArgument names the file, what is wrong with it and the remedy; also if key and
/// certificate don't belong together.
Result<std::shared_ptr<TlsContext>> MakeServerTls(const std::string& certificate, const std::string& key);

/// For outgoing connections. The other side must have a certificate for the name or address that it was asked
/// by. One of `ca` must have signed the certificate; if `ca` is empty, a CA that this machine trusts.
Result<std::shared_ptr<TlsContext>> MakeClientTls(const std::string& ca);

/// Says whose certificate an outgoing connection expects; call it before the handshake. `host`: a name or a
/// numeric address.
void ExpectHost(boost::asio::ssl::stream<boost::beast::tcp_stream&>& stream, const std::string& host);

}  // namespace seen
