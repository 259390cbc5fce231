#pragma once
// One HTTP connection. Only for this room, because it brings in Boost.Asio and Boost.Beast.

#include <algorithm>
#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <memory>
#include <optional>
#include <unordered_map>

#include "base/log_budget.h"
#include "base/mutex.h"
#include "serve/http_clients.h"
#include "serve/http_server.h"
#include "serve/tls.h"

namespace seen {

class HttpSession;

/// A request's body as it arrives: kept within a budget, or dropped. A Body of Boost.Beast, for parsers.
struct HttpBody {
  struct value_type {
    std::string bytes;
    BudgetShare* share = nullptr;  // the budget of `bytes`; set before the first byte comes
    size_t bytes_a_byte = 1;       // of the share, for each byte of the body
    bool dropped = false;          // the body isn't kept
  };

  class reader {
   public:
    template <bool kIsRequest, class Fields>
    reader(boost::beast::http::header<kIsRequest, Fields>&, value_type& body) : body_(body) {}

    using Error = boost::system::error_code;
    template <class Length>
    static void init(const Length&, Error& error) {
      error = {};
    }
    template <class Buffers>
    size_t put(const Buffers& buffers, Error& error) {
      error = {};
      const size_t size = boost::asio::buffer_size(buffers);
      if (body_.dropped) return size;
      if (!MakeSpace(body_.bytes.size() + size)) {
        error = boost::beast::http::error::buffer_overflow;
        return 0;
      }
      for (const auto buffer : boost::beast::buffers_range_ref(buffers)) {
        body_.bytes.append(static_cast<const char*>(buffer.data()), buffer.size());
      }
      return size;
    }
    static void finish(Error& error) { error = {}; }

   private:
    // A body of known length was taken from the budget as a whole; a body that comes in chunks grows.
    bool MakeSpace(size_t size) {
      if (size <= body_.bytes.capacity()) return true;
      const size_t whole = body_.share->held() / body_.bytes_a_byte;
      const size_t room = size <= whole ? whole : std::max(size, 2 * body_.bytes.capacity());
      if (!body_.share->GrowTo(room * body_.bytes_a_byte)) return false;
      body_.bytes.reserve(room);
      return true;
    }

    value_type& body_;
  };
};

/// What the sessions of a server share. Thread-safe; outlives them.
struct HttpShared {
  HttpShared(const HttpOptions& of, const HttpPages& asked)
      : options(of), bodies(of.bodies_bytes_max), pages(asked) {
    limits.connections_max = of.client_connections_max;
    limits.requests_per_s_max = of.client_requests_per_s_max;
  }

  const HttpOptions options;
  ByteBudget bodies;
  ClientLimits limits;
  HttpClients clients{limits, std::min(options.client_bodies_bytes_max, options.bodies_bytes_max), bodies};
  LogBudget log_budget;
  const HttpPages& pages;
  HttpServer::Observer observer;                  // may be empty
  HttpServer::TlsOfNow tls;                       // may be empty
  boost::asio::io_context* handshakes = nullptr;  // of the one thread that computes handshakes
  std::atomic<bool> stopping{false};

  Mutex mutex;
  ConditionVariable all_gone;
  std::unordered_map<HttpSession*, std::weak_ptr<HttpSession>> sessions GUARDED_BY(mutex);
};

/// Reads, answers, writes, then reads again. A pipelining client's requests that have arrived, up to
/// `pipeline_max`, are answered in order and written together. While answers can't be written, nothing is
/// read. So a client that doesn't take its answers is slowed down and holds a bounded amount of memory.
/// Everything runs on the socket's strand, except the steps of a handshake. A step takes as long as ten
/// requests, and requests don't wait for it. The strand leaves the connection alone during a step.
class HttpSession : public std::enable_shared_from_this<HttpSession> {
 public:
  using Socket = boost::asio::ip::tcp::socket;

  /// `client`: nullptr: the client has too many connections already.
  HttpSession(Socket socket, const boost::asio::ip::tcp::endpoint& remote, std::shared_ptr<TlsContext> tls,
              std::shared_ptr<HttpClientShare> client, HttpShared& shared);
  ~HttpSession();
  HttpSession(const HttpSession&) = delete;
  HttpSession& operator=(const HttpSession&) = delete;

  // Any thread.
  void Run();
  void Refuse();    // too many connections: says so and closes
  void StopSoon();  // closes if idle, else after the request under way
  void CloseNow();

 private:
  using Error = boost::system::error_code;
  using Parser = boost::beast::http::request_parser<HttpBody>;
  using TimePoint = std::chrono::steady_clock::time_point;
  enum class Phase { kShakingHands, kReading, kWriting, kAwaiting, kLingering, kClosed };

  void AwaitHandshake();
  void ShakeHands();
  void OnStep(Error error);
  void OnHandshake(Error error);
  void Read();
  void OnRead(Error error, size_t bytes);
  void AnswerWhatArrived();
  bool ParseSome();  // false: more bytes are needed
  bool BeginRequest();
  void CheckHeader();
  bool MayAsk(const HttpRequest& head);
  HttpResponse TooManyRequests(const HttpRequest& head) const;
  void CheckBody(bool client_waits);
  void RefuseBody(HttpResponse refusal, bool client_waits);
  HttpResponse NoSpaceNow() const;
  std::string TooLong() const;
  HttpRequest HeadOf() const;
  void Answer();
  void Await(const HttpResponse& response, TimePoint since);
  void GiveAwaited();
  void EndRequest();
  void Give(HttpResponse response, bool head, TimePoint since);
  void Reject(unsigned status, std::string_view detail);
  void RejectWith(HttpResponse response);
  void RejectFor(Error error);
  void Write();
  void OnWritten(Error error);
  void AfterWrite();
  void Linger();
  void Drain();
  void Close();
  void SetDeadline(TimePoint deadline);
  void ArmTimer();
  void OnDeadline();

  HttpConnection connection_;
  const boost::asio::ip::address address_;  // the client's
  const std::string remote_;                // with its port
  const std::shared_ptr<HttpClientShare> client_;
  std::shared_ptr<HttpClientShare> asker_;  // of the request under way; another daemon may name it
  HttpShared& shared_;
  boost::asio::steady_timer timer_;
  boost::beast::flat_buffer input_;
  std::optional<Parser> parser_;  // of the request under way; none between requests
  std::string output_;            // answers not yet written
  std::string long_body_;         // of the last of them, if it is long: written after output_, without a copy
  size_t written_ = 0;            // of output_
  size_t answers_ = 0;            // in output_
  size_t lingered_bytes_ = 0;
  TimePoint request_started_;
  TimePoint deadline_;
  TimePoint armed_until_ = TimePoint::max();
  Phase phase_ = Phase::kReading;
  bool header_checked_ = false;
  BudgetShare body_share_{client_ ? client_->bodies : shared_.bodies};  // of the request under way
  RoutedRequest routed_;                                                // the request under way
  bool is_shaking_ = false;                                             // another thread uses connection_
  bool more_input_ = false;  // stopped at pipeline_max: input_ may hold a whole request
  bool closing_ = false;     // closes after output_ is written
  bool timed_out_ = false;   // the read was cancelled by the deadline

  bool awaiting_ = false;  // the request under way is answered later: no later request is looked at
  std::optional<HttpResponse> awaited_;  // the answer that has come
  TimePoint awaited_since_;
};

}  // namespace seen
