#include "tools/history/row_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "decode/event_time.h"

namespace seen {
namespace {

using Json = nlohmann::ordered_json;

std::optional<Field> FieldNamed(std::string_view name) {
  for (size_t i = 0; i < kFields; ++i) {
    if (FieldName(static_cast<Field>(i)) == name) return static_cast<Field>(i);
  }
  return std::nullopt;
}

/// Puts `value` at the path `steps`. "*" is the first element of an array.
void PutAt(Json& event, const std::vector<std::string>& steps, Json value) {
  Json* at = &event;
  for (const std::string& step : steps) at = step == "*" ? &(*at)[0] : &(*at)[step];
  *at = std::move(value);
}

bool StandsInItems(Field field) {
  return field == Field::kItemId || field == Field::kPosition || field == Field::kItemCreatedAt;
}

/// The path of a column's value in the event.
tl::expected<std::vector<std::string>, std::string> StepsOf(std::string_view column,
                                                            const EventFormat& format) {
  if (column.starts_with('/')) {
    auto pointer = ParseJsonPointer(column);
    if (!pointer) return tl::unexpected(fmt::format("column {}: {}", column, pointer.error()));
    return std::move(pointer->steps);
  }
  const auto field = FieldNamed(column);
  if (!field) return std::vector<std::string>{std::string(column)};
  const auto& rule = format.fields[static_cast<size_t>(*field)];
  const auto& items = format.fields[static_cast<size_t>(Field::kItems)];
  std::vector<std::string> steps;
  if (items && StandsInItems(*field)) {
    steps = items->at.steps;
    steps.emplace_back("*");
  }
  if (rule) {
    steps.insert(steps.end(), rule->at.steps.begin(), rule->at.steps.end());
  } else {
    steps.emplace_back(column);
  }
  return steps;
}

void AppendString(std::string& json, std::string_view text) {
  json += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      json += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      json += c;
    }
  }
  json += '"';
}

/// Source: RFC 8259, section 6.
bool IsJsonNumber(std::string_view text) {
  size_t i = text.starts_with('-') ? 1 : 0;
  const auto digits = [&] {
    const size_t from = i;
    while (i < text.size() && text[i] >= '0' && text[i] <= '9') ++i;
    return i - from;
  };
  const size_t first = i;
  const size_t whole = digits();
  if (whole == 0 || (whole > 1 && text[first] == '0')) return false;
  if (i < text.size() && text[i] == '.') {
    ++i;
    if (digits() == 0) return false;
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
    if (digits() == 0) return false;
  }
  return i == text.size();
}

char SeparatorOf(std::string_view header) { return header.find('\t') != std::string_view::npos ? '\t' : ','; }

std::string Placeholder(size_t column) { return fmt::format("\x01{}\x01", column); }

}  // namespace

bool RowTemplate::LooksLikeHeader(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t\xef\xbb\xbf");
  if (first == std::string_view::npos || line[first] == '{' || line[first] == '[') return false;
  return line.find('\t') != std::string_view::npos || line.find(',') != std::string_view::npos;
}

Result<RowTemplate> RowTemplate::Make(std::string_view header, const EventFormat& format) {
  RowTemplate made;
  made.separator_ = SeparatorOf(header);
  if (auto split = made.Split(header); !split) return Fail(Code::kInvalidArgument, split.error());
  Json event = Json::object();
  bool has_user = false;
  bool has_item = false;
  try {
    for (size_t i = 0; i < made.cells_used_; ++i) {
      const std::string& name = made.cells_[i];
      const auto steps = StepsOf(name, format);
      if (!steps) return Fail(Code::kInvalidArgument, steps.error());
      // JSON writes this control character as \u0001. No column name gives these six characters.
      PutAt(event, *steps, Placeholder(i));
      const auto field = FieldNamed(name);
      Form form = field ? Form::kText : Form::kScalar;
      if (field && (IsTime(*field) || *field == Field::kPosition)) form = Form::kNumber;
      if (field == Field::kItems) form = Form::kList;
      has_user = has_user || field == Field::kUserId || name.starts_with('/');
      has_item = has_item || field == Field::kItemId || field == Field::kItems || name.starts_with('/');
      made.columns_.push_back({0, form});
    }
  } catch (const Json::exception&) {
    return Fail(Code::kInvalidArgument,
                "two columns have the same place in the event. Rename one in the header");
  }
  if (!has_user || !has_item) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format(
            "a table without a column {}; its header has: {}. Name the columns user_id, item_id and "
            "exposed_at, or give each as a JSON pointer such as /data/uid",
            has_user ? "item_id" : "user_id",
            fmt::join(made.cells_.begin(), made.cells_.begin() + static_cast<long>(made.cells_used_), ", ")));
  }
  const std::string whole = event.dump();
  size_t at = 0;
  std::vector<std::pair<size_t, size_t>> places;  // position of a column's placeholder, and the column
  for (size_t i = 0; i < made.cells_used_; ++i) {
    const size_t found = whole.find(Json(Placeholder(i)).dump());
    if (found == std::string::npos) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("two columns have the place of {}. Rename one in the header", made.cells_[i]));
    }
    places.emplace_back(found, i);
  }
  std::sort(places.begin(), places.end());
  for (size_t place = 0; place < places.size(); ++place) {
    const auto [begin, column] = places[place];
    made.texts_.push_back(whole.substr(at, begin - at));
    at = begin + Json(Placeholder(column)).dump().size();
    made.columns_[column].place = place;
  }
  made.texts_.push_back(whole.substr(at));
  made.values_.resize(places.size());
  return made;
}

tl::expected<void, std::string> RowTemplate::Split(std::string_view row) {
  cells_used_ = 0;
  size_t at = 0;
  while (true) {
    if (cells_used_ == cells_.size()) cells_.emplace_back();
    std::string& cell = cells_[cells_used_++];
    cell.clear();
    if (separator_ == ',' && at < row.size() && row[at] == '"') {
      ++at;
      while (true) {
        const size_t quote = row.find('"', at);
        if (quote == std::string_view::npos)
          return tl::unexpected(
              fmt::format("cell {} has an opening quote and no closing quote", cells_used_));
        cell += row.substr(at, quote - at);
        at = quote + 1;
        if (at == row.size() || row[at] != '"') break;
        cell += '"';
        ++at;
      }
      if (at < row.size() && row[at] != ',')
        return tl::unexpected(fmt::format("cell {} has text after its closing quote", cells_used_));
    } else {
      const size_t end = std::min(row.find(separator_, at), row.size());
      cell = row.substr(at, end - at);
      at = end;
      if (separator_ == '\t' && cell.find('\\') != std::string::npos) {
        size_t to = 0;
        for (size_t i = 0; i < cell.size(); ++i) {
          const char next = cell[i] == '\\' && i + 1 < cell.size() ? cell[i + 1] : '\0';
          const char meant = next == 't'    ? '\t'
                             : next == 'n'  ? '\n'
                             : next == 'r'  ? '\r'
                             : next == '\\' ? '\\'
                                            : '\0';
          if (meant != '\0') ++i;
          cell[to++] = meant != '\0' ? meant : cell[i];
        }
        cell.resize(to);
      }
    }
    if (at >= row.size()) return {};
    ++at;  // the separator
  }
}

tl::expected<void, std::string> RowTemplate::ToJson(std::string_view row, std::string& json) {
  if (auto split = Split(row); !split) return split;
  if (cells_used_ != columns_.size())
    return tl::unexpected(fmt::format("{} cells, and the header has {}", cells_used_, columns_.size()));
  for (size_t i = 0; i < columns_.size(); ++i) {
    const std::string& cell = cells_[i];
    std::string& value = values_[columns_[i].place];
    value.clear();
    const Form form = columns_[i].form;
    const bool is_literal =
        (form == Form::kNumber && IsJsonNumber(cell)) || (form == Form::kList && cell.starts_with('[')) ||
        (form == Form::kScalar && (cell == "true" || cell == "false" || IsJsonNumber(cell)));
    if (cell.empty()) {
      value = "null";
    } else if (is_literal) {
      value = cell;
    } else {
      AppendString(value, cell);
    }
  }
  json.clear();
  for (size_t i = 0; i < values_.size(); ++i) {
    json += texts_[i];
    json += values_[i];
  }
  json += texts_.back();
  return {};
}

}  // namespace seen
