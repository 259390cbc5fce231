#include "http_unseen.h"

#include <curl/curl.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace seen::client::examples {
namespace {

using nlohmann::json;

constexpr std::size_t kAnswerBytesMax = 16 << 20;  // 20,000 ids of 512 bytes are 10 MiB

extern "C" std::size_t AppendAnswer(char* bytes, std::size_t, std::size_t count, void* answer) {
  auto& text = *static_cast<std::string*>(answer);
  if (text.size() + count > kAnswerBytesMax) return 0;  // curl takes it for an error
  text.append(bytes, count);
  return count;
}

}  // namespace

struct HttpUnseen::Curl {
  CURL* handle = curl_easy_init();
  curl_slist* headers = nullptr;
  char error[CURL_ERROR_SIZE] = {};

  Curl() {
    headers = curl_slist_append(headers, "Content-Type: application/json");
    headers = curl_slist_append(headers, "Expect:");  // no round trip before a large body
  }
  ~Curl() {
    curl_slist_free_all(headers);
    curl_easy_cleanup(handle);
  }
  Curl(const Curl&) = delete;
  Curl& operator=(const Curl&) = delete;

  /// One segment of a path.
  std::string Escaped(const std::string& text) const {
    char* escaped = curl_easy_escape(handle, text.data(), static_cast<int>(text.size()));
    std::string result = escaped == nullptr ? "" : escaped;
    curl_free(escaped);
    return result;
  }
};

HttpUnseen::HttpUnseen(std::string address, const std::string& filter, std::chrono::milliseconds timeout)
    : curl_(std::make_unique<Curl>()), timeout_(timeout) {
  filter_address_ = std::move(address) + "/v1/filters/" + curl_->Escaped(filter) + "/users/";
}

HttpUnseen::~HttpUnseen() = default;

std::optional<std::vector<std::string>> HttpUnseen::Fail(std::string problem) {
  problem_ = std::move(problem);
  return std::nullopt;
}

std::optional<std::vector<std::string>> HttpUnseen::Ask(const Question& question) {
  const std::string address = filter_address_ + curl_->Escaped(question.user) + "/unseen";
  const std::string body = json{{"items", question.items}, {"also_seen", question.also_seen}}.dump();
  std::string answer;
  CURL* handle = curl_->handle;
  // Forgets the question before, but not the connection.
  curl_easy_reset(handle);
  curl_easy_setopt(handle, CURLOPT_URL, address.c_str());
  curl_easy_setopt(handle, CURLOPT_PATH_AS_IS, 1L);  // a user may be called ".."
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, curl_->headers);
  curl_easy_setopt(handle, CURLOPT_POSTFIELDS, body.data());
  curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(timeout_.count()));
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);  // time-outs without signals, as threads need it
  curl_easy_setopt(handle, CURLOPT_TCP_NODELAY, 1L);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, AppendAnswer);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &answer);
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, curl_->error);
  const CURLcode code = curl_easy_perform(handle);
  long opened = 0, status = 0;
  curl_easy_getinfo(handle, CURLINFO_NUM_CONNECTS, &opened);
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  connections_ += opened;
  if (code != CURLE_OK) return Fail(curl_->error[0] != '\0' ? curl_->error : curl_easy_strerror(code));
  if (status != 200) return Fail("status " + std::to_string(status) + ": " + answer.substr(0, 500));
  const json object = json::parse(answer, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object() || !object.contains("unseen") || !object["unseen"].is_array()) {
    return Fail("an answer without unseen: " + answer.substr(0, 500));
  }
  std::vector<std::string> unseen;
  for (const json& id : object["unseen"]) {
    if (!id.is_string()) return Fail("an id that is no string: " + answer.substr(0, 500));
    unseen.push_back(id);
  }
  return unseen;
}

}  // namespace seen::client::examples
