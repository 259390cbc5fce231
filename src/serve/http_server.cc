#if defined(__SANITIZE_THREAD__)
#pragma GCC diagnostic ignored "-Wtsan"  // of its fences; what they order is also ordered by its mutexes
#endif

#include "serve/http_server.h"

#include <pthread.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/strand.hpp>
#include <charconv>
#include <csignal>
#include <thread>

#include "base/log.h"
#include "base/result.h"
#include "base/threads.h"
#include "serve/http_session.h"

namespace seen {
namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr size_t kRefusalsMax = 64;  // connections beyond the limit that get a 503; more are just closed
constexpr auto kAcceptPause = std::chrono::milliseconds(100);

Result<tcp::endpoint> ParseListen(const std::string& key, const std::string& listen) {
  const auto bad = [&] {
    return Fail(Code::kInvalidArgument, key + ": \"" + listen +
                                            "\" is not ADDRESS:PORT; examples: 127.0.0.1:8080, [::1]:8080 "
                                            "(port 0: any free one)");
  };
  const size_t colon = listen.rfind(':');
  if (colon == std::string::npos || colon == 0) return bad();
  const std::string port_text = listen.substr(colon + 1);
  uint16_t port = 0;
  const auto [end, port_error] = std::from_chars(port_text.data(), port_text.data() + port_text.size(), port);
  if (port_error != std::errc() || end != port_text.data() + port_text.size()) return bad();

  std::string address_text = listen.substr(0, colon);
  const bool bracketed = address_text.starts_with('[') && address_text.ends_with(']');
  if (bracketed) address_text = address_text.substr(1, address_text.size() - 2);
  if (address_text == "localhost") address_text = "127.0.0.1";
  error_code error;
  const asio::ip::address address = asio::ip::make_address(address_text, error);
  if (error || address.is_v6() != bracketed) return bad();
  return tcp::endpoint(address, port);
}

std::string Remedy(const error_code& error) {
  if (error == asio::error::address_in_use) {
    return "another program listens there; stop it or choose another port (0: any free one)";
  }
  if (error == asio::error::access_denied) return "ports below 1024 need a privilege; choose a higher one";
  if (error == boost::system::errc::address_not_available) {
    return "this machine has no such address; choose one it has, such as 127.0.0.1";
  }
  return error.message();
}

}  // namespace

struct HttpServer::Impl {
  Impl(const HttpOptions& options, const HttpPages& pages)
      : shared(options, pages),
        io(static_cast<int>(options.threads)),
        acceptor(asio::make_strand(io)),
        accept_pause(acceptor.get_executor()),
        work(asio::make_work_guard(io)),
        handshakes(1),
        handshakes_work(asio::make_work_guard(handshakes)) {
    shared.handshakes = &handshakes;
  }

  void Accept();
  void OnAccepted(const error_code& error, tcp::socket socket);
  void Stop();

  HttpShared shared;  // outlives every session, so also `io`, which destroys the remaining sessions
  asio::io_context io;
  tcp::acceptor acceptor;           // on its strand
  asio::steady_timer accept_pause;  // on its strand
  asio::executor_work_guard<asio::io_context::executor_type> work;
  asio::io_context handshakes;
  asio::executor_work_guard<asio::io_context::executor_type> handshakes_work;
  uint16_t port = 0;
  std::vector<std::thread> threads;
};

Result<std::unique_ptr<HttpServer>> HttpServer::Start(const HttpOptions& options, const HttpPages& pages,
                                                      Observer observer, TlsOfNow tls) {
  Check(options.threads > 0, "an HTTP server has a thread");
  const auto endpoint = ParseListen(options.key, options.listen);
  if (!endpoint) return Fail(endpoint.error());

  auto impl = std::make_unique<Impl>(options, pages);
  impl->shared.observer = std::move(observer);
  impl->shared.tls = std::move(tls);
  error_code error;
  tcp::acceptor& acceptor = impl->acceptor;
  acceptor.open(endpoint->protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(*endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    return Fail(Code::kInvalidArgument,
                options.key + ": can't listen on " + options.listen + ": " + Remedy(error));
  }
  impl->port = acceptor.local_endpoint(error).port();

  // The new threads block all signals: one other thread waits for signals.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  impl->Accept();
  for (unsigned i = 0; i < options.threads; ++i) {
    impl->threads.emplace_back([&io = impl->io] { io.run(); });
  }
  impl->threads.emplace_back([&handshakes = impl->handshakes] {
    NameThread("handshakes");
    YieldToOtherThreads();
    handshakes.run();
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

void HttpServer::Impl::Accept() {
  acceptor.async_accept(asio::make_strand(io), [this](const error_code& error, auto socket) {
    OnAccepted(error, tcp::socket(std::move(socket)));
  });
}

void HttpServer::Impl::OnAccepted(const error_code& error, tcp::socket socket) {
  if (shared.stopping || error == asio::error::operation_aborted) return;
  if (error) {  // most likely out of file descriptors: open connections go on, and one may close
    log::Warning("connection not accepted", {{"error", error.message()}});
    accept_pause.expires_after(kAcceptPause);
    accept_pause.async_wait([this](const error_code& cancelled) {
      if (!cancelled) Accept();
    });
    return;
  }
  error_code gone;
  const tcp::endpoint remote = socket.remote_endpoint(gone);
  if (gone) return Accept();
  auto client = shared.clients.Enter(remote.address());
  auto tls = shared.tls ? shared.tls() : nullptr;
  auto session = std::make_shared<HttpSession>(std::move(socket), remote, std::move(tls), client, shared);
  size_t connections = 0;
  {
    const MutexLock lock(shared.mutex);
    shared.sessions.emplace(session.get(), session);
    connections = shared.sessions.size();
  }
  if (connections <= shared.options.connections_max && client) {
    session->Run();
  } else if (connections <= shared.options.connections_max + kRefusalsMax) {
    session->Refuse();
  }
  Accept();
}

void HttpServer::Impl::Stop() {
  if (threads.empty()) return;
  shared.stopping = true;
  asio::post(acceptor.get_executor(), [this] {
    error_code ignored;
    acceptor.close(ignored);
    accept_pause.cancel();
  });
  const auto for_all = [this](auto call) {
    std::vector<std::shared_ptr<HttpSession>> sessions;
    {
      const MutexLock lock(shared.mutex);
      for (const auto& [address, session] : shared.sessions) {
        if (auto alive = session.lock()) sessions.push_back(std::move(alive));
      }
    }
    for (const auto& session : sessions) call(*session);
  };
  for_all([](HttpSession& session) { session.StopSoon(); });
  {
    const auto deadline = std::chrono::steady_clock::now() + shared.options.stop_timeout;
    const MutexLock lock(shared.mutex);
    while (!shared.sessions.empty() && shared.all_gone.WaitUntil(shared.mutex, deadline)) {
    }
  }
  for_all([](HttpSession& session) { session.CloseNow(); });
  work.reset();
  handshakes_work.reset();
  for (std::thread& thread : threads) thread.join();
  threads.clear();
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() { Stop(); }
size_t HttpServer::bodies_bytes() const { return impl_->shared.bodies.taken(); }
void HttpServer::SetClientLimits(size_t connections_max, uint32_t requests_per_s_max) {
  impl_->shared.limits.connections_max = connections_max;
  impl_->shared.limits.requests_per_s_max = requests_per_s_max;
}
uint16_t HttpServer::port() const { return impl_->port; }
void HttpServer::Stop() { impl_->Stop(); }

}  // namespace seen
