#include "serve/tls.h"

#include <fmt/format.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <ctime>

namespace seen {
namespace {
namespace ssl = boost::asio::ssl;
using boost::system::error_code;

auto Bad(const char* what, const std::string& file, const error_code& error, const char* remedy) {
  return Fail(Code::kInvalidArgument, fmt::format("{} {}: {}; {}", what, file, error.message(), remedy));
}

TimeMs NotAfter(SSL_CTX* context) {
  const X509* const shown = SSL_CTX_get0_certificate(context);
  std::tm utc{};
  if (shown == nullptr || ASN1_TIME_to_tm(X509_get0_notAfter(shown), &utc) != 1) return {0};
  return {static_cast<int64_t>(timegm(&utc)) * 1000};
}

}  // namespace

Result<std::shared_ptr<TlsContext>> MakeServerTls(const std::string& certificate, const std::string& key) {
  auto tls = std::make_shared<TlsContext>(TlsContext{ssl::context(ssl::context::tls_server)});
  SSL_CTX* const native = tls->context.native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  SSL_CTX_set_options(native,
                      SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);  // an idle connection keeps little
  error_code error;
  tls->context.use_certificate_chain_file(certificate, error);
  if (error)
    return Bad("certificate", certificate, error, "give a PEM file, the server's own certificate first");
  // Without this, OpenSSL would ask a terminal for the passphrase.
  tls->context.set_password_callback([](size_t, ssl::context::password_purpose) { return std::string(); });
  tls->context.use_private_key_file(key, ssl::context::pem, error);
  if (error)
    return Bad("key", key, error, "give a PEM file without a passphrase that belongs to the certificate");
  tls->not_after = NotAfter(native);
  return tls;
}

Result<std::shared_ptr<TlsContext>> MakeClientTls(const std::string& ca) {
  auto tls = std::make_shared<TlsContext>(TlsContext{ssl::context(ssl::context::tls_client)});
  SSL_CTX_set_min_proto_version(tls->context.native_handle(), TLS1_2_VERSION);
  error_code error;
  if (ca.empty()) {
    tls->context.set_default_verify_paths(error);
    if (error) return Bad("CA", "of this machine", error, "name a PEM file of certificates that are trusted");
  } else {
    tls->context.load_verify_file(ca, error);
    if (error) return Bad("CA", ca, error, "give a PEM file of certificates that are trusted");
  }
  tls->context.set_verify_mode(ssl::verify_peer);
  return tls;
}

void ExpectHost(ssl::stream<boost::beast::tcp_stream&>& stream, const std::string& host) {
  error_code not_numeric;
  boost::asio::ip::make_address(host, not_numeric);
  if (not_numeric) SSL_set_tlsext_host_name(stream.native_handle(), host.c_str());  // RFC 6066: names alone
  stream.set_verify_callback(ssl::host_name_verification(host));
}

}  // namespace seen
