#include "app/config_check.h"

#include <fmt/format.h>

#include "app/listeners.h"
#include "similar/text/idf_table.h"

namespace seen {

PrintCommand CheckFiles(const CheckCommand& check) {
  std::string mistakes;
  const auto note = [&](const auto& read) {
    if (!read) mistakes += fmt::format("{}: {}\n", check.name, read.error().message);
  };
  CredentialFiles tls = CredentialFilesOf(check.config.access);
  CredentialFiles tokens;
  tokens.tokens.swap(tls.tokens);  // apart, so that a mistake in one doesn't hide one in the other
  note(Credentials::Load(tls));
  note(Credentials::Load(tokens));
  if (check.config.items) note(ReadIdfFile(check.config.items->idf_file));
  if (!mistakes.empty()) return {kExitConfiguration, {}, std::move(mistakes)};
  return {0, fmt::format("{}: ok\n", check.name), {}};
}

}  // namespace seen
