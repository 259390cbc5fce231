#pragma once
// What both examples do alike: flags, and questions and answers as lines of JSON.
//
//   {"user":"u1","items":["n1","n2",7],"also_seen":["n9"]}  ->  {"unseen":["n2","7"],"from":"cache"}

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace seen::client::examples {

struct Question {
  std::string user;
  std::vector<std::string> items;
  std::vector<std::string> also_seen;
};

struct Answer {
  std::vector<std::string> unseen;
  std::string from;
  std::string by = {};  // the daemon that answered
};

/// nullopt: `line` is no question; why is said on standard error.
std::optional<Question> ParseQuestion(const std::string& line);
std::string ToLine(const Answer& answer);

/// What is left of the items by the request alone: shown rather than failing. Each once.
std::vector<std::string> ByTheRequestAlone(const Question& question);

/// `flags`: names without dashes and their defaults, which `--name value` on the command line replaces.
/// False: something is wrong with it, as is said on standard error.
bool ReadFlags(int argc, char** argv, std::map<std::string, std::string>& flags);
/// A flag that is a number from 1 to 10^12; ends the program with status 2 where it is none.
long long NumberOf(const std::map<std::string, std::string>& flags, const std::string& name);

}  // namespace seen::client::examples
