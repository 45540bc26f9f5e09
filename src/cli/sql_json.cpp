#include "cli/sql_json.h"

#include "base/json.h"
#include "cli/print.h"

namespace trainscope {

namespace {

constexpr size_t kFull = 1 << 16;

Json value_json(const SqlValue& value) {
  return std::visit(
      [](const auto& held) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) {
          return nullptr;
        } else {
          return held;
        }
      },
      value);
}

// A part of a document that is so many spaces to the right.
std::string indented_json(const Json& part, size_t spaces) {
  std::string text;
  for (const char c : json_text(part)) {
    text += c;
    if (c == '\n') text.append(spaces, ' ');  // within a string it is \n
  }
  return text;
}

}  // namespace

SqlOutput SqlDocument::output() {
  return {[this](const std::vector<std::string>& names) { return begin(names); },
          [this](const std::vector<SqlValue>& values) { return add_row(values); }};
}

Status SqlDocument::begin(const std::vector<std::string>& names) {
  text_ = "{\n  \"columns\": " + indented_json(names, 2) + ",\n  \"rows\": [";
  return {};
}

Status SqlDocument::add_row(const std::vector<SqlValue>& values) {
  Json row = Json::array();
  for (const SqlValue& value : values) row.push_back(value_json(value));
  text_ += has_rows_ ? ",\n    " : "\n    ";
  text_ += indented_json(row, 4);
  has_rows_ = true;
  return text_.size() < kFull ? Status() : pass_on();
}

Status SqlDocument::finish() {
  text_ += has_rows_ ? "\n  ]" : "]";
  text_ += ",\n  \"schema\": \"trainscope.sql/1\"\n}\n";
  return pass_on();
}

Status SqlDocument::pass_on() {
  Status written = write_(text_);
  text_.clear();
  return written;
}

}  // namespace trainscope
