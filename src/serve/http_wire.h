#pragma once
// An answer's bytes as they go over the connection.

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/message.hpp>
#include <string>

#include "serve/byte_budget.h"
#include "serve/http_message.h"

namespace seen {

struct WireOptions {
  bool head = false;      // length only, no body
  bool http_1_0 = false;  // the client's version: the answer must say keep-alive
  bool keep_alive = true;
};

/// Appends status line, headers and body to `out`. Any thread.
void AppendResponse(const HttpResponse& response, const WireOptions& options, std::string& out);

/// A request's body as it arrives: kept within a budget, or dropped. Only for this room, because it brings in
/// Boost.Beast.
/// A Body of Boost.Beast, for parsers.
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
      if (!MakeRoom(body_.bytes.size() + size)) {
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
    bool MakeRoom(size_t size) {
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

}  // namespace seen
