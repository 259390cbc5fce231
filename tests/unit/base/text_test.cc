#include "base/text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace seen {
namespace {

TEST(Printable, ShowsAnyBytes) {
  const struct {
    std::string_view text;
    std::string_view shown;
  } cases[] = {
      {"", ""},
      {"caf\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80"},
      {"caf\xe9", "caf\\xe9"},
      {"\xd6\xd0\xce\xc4", "\\xd6\\xd0\\xce\\xc4"},
      {"a\x1b[2J\x7f", "a\\x1b[2J\\x7f"},
      {"\xc2\x9b"
       "2J",
       "\\xc2\\x9b2J"},
      {"a\nb\tc", "a\\x0ab\\x09c"},
      {"\xe4\xb8", "\\xe4\\xb8"},
      {"\u2029a\u202eb\u202f\u2066c\u2069\u206a",
       "\u2029a\\xe2\\x80\\xaeb\u202f\\xe2\\x81\\xa6c\\xe2\\x81\\xa9\u206a"},
  };
  for (const auto& c : cases) EXPECT_EQ(Printable(c.text), c.shown);
  EXPECT_EQ(PrintableLines("a\x1b\nb\n"), "a\\x1b\nb\n");
}

TEST(JsonText, NeverThrows) {
  const nlohmann::ordered_json json = {{"name", "caf\xe9"}};
  EXPECT_EQ(JsonText(json), "{\"name\":\"caf\xef\xbf\xbd\"}");
  EXPECT_EQ(JsonText(json, 1), "{\n \"name\": \"caf\xef\xbf\xbd\"\n}");
}

}  // namespace
}  // namespace seen
