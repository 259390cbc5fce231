// Asks seend over HTTP for each line of standard input, and shows rather than fails where there is no answer
// in time. Of several daemons it asks the one that owns the user's partition.
//
//   ask_over_http --http http://10.0.0.1:8080,http://10.0.0.2:8080 --timeout-ms 50

#include <curl/curl.h>

#include <cstdio>
#include <iostream>

#include "http_unseen.h"
#include "questions.h"

int main(int argc, char** argv) {
  using namespace seen::client::examples;
  std::map<std::string, std::string> flags = {
      {"http", "http://127.0.0.1:8080"}, {"filter", "default"}, {"timeout-ms", "50"}};
  if (!ReadFlags(argc, argv, flags)) return 2;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  {
    Owners owners(AddressesOf(flags["http"]), FetchRoutes);
    HttpUnseen http(owners, flags["filter"], std::chrono::milliseconds(NumberOf(flags, "timeout-ms")));
    for (std::string line; std::getline(std::cin, line);) {
      const auto question = ParseQuestion(line);
      if (!question) continue;
      auto unseen = http.Ask(*question);
      if (!unseen) std::fprintf(stderr, "%s\n", http.problem().c_str());
      const Answer answer = unseen ? Answer{*std::move(unseen), "http", http.by()}
                                   : Answer{ByTheRequestAlone(*question), "request"};
      std::cout << ToLine(answer) << std::endl;
    }
    std::fprintf(stderr, "connections opened: %ld\n", http.connections());
  }
  curl_global_cleanup();
}
