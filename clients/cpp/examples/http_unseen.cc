#include "http_unseen.h"

#include <curl/curl.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <utility>

namespace seen::client::examples {
namespace {

using nlohmann::json;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

constexpr std::size_t kAnswerBytesMax = 16 << 20;  // 20,000 ids of 512 bytes are 10 MiB
constexpr std::size_t kDaemonsMax = 3;             // asked about one question
constexpr long kConnectionsMax = 100;              // kept for each thread
constexpr milliseconds kFetchTimeout{1'000};

extern "C" std::size_t AppendAnswer(char* bytes, std::size_t, std::size_t count, void* answer) {
  auto& text = *static_cast<std::string*>(answer);
  if (text.size() + count > kAnswerBytesMax) return 0;  // curl takes it for an error
  text.append(bytes, count);
  return count;
}

extern "C" std::size_t TakeHeader(char* bytes, std::size_t, std::size_t count, void* by) {
  constexpr std::string_view kName = "seen-answered-by:";
  std::string line(bytes, count);
  line.erase(line.find_last_not_of("\r\n \t") + 1);
  if (line.size() < kName.size()) return count;
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  if (std::equal(kName.begin(), kName.end(), line.begin(), [&](char a, char b) { return a == lower(b); })) {
    const auto begin = line.find_first_not_of(" \t", kName.size());
    *static_cast<std::string*>(by) = begin == std::string::npos ? "" : line.substr(begin);
  }
  return count;
}

}  // namespace

std::vector<std::string> AddressesOf(const std::string& list) {
  std::vector<std::string> addresses;
  std::istringstream in(list);
  for (std::string address; std::getline(in, address, ',');) {
    address.erase(0, address.find_first_not_of(' '));
    address.erase(address.find_last_not_of(" /") + 1);
    if (!address.empty()) addresses.push_back(std::move(address));
  }
  return addresses;
}

std::optional<std::string> FetchRoutes(const std::string& address) {
  const std::unique_ptr<CURL, void (*)(CURL*)> handle(curl_easy_init(), curl_easy_cleanup);
  std::string answer;
  curl_easy_setopt(handle.get(), CURLOPT_URL, (address + "/v1/routes").c_str());
  curl_easy_setopt(handle.get(), CURLOPT_TIMEOUT_MS, static_cast<long>(kFetchTimeout.count()));
  curl_easy_setopt(handle.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle.get(), CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(handle.get(), CURLOPT_WRITEFUNCTION, AppendAnswer);
  curl_easy_setopt(handle.get(), CURLOPT_WRITEDATA, &answer);
  if (curl_easy_perform(handle.get()) != CURLE_OK) return std::nullopt;
  return answer;
}

struct HttpUnseen::Curl {
  CURL* handle = curl_easy_init();
  char error[CURL_ERROR_SIZE] = {};

  Curl() = default;
  ~Curl() { curl_easy_cleanup(handle); }
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

HttpUnseen::HttpUnseen(Owners& owners, const std::string& filter, milliseconds timeout)
    : curl_(std::make_unique<Curl>()), owners_(owners), timeout_(timeout) {
  filter_path_ = "/v1/filters/" + curl_->Escaped(filter) + "/users/";
}

HttpUnseen::~HttpUnseen() = default;

std::optional<std::vector<std::string>> HttpUnseen::Fail(std::string problem) {
  problem_ = std::move(problem);
  return std::nullopt;
}

std::optional<std::vector<std::string>> HttpUnseen::Ask(const Question& question) {
  const std::string path = filter_path_ + curl_->Escaped(question.user) + "/unseen";
  const std::string body = json{{"items", question.items}, {"also_seen", question.also_seen}}.dump();
  const auto end = Owners::Clock::now() + timeout_;
  std::vector<Daemon> daemons = owners_.WhomToAsk(question.user);
  if (daemons.size() > kDaemonsMax) daemons.resize(kDaemonsMax);
  std::string problems;
  by_.clear();
  for (const Daemon& daemon : daemons) {
    auto left = duration_cast<milliseconds>(end - Owners::Clock::now());
    // Each but the last may take half of the time that is left: so there is time to ask another one.
    if (&daemon != &daemons.back()) left /= 2;
    if (left.count() <= 0) break;
    Reply reply = AskOne(daemon.address + path, body, left);
    if (reply.status == 0) {
      owners_.Failed(daemon);
      problems += daemon.address + ": " + reply.text + "; ";
      continue;
    }
    if (reply.status >= 500 || (!daemon.instance.empty() && daemon.instance != reply.by)) {
      owners_.Refresh();  // the partition may have moved
    }
    if (reply.status == 200) {
      by_ = std::move(reply.by);
      return Read(reply.text);
    }
    problems +=
        daemon.address + ": status " + std::to_string(reply.status) + ": " + reply.text.substr(0, 500) + "; ";
    if (reply.status < 500) break;  // the question is wrong, for all of them
  }
  return Fail("no answer within " + std::to_string(timeout_.count()) + " ms: " + problems);
}

HttpUnseen::Reply HttpUnseen::AskOne(const std::string& address, const std::string& body,
                                     milliseconds timeout) {
  // A daemon that passes the question on stops before this one does: its 503 says that it is there itself.
  const std::string deadline =
      "Seen-Deadline-Ms: " + std::to_string(std::max<long long>(1, timeout.count() * 3 / 4));
  curl_slist* headers = nullptr;
  for (const char* header : {"Content-Type: application/json",
                             "Expect:" /* no round trip before a large body */, deadline.c_str()}) {
    headers = curl_slist_append(headers, header);
  }
  Reply reply;
  CURL* handle = curl_->handle;
  // Forgets the question before, but not the connections.
  curl_easy_reset(handle);
  curl_easy_setopt(handle, CURLOPT_URL, address.c_str());
  curl_easy_setopt(handle, CURLOPT_PATH_AS_IS, 1L);  // a user may be called ".."
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(handle, CURLOPT_POSTFIELDS, body.data());
  curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(timeout.count()));
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);  // time-outs without signals, as threads need it
  curl_easy_setopt(handle, CURLOPT_TCP_NODELAY, 1L);
  curl_easy_setopt(handle, CURLOPT_MAXCONNECTS, kConnectionsMax);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, AppendAnswer);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &reply.text);
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, TakeHeader);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, &reply.by);
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, curl_->error);
  const CURLcode code = curl_easy_perform(handle);
  curl_slist_free_all(headers);
  long opened = 0;
  curl_easy_getinfo(handle, CURLINFO_NUM_CONNECTS, &opened);
  connections_ += opened;
  if (code != CURLE_OK) return {0, curl_->error[0] != '\0' ? curl_->error : curl_easy_strerror(code), ""};
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &reply.status);
  return reply;
}

std::optional<std::vector<std::string>> HttpUnseen::Read(const std::string& answer) {
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
