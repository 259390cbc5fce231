#pragma once
// TLS contexts made of PEM files, and sockets that use them. Only for this room, because it brings in
// Boost.Asio and OpenSSL.

#include <poll.h>

#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>

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

/// A server's socket, with or without TLS. One thread at a time: the thread of the socket's strand, or the
/// thread that computes handshakes. One read and one write at a time. The socket must be non-blocking.
class HttpConnection {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  using Error = boost::system::error_code;

  /// `tls`: nullptr: plain.
  HttpConnection(Socket socket, std::shared_ptr<TlsContext> tls)
      : socket_(std::move(socket)), context_(std::move(tls)) {
    if (context_) tls_.emplace(socket_, context_->context);
  }

  Socket& socket() { return socket_; }
  bool is_tls() const { return tls_.has_value(); }
  /// Makes the connection plain, after a handshake that failed.
  void DropTls() { tls_.reset(); }

  template <class Handler>
  void WaitReadable(Handler handler) {
    socket_.async_wait(Socket::wait_read, std::move(handler));
  }
  /// True: the client sends no more. Also true if the client has only closed its sending side.
  bool HasClientLeft() {
    pollfd left{socket_.native_handle(), POLLRDHUP, 0};
    return poll(&left, 1, 0) > 0;
  }
  /// Goes on with the handshake as far as the bytes that have arrived allow. would_block: more bytes are
  /// needed. Computes nothing for a client that has left.
  Error ShakeHands() {
    Error error;
    if (HasClientLeft()) return boost::asio::error::eof;
    tls_->handshake(boost::asio::ssl::stream_base::server, error);
    return error;
  }
  template <class Buffers, class Handler>
  void ReadSome(const Buffers& buffers, Handler handler) {
    if (tls_) return tls_->async_read_some(buffers, std::move(handler));
    socket_.async_read_some(buffers, std::move(handler));
  }
  template <class Buffers, class Handler>
  void Write(const Buffers& buffers, Handler handler) {
    if (tls_) return boost::asio::async_write(*tls_, buffers, std::move(handler));
    boost::asio::async_write(socket_, buffers, std::move(handler));
  }
  /// Tells the client that no more comes. `handler` may be called before this returns.
  template <class Handler>
  void EndOutput(Handler handler) {
    if (!tls_) {
      Error error;
      socket_.shutdown(Socket::shutdown_send, error);
      return handler(error);
    }
    // The shutdown ends with an error if the other side still sends. Nobody looks at what it sends anyway.
    tls_->async_shutdown([this, handler = std::move(handler)](const Error&) mutable {
      Error error;
      socket_.shutdown(Socket::shutdown_send, error);
      handler(error);
    });
  }
  void Close() {
    Error ignored;
    socket_.close(ignored);
  }

 private:
  Socket socket_;
  std::shared_ptr<TlsContext> context_;
  std::optional<boost::asio::ssl::stream<Socket&>> tls_;
};

}  // namespace seen
