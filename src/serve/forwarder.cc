#if defined(__SANITIZE_THREAD__)
#pragma GCC diagnostic ignored "-Wtsan"  // of its fences; what they order is also ordered by its mutexes
#endif

#include "serve/forwarder.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <charconv>
#include <map>
#include <optional>
#include <thread>

#include "base/mutex.h"
#include "base/text.h"
#include "base/threads.h"
#include "serve/http_message.h"
#include "serve/tls.h"

namespace seen {
namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;

namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kSilent{1};
constexpr size_t kIdleConnectionsMax = 16;  // connections kept for each daemon
// Headers of the other daemon's answer that are passed on. The server writes the rest.
constexpr std::string_view kPassedOn[] = {"Seen-As-Of", "Seen-Complete-Since", "Seen-Answered-By",
                                          "Retry-After", "Allow"};

// For requests that are passed on, unless they say how long their client waits.
constexpr int64_t kDeadlineMs = 1'000;
constexpr int64_t kDeadlineMsMin = 1;
constexpr int64_t kDeadlineMsMax = 10'000;
// For one daemon that doesn't answer, if another one is left to ask.
constexpr std::chrono::milliseconds kPatience{250};

}  // namespace

struct Forwarder::Impl {
  struct Connection {
    Connection(asio::io_context& io, std::shared_ptr<TlsContext> with)
        : stream(io), context(std::move(with)) {
      if (context) tls.emplace(stream, context->context);
    }
    beast::tcp_stream stream;
    std::shared_ptr<TlsContext> context;  // nullptr: plain
    std::optional<asio::ssl::stream<beast::tcp_stream&>> tls;
    beast::flat_buffer buffer;
  };
  /// A request that is passed on, with all that reading its answer takes.
  struct Hop {
    ForwardedRequest request;
    Give give;
    steady_clock::time_point until;
    size_t bytes = 0;
    http::request<http::string_body> sent;
    std::optional<http::response_parser<http::string_body>> parser;
    std::unique_ptr<Connection> connection;
    bool is_fresh = false;                    // the connection is new, not a kept one
    std::optional<asio::steady_timer> timer;  // resolving a name has no deadline of its own
  };
  using HopPointer = std::shared_ptr<Hop>;
  struct Peer {
    size_t under_way = 0;
    std::vector<std::unique_ptr<Connection>> idle;
  };

  explicit Impl(Options given) : options(std::move(given)), work(asio::make_work_guard(io)), resolver(io) {}

  void Begin(HopPointer hop);
  void Send(const HopPointer& hop);
  void Connect(const HopPointer& hop);
  void ShakeHands(const HopPointer& hop);
  void Write(const HopPointer& hop);
  void Read(const HopPointer& hop);
  void ReadBody(const HopPointer& hop);
  void Answered(const HopPointer& hop);
  void Failed(const HopPointer& hop, const error_code& error);
  void End(const HopPointer& hop, HttpResponse response);

  const Options options;
  std::atomic<uint64_t> answered{0};
  std::atomic<uint64_t> failed{0};
  std::atomic<uint64_t> refused{0};
  std::atomic<size_t> bytes{0};
  std::atomic<bool> stopping{false};
  mutable Mutex silent_mutex;
  std::map<std::string, steady_clock::time_point> silent_until GUARDED_BY(silent_mutex);  // by address

  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> work;
  asio::ip::tcp::resolver resolver;
  std::map<std::string, Peer> peers;  // by address
  std::map<const Hop*, HopPointer> under_way;
  std::thread thread;
};

Forwarder::Forwarder(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {
  impl_->thread = std::thread([impl = impl_.get()] {
    NameThread("forwarder");
    impl->io.run();
  });
}

Forwarder::~Forwarder() {
  impl_->stopping.store(true);
  asio::post(impl_->io, [impl = impl_.get()] {
    const auto left = std::exchange(impl->under_way, {});
    for (const auto& [raw, hop] : left) {
      if (hop->connection) hop->connection->stream.close();
      if (hop->give) std::exchange(hop->give, nullptr)(TryLater("the daemon stops", hop->request.target));
    }
    impl->work.reset();
    impl->io.stop();
  });
  impl_->thread.join();
}

bool Forwarder::IsSilent(const std::string& address) const {
  const MutexLock lock(impl_->silent_mutex);
  const auto silent = impl_->silent_until.find(address);
  return silent != impl_->silent_until.end() && steady_clock::now() < silent->second;
}

bool Forwarder::Allows(const std::string& address) const { return impl_->options.allows(address); }

ForwardFigures Forwarder::figures() const {
  return {impl_->answered.load(), impl_->failed.load(), impl_->refused.load()};
}

void Forwarder::Forward(ForwardedRequest request, Give give) {
  if (impl_->stopping.load()) return give(TryLater("the daemon stops", request.target));
  auto hop = std::make_shared<Impl::Hop>();
  hop->until = steady_clock::now() + request.deadline;
  hop->bytes = request.body.size() + request.target.size();
  hop->request = std::move(request);
  hop->give = std::move(give);
  asio::post(impl_->io,
             [impl = impl_.get(), hop = std::move(hop)]() mutable { impl->Begin(std::move(hop)); });
}

void Forwarder::Impl::Begin(HopPointer hop) {
  Peer& peer = peers[hop->request.address];
  if (peer.under_way >= options.under_way_max || bytes + hop->bytes > options.bytes_max) {
    refused.fetch_add(1, std::memory_order_relaxed);
    return hop->give(TryLater(
        fmt::format("too many requests are under way to {}: {}", hop->request.address, peer.under_way),
        hop->request.target));
  }
  ++peer.under_way;
  bytes += hop->bytes;
  under_way.emplace(hop.get(), hop);
  const auto method = http::string_to_verb(hop->request.method);
  hop->sent = {method, hop->request.target, 11, std::move(hop->request.body)};
  hop->sent.set(http::field::host, hop->request.address);
  if (!hop->request.content_type.empty()) hop->sent.set(http::field::content_type, hop->request.content_type);
  hop->sent.set("Seen-Hop", options.instance);
  hop->sent.set("Seen-Token", options.token);
  if (!hop->request.client.empty()) hop->sent.set("Seen-Client", hop->request.client);
  hop->sent.prepare_payload();
  Send(hop);
}

void Forwarder::Impl::Send(const HopPointer& hop) {
  Peer& peer = peers[hop->request.address];
  hop->parser.emplace();
  hop->parser->body_limit(UINT64_MAX);  // ReadBody decides
  hop->parser->skip(hop->request.method == "HEAD");
  hop->is_fresh = peer.idle.empty();
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(hop->until - steady_clock::now());
  hop->sent.set("Seen-Deadline-Ms", std::to_string(std::max<int64_t>(1, left.count())));
  if (!hop->is_fresh) {
    hop->connection = std::move(peer.idle.back());
    peer.idle.pop_back();
    hop->connection->stream.expires_at(hop->until);
    return Write(hop);
  }
  hop->connection = std::make_unique<Connection>(io, options.tls ? options.tls() : nullptr);
  hop->connection->stream.expires_at(hop->until);
  Connect(hop);
}

void Forwarder::Impl::Connect(const HopPointer& hop) {
  const auto [host, port] = SplitHostPort(hop->request.address);
  error_code not_numeric;
  const auto address = asio::ip::make_address(host, not_numeric);
  const auto connected = [this, hop](const error_code& error) {
    if (!under_way.contains(hop.get())) return;
    if (error) return Failed(hop, error);
    error_code ignored;
    hop->connection->stream.socket().set_option(asio::ip::tcp::no_delay(true), ignored);
    if (hop->connection->tls) return ShakeHands(hop);
    Write(hop);
  };
  if (!not_numeric) {
    uint16_t number = 0;
    std::from_chars(port.data(), port.data() + port.size(), number);
    return hop->connection->stream.async_connect(asio::ip::tcp::endpoint(address, number), connected);
  }
  hop->timer.emplace(io, hop->until);
  hop->timer->async_wait([this, hop](const error_code& cancelled) {
    if (!cancelled) Failed(hop, beast::error::timeout);
  });
  const auto resolved = [hop, connected](const error_code& error,
                                         const asio::ip::tcp::resolver::results_type& found) {
    if (error || !hop->connection) return connected(error);
    hop->connection->stream.async_connect(
        found, [connected](const error_code& result, const asio::ip::tcp::endpoint&) { connected(result); });
  };
  resolver.async_resolve(host, port, resolved);
}

void Forwarder::Impl::ShakeHands(const HopPointer& hop) {
  auto& tls = *hop->connection->tls;
  ExpectHost(tls, SplitHostPort(hop->request.address).host);
  tls.async_handshake(asio::ssl::stream_base::client, [this, hop](const error_code& error) {
    if (!under_way.contains(hop.get())) return;
    if (error) return Failed(hop, error);
    Write(hop);
  });
}

void Forwarder::Impl::Write(const HopPointer& hop) {
  const auto written = [this, hop](const error_code& error, size_t) {
    if (error) return Failed(hop, error);
    Read(hop);
  };
  if (hop->connection->tls) {
    http::async_write(*hop->connection->tls, hop->sent, written);
  } else {
    http::async_write(hop->connection->stream, hop->sent, written);
  }
}

void Forwarder::Impl::Read(const HopPointer& hop) {
  auto& [stream, context, tls, buffer] = *hop->connection;
  const auto read = [this, hop](const error_code& error, size_t) {
    if (error) return Failed(hop, error);
    ReadBody(hop);
  };
  if (tls) {
    http::async_read_header(*tls, buffer, *hop->parser, read);
  } else {
    http::async_read_header(stream, buffer, *hop->parser, read);
  }
}

/// Only if there is space for it. Else a few long answers would take more memory than the daemon may have.
void Forwarder::Impl::ReadBody(const HopPointer& hop) {
  if (!under_way.contains(hop.get())) return;
  if (hop->parser->is_done()) return Answered(hop);
  const uint64_t length = hop->parser->content_length().value_or(options.bytes_max);
  if (bytes + length > options.bytes_max) {
    refused.fetch_add(1, std::memory_order_relaxed);
    return End(hop,
               TryLater(fmt::format("the answer has {} bytes, and requests and answers under way to other "
                                    "daemons have {} of {}",
                                    length, bytes.load(), options.bytes_max),
                        hop->request.target));
  }
  bytes += length;
  hop->bytes += length;
  hop->parser->body_limit(length);
  auto& [stream, context, tls, buffer] = *hop->connection;
  const auto read = [this, hop](const error_code& error, size_t) {
    if (error) return Failed(hop, error);
    Answered(hop);
  };
  if (tls) {
    http::async_read(*tls, buffer, *hop->parser, read);
  } else {
    http::async_read(stream, buffer, *hop->parser, read);
  }
}

void Forwarder::Impl::Answered(const HopPointer& hop) {
  auto& message = hop->parser->get();
  HttpResponse response;
  response.status = message.result_int();
  const auto type = message[http::field::content_type];
  response.content_type.assign(type.data(), type.size());
  for (const std::string_view name : kPassedOn) {
    const auto value = message[beast::string_view(name.data(), name.size())];
    if (!value.empty()) response.headers.emplace_back(name, std::string(value.data(), value.size()));
  }
  response.body = std::move(message.body());
  if (const auto length = hop->parser->content_length(); length && hop->request.method == "HEAD")
    response.head_bytes = *length;
  Peer& peer = peers[hop->request.address];
  if (message.keep_alive() && peer.idle.size() < kIdleConnectionsMax && hop->connection->buffer.size() == 0) {
    hop->connection->stream.expires_never();
    peer.idle.push_back(std::move(hop->connection));
  }
  answered.fetch_add(1, std::memory_order_relaxed);
  {
    const MutexLock lock(silent_mutex);
    silent_until.erase(hop->request.address);
  }
  End(hop, std::move(response));
}

void Forwarder::Impl::Failed(const HopPointer& hop, const error_code& error) {
  if (!under_way.contains(hop.get())) return;
  // A connection that was kept may have been closed meanwhile. The questions change nothing, so ask again.
  const bool nothing_came = hop->parser && !hop->parser->got_some();
  if (!hop->is_fresh && nothing_came && error != beast::error::timeout && steady_clock::now() < hop->until) {
    peers[hop->request.address].idle.clear();
    return Send(hop);
  }
  failed.fetch_add(1, std::memory_order_relaxed);
  {
    const MutexLock lock(silent_mutex);
    silent_until[hop->request.address] = steady_clock::now() + kSilent;
  }
  const std::string reason = error == beast::error::timeout
                                 ? fmt::format("no answer within {} ms", hop->request.deadline.count())
                                 : error.message();
  End(hop, TryLater(fmt::format("the daemon at {} answers for this user, but can't be reached: {}",
                                hop->request.address, reason),
                    hop->request.target));
}

void Forwarder::Impl::End(const HopPointer& hop, HttpResponse response) {
  if (under_way.erase(hop.get()) == 0) return;  // the forwarder stops and has answered
  --peers[hop->request.address].under_way;
  bytes -= hop->bytes;
  hop->connection.reset();
  hop->timer.reset();
  std::exchange(hop->give, nullptr)(std::move(response));
}

namespace {

/// Asks one daemon after the other until one answers. All but the last get only a part of the time. One that
/// let its part pass is asked once more at the end: it may be slow, and the only one that can answer.
void AskOneAfterTheOther(ForwardPort& forwarder, ForwardedRequest request, std::vector<std::string> addresses,
                         bool may_repeat, steady_clock::time_point until, ForwardPort::Give give) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - steady_clock::now());
  request.deadline = std::max(left, std::chrono::milliseconds(1));
  request.address = std::move(addresses.front());
  addresses.erase(addresses.begin());
  if (addresses.empty()) return forwarder.Forward(std::move(request), std::move(give));
  ForwardedRequest next = request;
  request.deadline = std::min(request.deadline / 2, kPatience);
  const auto part_ends = steady_clock::now() + request.deadline;
  forwarder.Forward(std::move(request),
                    [&forwarder, next = std::move(next), addresses = std::move(addresses), may_repeat,
                     part_ends, until, give = std::move(give)](HttpResponse response) mutable {
                      const auto now = steady_clock::now();
                      if (response.status != 503 || now >= until) return give(std::move(response));
                      const bool repeats = may_repeat && now >= part_ends;
                      if (repeats) addresses.push_back(next.address);
                      AskOneAfterTheOther(forwarder, std::move(next), std::move(addresses),
                                          may_repeat && !repeats, until, std::move(give));
                    });
}

// The daemons that can answer what this daemon can't answer now. A request takes one hop at most.
std::vector<std::string> PeersFor(const Cluster& cluster, const HttpRequest& request,
                                  std::string_view user_id) {
  if (cluster.forwarder == nullptr || cluster.routes == nullptr || !request.hop.empty()) return {};
  std::vector<std::string> addresses = cluster.routes->AddressesFor(user_id);
  std::erase_if(addresses, [&](const std::string& address) { return !cluster.forwarder->Allows(address); });
  std::stable_partition(addresses.begin(), addresses.end(),
                        [&](const std::string& address) { return !cluster.forwarder->IsSilent(address); });
  return addresses;
}

}  // namespace

bool CanPassOn(const Cluster& cluster, const HttpRequest& request, std::string_view user_id) {
  return !PeersFor(cluster, request, user_id).empty();
}

std::optional<HttpResponse> PassOn(const Cluster& cluster, const HttpRequest& request,
                                   std::string_view user_id) {
  auto addresses = PeersFor(cluster, request, user_id);
  if (addresses.empty()) return std::nullopt;
  int64_t deadline_ms = kDeadlineMs;
  std::from_chars(request.deadline_ms.data(), request.deadline_ms.data() + request.deadline_ms.size(),
                  deadline_ms);
  ForwardedRequest forwarded{
      {},
      std::string(request.method),
      std::string(request.target),
      std::string(request.body),
      std::string(request.content_type),
      std::chrono::milliseconds(std::clamp(deadline_ms, kDeadlineMsMin, kDeadlineMsMax)),
      SplitHostPort(request.remote).host};
  HttpResponse response;
  response.later = [forwarder = cluster.forwarder, forwarded = std::move(forwarded),
                    addresses = std::move(addresses)](ForwardPort::Give give) {
    AskOneAfterTheOther(*forwarder, forwarded, addresses, true, steady_clock::now() + forwarded.deadline,
                        std::move(give));
  };
  return response;
}

}  // namespace seen
