#if defined(__SANITIZE_THREAD__)
#pragma GCC diagnostic ignored "-Wtsan"  // of its fences; what they order is also ordered by its mutexes
#endif

#include "serve/http_session.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/string.hpp>
#include <exception>
#include <utility>

#include "base/log.h"
#include "serve/http_message.h"

namespace seen {
namespace asio = boost::asio;
namespace http = boost::beast::http;
namespace {

constexpr size_t kReadBytes = 16 * 1024;
constexpr size_t kReadBodyBytes = 64 * 1024;
constexpr size_t kOutputBytesMax = 1024 * 1024;   // gathered before they are written
constexpr size_t kShortBodyBytesMax = 64 * 1024;  // of an answer that is gathered
constexpr size_t kDroppedBytesMax = 1024 * 1024;  // of a dropped body; a longer one closes the connection
constexpr size_t kLingeredBytesMax = 16 * 1024 * 1024;
constexpr auto kLinger = std::chrono::milliseconds(2'000);
constexpr auto kAwaited = std::chrono::seconds(60);  // far beyond what later answers take
constexpr auto kLingerWhenStopping = std::chrono::milliseconds(200);

std::string_view View(boost::beast::string_view text) { return {text.data(), text.size()}; }

/// True if a request line ends in a well-formed version. Then the version is wrong, not the line.
bool EndsInVersion(std::string_view input) {
  const std::string_view line = input.substr(0, input.find('\r'));
  if (line.size() < 9) return false;
  const std::string_view version = line.substr(line.size() - 9);
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return version.starts_with(" HTTP/") && digit(version[6]) && version[7] == '.' && digit(version[8]);
}

std::string RemoteText(const asio::ip::tcp::endpoint& remote) {
  const std::string address = remote.address().to_string();
  return (remote.address().is_v6() ? "[" + address + "]" : address) + ":" + std::to_string(remote.port());
}

}  // namespace

HttpSession::HttpSession(Socket socket, const asio::ip::tcp::endpoint& remote,
                         std::shared_ptr<TlsContext> tls, std::shared_ptr<HttpClientShare> client,
                         HttpShared& shared)
    : connection_(std::move(socket), std::move(tls)),
      address_(remote.address()),
      remote_(RemoteText(remote)),
      client_(std::move(client)),
      shared_(shared),
      timer_(connection_.socket().get_executor()) {}

HttpSession::~HttpSession() {
  if (client_) shared_.clients.Leave(address_);
  const MutexLock lock(shared_.mutex);
  shared_.sessions.erase(this);
  if (shared_.sessions.empty()) shared_.all_gone.NotifyAll();
}

void HttpSession::Run() {
  asio::post(connection_.socket().get_executor(), [self = shared_from_this()] {
    Error ignored;
    self->connection_.socket().set_option(asio::ip::tcp::no_delay(true), ignored);
    self->connection_.socket().non_blocking(true, ignored);
    if (self->shared_.stopping) return self->Close();
    if (self->connection_.is_tls()) {
      self->phase_ = Phase::kShakingHands;
      self->SetDeadline(std::chrono::steady_clock::now() + self->shared_.options.request_timeout);
      return self->AwaitHandshake();
    }
    self->SetDeadline(std::chrono::steady_clock::now() + self->shared_.options.idle_timeout);
    self->Read();
  });
}

void HttpSession::AwaitHandshake() {
  connection_.WaitReadable([self = shared_from_this()](Error error) {
    if (self->phase_ == Phase::kClosed) return;
    // Checked here too: a connection that waits for its turn counts among the connections.
    if (error || self->connection_.HasClientLeft()) return self->Close();
    self->ShakeHands();
  });
}

void HttpSession::ShakeHands() {
  is_shaking_ = true;
  asio::post(*shared_.handshakes, [self = shared_from_this()] {
    const Error error = self->connection_.ShakeHands();
    asio::post(self->connection_.socket().get_executor(), [self, error] { self->OnStep(error); });
  });
}

void HttpSession::OnStep(Error error) {
  is_shaking_ = false;
  if (phase_ == Phase::kClosed) return connection_.Close();
  if (error == asio::error::would_block) return AwaitHandshake();
  OnHandshake(error);
}

void HttpSession::OnHandshake(Error error) {
  if (!error) {
    SetDeadline(std::chrono::steady_clock::now() + shared_.options.idle_timeout);
    return Read();
  }
  if (error.category() == asio::error::get_ssl_category() &&
      ERR_GET_REASON(static_cast<unsigned long>(error.value())) == SSL_R_HTTP_REQUEST) {
    connection_.DropTls();
    Reject(400, "this port speaks TLS; ask for https://");
    return Write();
  }
  if (shared_.log_budget.Allow()) {
    log::Warning("TLS handshake failed", {{"from", remote_},
                                          {"reason", error.message()},
                                          {"lines_held_back", shared_.log_budget.TakeHeldBack()}});
  }
  Close();
}

void HttpSession::Refuse() {
  asio::post(connection_.socket().get_executor(), [self = shared_from_this()] {
    Error ignored;
    self->connection_.socket().non_blocking(true, ignored);
    if (self->connection_.is_tls()) return self->Close();  // an answer would take a handshake
    self->Reject(503, "too many connections; close idle ones and try again");
    self->Write();
  });
}

void HttpSession::StopSoon() {
  asio::post(connection_.socket().get_executor(), [self = shared_from_this()] {
    const bool idle = self->phase_ == Phase::kReading && !self->parser_;
    if (idle || self->phase_ == Phase::kLingering || self->phase_ == Phase::kShakingHands) self->Close();
  });
}

void HttpSession::CloseNow() {
  asio::post(connection_.socket().get_executor(), [self = shared_from_this()] { self->Close(); });
}

void HttpSession::Read() {
  phase_ = Phase::kReading;
  const bool in_body = parser_ && parser_->is_header_done();
  connection_.ReadSome(
      input_.prepare(in_body ? kReadBodyBytes : kReadBytes),
      [self = shared_from_this()](Error error, size_t bytes) { self->OnRead(error, bytes); });
}

void HttpSession::OnRead(Error error, size_t bytes) {
  if (phase_ == Phase::kClosed) return;
  if (timed_out_) {
    timed_out_ = false;
    if (!parser_) return Close();
    Reject(408, "the request took longer than the time-out to arrive");
    return Write();
  }
  if (error) return Close();  // also if the client has closed its end; half a request gets no answer
  input_.commit(bytes);
  AnswerWhatArrived();
}

void HttpSession::AnswerWhatArrived() {
  more_input_ = false;
  while (!closing_ && !awaiting_) {
    if (answers_ >= shared_.options.pipeline_max || output_.size() >= kOutputBytesMax ||
        !long_body_.empty()) {
      more_input_ = true;
      break;
    }
    if (!parser_ && !BeginRequest()) break;
    if (!ParseSome()) break;
  }
  Write();
}

/// False: no byte of a next request has arrived.
bool HttpSession::BeginRequest() {
  // Empty lines before a request line are skipped: RFC 9112 section 2.2.
  while (input_.size() > 0) {
    const char first = *static_cast<const char*>(input_.data().data());
    if (first != '\r' && first != '\n') break;
    input_.consume(1);
  }
  if (input_.size() == 0) return false;
  parser_.emplace();
  parser_->header_limit(static_cast<uint32_t>(shared_.options.header_bytes_max));
  parser_->body_limit(UINT64_MAX);  // CheckBody sets the limit before the first byte
  header_checked_ = false;
  routed_ = {};
  request_started_ = std::chrono::steady_clock::now();
  return true;
}

bool HttpSession::ParseSome() {
  if (input_.size() == 0) return false;
  // At least five bytes of a chunked body are left before its end ("0\r\n\r\n"). The parser counts on them.
  if (header_checked_ && parser_->chunked() && input_.size() < 5) return false;
  Error error;
  parser_->eager(header_checked_);  // the header first: it decides whether a body is wanted
  const size_t used = parser_->put(input_.data(), error);
  if (error && error != http::error::need_more) {
    RejectFor(error);
    return true;
  }
  input_.consume(used);
  if (error == http::error::need_more) {
    // The parser itself bounds neither the sum of request line and headers, nor a trailer.
    if (input_.size() < shared_.options.header_bytes_max) return false;
    Reject(431, "request line and headers are longer than " +
                    std::to_string(shared_.options.header_bytes_max) + " bytes");
    return true;
  }
  if (!header_checked_ && parser_->is_header_done()) CheckHeader();
  if (!closing_ && parser_->is_done()) Answer();
  return true;
}

void HttpSession::CheckHeader() {
  header_checked_ = true;
  const auto& request = parser_->get();
  const size_t hosts = request.count(http::field::host);
  if (hosts > 1 || (hosts == 0 && request.version() == 11)) return Reject(400, "one Host header is needed");
  // With another coding the request would seem to have no body, and its body would be read as the next
  // request.
  const auto [coding, codings_end] = request.equal_range(http::field::transfer_encoding);
  if (coding != codings_end &&
      (std::next(coding) != codings_end || !boost::beast::iequals(coding->value(), "chunked"))) {
    return Reject(501, "this server takes only the transfer coding chunked");
  }
  const auto expect = request.find(http::field::expect);
  const bool expects = expect != request.end() && request.version() >= 11;
  if (expects && !boost::beast::iequals(expect->value(), "100-continue")) {
    return Reject(417, "the only expectation that this server knows is 100-continue");
  }
  const bool client_waits = expects && input_.size() == 0;
  const HttpRequest head = HeadOf();
  if (MayAsk(head)) {
    routed_ = shared_.pages.Find(head);
  } else {
    routed_.refusal = TooManyRequests(head);
  }
  if (parser_->is_done()) return;
  if (routed_.refusal) return RefuseBody(std::move(*routed_.refusal), client_waits);
  CheckBody(client_waits);
  if (client_waits && !closing_) output_.append("HTTP/1.1 100 Continue\r\n\r\n");
}

/// A request that another daemon passes on counts for the client that the daemon names.
bool HttpSession::MayAsk(const HttpRequest& head) {
  if (client_ == nullptr) return true;
  std::shared_ptr<HttpClientShare> asker = client_;
  if (!head.client.empty() && shared_.pages.IsPassedOn(head)) [[unlikely]] {
    Error not_address;
    const auto named = asio::ip::make_address(std::string(head.client), not_address);
    if (!not_address) asker = shared_.clients.Named(named);
  }
  body_share_.TakeFrom(asker->bodies);  // while the former asker still lives
  asker_ = std::move(asker);
  return asker_->MayAsk(request_started_, shared_.limits.requests_per_s_max.load(std::memory_order_relaxed));
}

/// Checks whether the body is wanted and whether there is space for it, before a byte of it is kept.
void HttpSession::CheckBody(bool client_waits) {
  const auto length = parser_->content_length();
  const bool is_here = length && input_.size() >= *length;  // then a refusal would save nothing
  if (!is_here) {
    if (auto refusal = shared_.pages.RefuseBody(routed_))
      return RefuseBody(std::move(*refusal), client_waits);
  }
  const size_t fits = shared_.bodies.total() / routed_.body_bytes_a_byte;
  const size_t bytes_max = std::min(routed_.body_bytes_max, fits);
  if (length && *length > bytes_max) return RejectFor(http::error::body_limit);
  parser_->body_limit(bytes_max);
  auto& body = parser_->get().body();
  body.share = &body_share_;
  body.bytes_a_byte = routed_.body_bytes_a_byte;
  if (length && !body_share_.GrowTo(*length * routed_.body_bytes_a_byte))
    RefuseBody(NoSpaceNow(), client_waits);
}

/// A short body is read and dropped, so that the connection can be used again.
void HttpSession::RefuseBody(HttpResponse refusal, bool client_waits) {
  const auto length = parser_->content_length();
  if (client_waits || !length || *length > kDroppedBytesMax) return RejectWith(std::move(refusal));
  parser_->get().body().dropped = true;
  routed_.refusal = std::move(refusal);
}

HttpResponse HttpSession::TooManyRequests(const HttpRequest& head) const {
  if (shared_.log_budget.Allow()) {
    log::Warning("requests refused: a client asks too often",
                 {{"from", remote_},
                  {"for", shared_.pages.IsPassedOn(head) ? head.client : std::string_view()},
                  {"requests_per_s_max", shared_.limits.requests_per_s_max.load()},
                  {"lines_held_back", shared_.log_budget.TakeHeldBack()}});
  }
  HttpResponse response =
      Problem(429, "this client asks more often than http.client_requests_per_s_max allows; ask later",
              View(parser_->get().target()));
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

HttpResponse HttpSession::NoSpaceNow() const {
  const ByteBudget& bodies = body_share_.budget();
  if (shared_.log_budget.Allow()) {
    log::Warning("request refused: there is no room for its body now",
                 {{"route", routed_.route},
                  {"bodies_bytes", bodies.taken()},
                  {"bodies_bytes_max", bodies.total()},
                  {"remedy", "send fewer or shorter bodies at a time, or raise store.memory_mib"},
                  {"lines_held_back", shared_.log_budget.TakeHeldBack()}});
  }
  return TryLater("the bodies of other requests take all memory for bodies, " +
                      std::to_string(bodies.total()) +
                      " bytes. Try again later, send fewer bodies at a time, or raise store.memory_mib",
                  View(parser_->get().target()));
}

std::string HttpSession::TooLong() const {
  const size_t bytes_a_byte = routed_.body_bytes_a_byte;
  const size_t fits = shared_.bodies.total() / bytes_a_byte;
  if (routed_.body_bytes_max <= fits) {
    return "the body is longer than " + std::to_string(routed_.body_bytes_max) + " bytes; send less";
  }
  return "the body is longer than " + std::to_string(fits) +
         " bytes, the most that fits into the memory for bodies. That memory is " +
         std::to_string(shared_.bodies.total()) + " bytes, and each byte of this body takes " +
         std::to_string(bytes_a_byte) + " of them. Send less, or raise store.memory_mib";
}

HttpRequest HttpSession::HeadOf() const {
  const auto& message = parser_->get();
  return {View(message.method_string()),
          View(message.target()),
          {},
          View(message[http::field::content_type]),
          View(message["Seen-Hop"]),
          View(message["Seen-Token"]),
          View(message["Seen-Deadline-Ms"]),
          View(message[http::field::authorization]),
          remote_,
          View(message[http::field::host]),
          View(message[http::field::origin]),
          View(message[http::field::content_encoding]),
          View(message["Seen-Client"])};
}

void HttpSession::Answer() {
  const auto started = std::chrono::steady_clock::now();
  routed_.request.body = parser_->get().body().bytes;
  HttpResponse response;
  try {
    response = routed_.refusal ? std::move(*routed_.refusal) : shared_.pages.Answer(routed_);
  } catch (const std::exception& exception) {
    response = Problem(500, exception.what(), View(parser_->get().target()));
  }
  if (response.later) return Await(response, started);
  if (!parser_->keep_alive() || shared_.stopping) closing_ = true;  // known only now
  Give(std::move(response), parser_->get().method() == http::verb::head, started);
  EndRequest();
  SetDeadline(std::chrono::steady_clock::now() + shared_.options.idle_timeout);
}

void HttpSession::Await(const HttpResponse& response, TimePoint since) {
  awaiting_ = true;
  awaited_since_ = since;
  parser_->get().body().bytes = {};  // nobody needs it any more
  body_share_.GiveBack();
  SetDeadline(since + kAwaited);
  response.later([self = shared_from_this()](HttpResponse answer) {
    asio::post(self->connection_.socket().get_executor(), [self, answer = std::move(answer)]() mutable {
      self->awaited_ = std::move(answer);
      if (self->phase_ == Phase::kAwaiting) self->GiveAwaited();
    });
  });
}

/// An answer that comes while earlier answers are being written waits for them: see AfterWrite.
void HttpSession::GiveAwaited() {
  awaiting_ = false;
  if (!parser_->keep_alive() || shared_.stopping) closing_ = true;
  Give(std::move(*awaited_), parser_->get().method() == http::verb::head, awaited_since_);
  awaited_.reset();
  EndRequest();
  AnswerWhatArrived();
}

void HttpSession::EndRequest() {
  parser_.reset();
  body_share_.GiveBack();
  // After a long body, gives memory back: an idle connection keeps little.
  if (input_.size() == 0 && input_.capacity() > 2 * kReadBytes) input_.shrink_to_fit();
}

void HttpSession::Give(HttpResponse response, bool head, TimePoint since) {
  const bool http_1_0 = parser_ && header_checked_ && parser_->get().version() == 10;
  const bool is_long = !head && response.body.size() > kShortBodyBytesMax;
  AppendResponse(response, {head || is_long, http_1_0, !closing_}, output_);
  if (is_long) long_body_ = std::move(response.body);
  ++answers_;
  if (shared_.observer) {
    shared_.observer(routed_.route, response.status, std::chrono::steady_clock::now() - since);
  }
}

/// Answers a request that never reaches a page. The connection can't be read any further, so it is
/// closed.
void HttpSession::Reject(unsigned status, std::string_view detail) {
  const bool known = parser_ && header_checked_;
  RejectWith(Problem(status, detail, known ? View(parser_->get().target()) : std::string_view()));
}

void HttpSession::RejectWith(HttpResponse response) {
  closing_ = true;
  const bool head = parser_ && header_checked_ && parser_->get().method() == http::verb::head;
  Give(std::move(response), head, std::chrono::steady_clock::now());
  EndRequest();
}

void HttpSession::RejectFor(Error error) {
  if (error == http::error::header_limit) {
    return Reject(431, "request line and headers are longer than " +
                           std::to_string(shared_.options.header_bytes_max) + " bytes");
  }
  if (error == http::error::body_limit) {
    return Reject(413, TooLong());
  }
  if (error == http::error::buffer_overflow) return RejectWith(NoSpaceNow());
  const std::string_view input(static_cast<const char*>(input_.data().data()), input_.size());
  if (error == http::error::bad_version && EndsInVersion(input)) {
    return Reject(505, "this server speaks HTTP/1.1 and HTTP/1.0");
  }
  Reject(400, "not HTTP: " + error.message());
}

void HttpSession::Write() {
  if (output_.empty()) return AfterWrite();
  phase_ = Phase::kWriting;
  written_ = 0;
  if (!connection_.is_tls()) {
    Error error;  // most answers fit into the socket's buffer: then nobody waits
    written_ = connection_.socket().write_some(asio::buffer(output_), error);
    if (error && error != asio::error::would_block && error != asio::error::try_again) return Close();
    if (written_ == output_.size()) return OnWritten({});
  }
  SetDeadline(std::chrono::steady_clock::now() + shared_.options.request_timeout);
  connection_.Write(asio::buffer(output_.data() + written_, output_.size() - written_),
                    [self = shared_from_this()](Error e, size_t) { self->OnWritten(e); });
}

void HttpSession::OnWritten(Error error) {
  if (phase_ == Phase::kClosed) return;
  if (error) return Close();
  if (!long_body_.empty()) {
    output_ = std::exchange(long_body_, {});
    return Write();
  }
  output_.clear();
  if (output_.capacity() > kOutputBytesMax) output_.shrink_to_fit();
  answers_ = 0;
  AfterWrite();
}

void HttpSession::AfterWrite() {
  if (awaiting_) {
    phase_ = Phase::kAwaiting;
    SetDeadline(awaited_since_ + kAwaited);
    if (awaited_) GiveAwaited();
    return;
  }
  phase_ = Phase::kReading;
  if (closing_) return Linger();
  const auto& options = shared_.options;
  SetDeadline(parser_ ? request_started_ + options.request_timeout
                      : std::chrono::steady_clock::now() + options.idle_timeout);
  if (!parser_ && !more_input_ && shared_.stopping) return Close();
  if (!more_input_) return Read();
  // Other clients have their turn first: one client's pipeline must not hold a thread.
  asio::post(connection_.socket().get_executor(), [self = shared_from_this()] {
    if (self->phase_ != Phase::kClosed) self->AnswerWhatArrived();
  });
}

/// Closing with unread input would reset the connection, and the client might never see the answer. So the
/// server ends its output and reads for a while what the client still sends. RFC 9112 section 9.6.
void HttpSession::Linger() {
  phase_ = Phase::kLingering;
  SetDeadline(std::chrono::steady_clock::now() + (shared_.stopping ? kLingerWhenStopping : kLinger));
  input_.consume(input_.size());
  connection_.EndOutput([self = shared_from_this()](Error error) {
    if (self->phase_ == Phase::kClosed) return;
    if (error) return self->Close();
    self->Drain();
  });
}

void HttpSession::Drain() {
  // Reads from the socket itself: nobody looks at these bytes, so nobody decrypts them.
  connection_.socket().async_read_some(input_.prepare(kReadBodyBytes),
                                       [self = shared_from_this()](Error error, size_t bytes) {
                                         if (self->phase_ == Phase::kClosed) return;
                                         self->lingered_bytes_ += bytes;
                                         if (error || self->lingered_bytes_ > kLingeredBytesMax)
                                           return self->Close();
                                         self->Drain();
                                       });
}

void HttpSession::Close() {
  phase_ = Phase::kClosed;
  if (!is_shaking_) connection_.Close();
  timer_.cancel();
}

/// Cheap if the deadline moves away, as it does with every request: the timer looks again when it fires.
void HttpSession::SetDeadline(TimePoint deadline) {
  deadline_ = deadline;
  if (deadline_ < armed_until_) ArmTimer();
}

void HttpSession::ArmTimer() {
  armed_until_ = deadline_;
  timer_.expires_at(deadline_);
  timer_.async_wait([self = shared_from_this()](Error error) {
    if (error || self->phase_ == Phase::kClosed) return;
    self->armed_until_ = TimePoint::max();
    if (std::chrono::steady_clock::now() < self->deadline_) return self->ArmTimer();
    self->OnDeadline();
  });
}

void HttpSession::OnDeadline() {
  if (phase_ != Phase::kReading) return Close();
  timed_out_ = true;  // OnRead sees why the read was cancelled
  Error ignored;
  connection_.socket().cancel(ignored);
}

}  // namespace seen
