#include "decode/record_events.h"

#include <gtest/gtest.h>

#include <string>

namespace seen {
namespace {

std::string Split(std::string_view value) {
  std::vector<std::string_view> events;
  std::string shown = SplitEvents(value, events) ? "" : "one";
  for (const std::string_view event : events) shown += (shown.empty() ? "" : " | ") + std::string(event);
  return shown;
}

TEST(SplitEvents, FindsArraysLinesAndSequences) {
  const std::pair<const char*, const char*> cases[] = {
      {R"([{"a":1},{"a":[2,3]}])", R"({"a":1} | {"a":[2,3]})"},
      {R"( [ {"a":1} , 7 , "x" , null ] )", R"({"a":1} | 7 | "x" | null)"},
      {R"([{"a":1}])", R"({"a":1})"},
      {R"([{"a":"],[\"}"},{"b":1}])", R"({"a":"],[\"}"} | {"b":1})"},
      {R"(["{\"a\":1}"])", R"("{\"a\":1}")"},
      {R"([{"a":x},{"b":1} junk,{}])", R"({"a":x} | {"b":1} junk | {})"},
      {"{\"a\":1}\n{\"a\":2}\n", R"({"a":1} | {"a":2})"},
      {"{\"a\":1}\r\n\r\n{\"a\":2}", R"({"a":1} | {"a":2})"},
      {"no JSON\n{\"a\":2}\n{\"a\":", R"(no JSON | {"a":2} | {"a":)"},
      {"{\"a\":1} {\"a\":2}\n{\"a\":3}", R"({"a":1} | {"a":2} | {"a":3})"},
      {R"({"a":1}{"a":2} {"a":3)", R"({"a":1} | {"a":2} | {"a":3)"},
      {"{\n\"a\":1\n}\n{\n\"a\":2\n}", "{\n\"a\":1\n} | {\n\"a\":2\n}"},
      {R"({"a":"}"} {"b":"}\""})", R"({"a":"}"} | {"b":"}\""})"},
      {"\xef\xbb\xbf{\"a\":1}\n{\"a\":2}", R"({"a":1} | {"a":2})"},
  };
  for (const auto& [value, events] : cases) EXPECT_EQ(Split(value), events) << value;
}

TEST(SplitEvents, LeavesOneEventWhole) {
  for (const char* const value :
       {"", "[]", "[1,2]", R"(["a","b"])", R"({"a":1} trailing)", R"({"a":1)", "[{\"a\":1}", R"([{"a":1}]])",
        "{\n  \"items\": [\n    {\"id\":1}\n  ],\n", "a\nb", "x{}", R"("u1")", R"({"a":"}{","b":"} \"}"})",
        R"({"a":{"b":1},"c":[{}]})"})
    EXPECT_EQ(Split(value), "one") << value;
}

}  // namespace
}  // namespace seen
