#include "collect/support/counters/counter_spec.h"

#include <fmt/format.h>

#include <array>
#include <set>

#include "base/text.h"
#include "collect/support/counters/row_pattern.h"

namespace trainscope {

namespace {

using Number = CounterType::Number;

constexpr std::array<CounterType, 16> kTypes = {{
    {"int", Number::integer, 0, 0},
    {"int_hex", Number::integer, 16, 0},
    {"uint", Number::natural, 0, 0},
    {"uint_hex", Number::natural, 16, 0},
    {"float", Number::real, 0, 0},
    {"double", Number::real, 0, 0},
    {"int8_bin", Number::integer, 0, 1},
    {"int16_bin", Number::integer, 0, 2},
    {"int32_bin", Number::integer, 0, 4},
    {"int64_bin", Number::integer, 0, 8},
    {"uint8_bin", Number::natural, 0, 1},
    {"uint16_bin", Number::natural, 0, 2},
    {"uint32_bin", Number::natural, 0, 4},
    {"uint64_bin", Number::natural, 0, 8},
    {"float_bin", Number::real, 0, 4},
    {"double_bin", Number::real, 0, 8},
}};

constexpr size_t kMaxRow = 1'000'000;
constexpr size_t kMaxOffset = size_t{1} << 62;

const CounterType* find_type(std::string_view name) {
  const std::string wanted = lower(name);
  for (const CounterType& type : kTypes) {
    if (type.name == wanted) return &type;
  }
  return nullptr;
}

std::string type_names() {
  std::string names;
  for (const CounterType& type : kTypes) {
    names += (names.empty() ? "" : ", ") + std::string(type.name);
  }
  return names;
}

// The next `wanted` from `from` on that has no backslash before it.
size_t find_bare(std::string_view text, char wanted, size_t from) {
  for (size_t i = from; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      ++i;
    } else if (text[i] == wanted) {
      return i;
    }
  }
  return std::string_view::npos;
}

// Without the backslashes that escape a ; or ,.
std::string unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escapes = text[i] == '\\' && i + 1 < text.size() &&
                         (text[i + 1] == ';' || text[i + 1] == ',' || text[i + 1] == '\\');
    out += text[escapes ? ++i : i];
  }
  return out;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// One SPEC; `base_` is its position in the user's argument, for messages.
class SpecParser {
 public:
  SpecParser(std::string_view spec, size_t base) : spec_(spec), base_(base) {
    out_.text = spec;
    out_.type = kTypes[0];
  }

  Result<CounterSpec> parse() {
    if (spec_.find_first_of(":@/+") == std::string_view::npos) return no_file(0);
    const size_t plus = spec_.find('+');
    const size_t path_end = plus == std::string_view::npos ? spec_.size() : plus;
    TS_CHECK_OK(parse_head(path_end));
    for (size_t at = path_end + 1; at <= spec_.size() && plus != std::string_view::npos;) {
      const size_t semicolon = std::min(find_bare(spec_, ';', at), spec_.size());
      TS_CHECK_OK(parse_parameter(at, semicolon));
      at = semicolon + 1;
    }
    TS_CHECK_OK(check_together());
    if (out_.name.empty()) out_.name = default_name();
    return out_;
  }

 private:
  Error wrong(size_t at, const std::string& what) const {
    return Error(fmt::format("'{}': character {}: {}", printable(spec_), base_ + at + 1, what));
  }

  Error no_file(size_t at) const {
    return wrong(at, "a file is expected: NAME:TYPE@PATH+c=COLUMN;r=ROW");
  }

  // A NAME may contain nearly everything, so the beginning of the text decides whether a colon
  // belongs to it or to the PATH.
  bool has_name(size_t colon, size_t path_end) const {
    if (colon >= path_end || spec_.starts_with('/') || spec_.starts_with("./") ||
        spec_.starts_with("../")) {
      return false;
    }
    const size_t at_sign = spec_.find('@');
    return at_sign == std::string_view::npos || at_sign > colon ||
           find_type(spec_.substr(0, at_sign)) == nullptr;
  }

  // [NAME ':'] [TYPE '@'] PATH
  Status parse_head(size_t path_end) {
    size_t at = 0;
    const size_t colon = spec_.find(':');
    if (has_name(colon, path_end)) {
      out_.name = trim(spec_.substr(0, colon));
      at = colon + 1;
      if (out_.name.empty()) return wrong(0, "a name is expected before the ':'");
    }
    for (const char c : out_.name) {
      if (static_cast<unsigned char>(c) < ' ') return wrong(0, "a control character in the name");
    }
    const size_t at_sign = spec_.find('@', at);
    if (at_sign < path_end) {
      const std::string_view word = trim(spec_.substr(at, at_sign - at));
      if (const CounterType* type = find_type(word)) {
        out_.type = *type;
        at = at_sign + 1;
      } else if (word.find('/') == std::string_view::npos) {
        return wrong(
            at, fmt::format("unknown type '{}'; use one of {}", printable(word), type_names()));
      }
    }
    out_.path = trim(spec_.substr(at, path_end - at));
    if (out_.path.empty()) return no_file(at);
    return {};
  }

  Status parse_parameter(size_t begin, size_t end) {
    while (begin < end && spec_[begin] == ' ') ++begin;
    const std::string_view whole = spec_.substr(begin, end - begin);
    if (trim(whole).empty()) return {};
    const size_t equals = whole.find('=');
    const bool has_value = equals != std::string_view::npos;
    const std::string word = lower(trim(whole.substr(0, equals)));
    const size_t value_at = begin + (has_value ? equals + 1 : whole.size());
    const std::string_view value = spec_.substr(value_at, end - value_at);
    if (word == "key" || word == "match" || word == "unit" || word == "kind") {
      return parse_named(word, value, value_at);
    }
    if (word == "rate" && !has_value) {
      rate_ = true;
      return {};
    }
    return parse_letter(word, begin, value_at, end);
  }

  // Extensions of Score-P's grammar.
  Status parse_named(const std::string& word, std::string_view value, size_t at) {
    if (value.empty()) return wrong(at, fmt::format("{}= needs a value", word));
    if (word == "key") out_.key = trim(unescaped(value));
    if (word == "unit") out_.unit = trim(unescaped(value));
    if (word == "match") {
      out_.match = value;  // to PCRE2 \; and \, are ; and ,
      auto pattern = RowPattern::compile(out_.match);
      if (!pattern) return wrong(at, "match: " + pattern.error().message());
      return {};
    }
    if (word != "kind") return {};
    if (value != "counter" && value != "gauge") {
      return wrong(at, fmt::format("kind must be counter or gauge, not '{}'", printable(value)));
    }
    has_kind_ = true;
    out_.kind = value == "counter" ? Kind::counter : Kind::gauge;
    return {};
  }

  // As in Score-P only the first letter counts: c=6 and column=6 are the same.
  Status parse_letter(const std::string& word, size_t at, size_t value_at, size_t end) {
    switch (word.empty() ? '\0' : word[0]) {
      case 'c':
        out_.has_column = true;
        return parse_number(out_.column, kMaxRow, value_at, end);
      case 'r':
      case 'l':
        out_.has_row = true;
        return parse_number(out_.row, kMaxRow, value_at, end);
      case 'b': {
        size_t offset = 0;
        Status status = parse_number(offset, kMaxOffset, value_at, end);
        out_.offset = offset;
        return status;
      }
      case 's':
        return parse_separator(value_at, end);
      case 'd':
        out_.from_first = true;
        return {};
      case 'p':
      case 'a':
        return {};  // affects trace viewers only; a run stores the values
      default:
        return wrong(at, fmt::format("unknown parameter '{}'; use c=, r=, s=, b=, d, p, a, "
                                     "key=, match=, unit=, kind=, rate",
                                     printable(word)));
    }
  }

  Status parse_number(size_t& out, size_t most, size_t at, size_t end) {
    while (at < end && spec_[at] == ' ') ++at;
    size_t stop = at;
    while (stop < end && is_digit(spec_[stop])) ++stop;
    const auto number = parse_integer(spec_.substr(at, stop - at));
    if (!number || *number < 0 || static_cast<uint64_t>(*number) > most) {
      return wrong(at, fmt::format("a number from 0 to {} is expected, not '{}'", most,
                                   printable(spec_.substr(at, end - at))));
    }
    out = static_cast<size_t>(*number);
    const std::string_view rest = spec_.substr(stop, end - stop);
    if (trim(rest).empty()) return {};
    // r=3s= : the ; was forgotten, as in an example that Score-P's own page has.
    const bool parameter = rest.size() > 1 && !is_digit(rest[0]) && rest[1] == '=';
    if (parameter) return parse_parameter(stop, end);
    return wrong(stop, fmt::format("'{}' after the number", printable(rest)));
  }

  Status parse_separator(size_t at, size_t end) {
    const std::string_view value = spec_.substr(at, end - at);
    if (value == "\\t") {
      out_.separator = '\t';
    } else if (value == "\\;" || value == "\\,") {
      out_.separator = value[1];
    } else if (value.size() == 1) {
      out_.separator = value[0];
    } else {
      return wrong(at, "s= takes one character (\\t is a tab)");
    }
    return {};
  }

  Status check_together() {
    const bool chosen = !out_.key.empty() || !out_.match.empty();
    if (!out_.key.empty() && !out_.match.empty()) {
      return wrong(0, "key and match both choose the row");
    }
    if (chosen && out_.has_row) return wrong(0, "the row is chosen twice: by number and by text");
    if (chosen && out_.type.binary_bytes > 0) {
      return wrong(0, "key and match are for text, not for binary types");
    }
    if (rate_ && has_kind_ && out_.kind == Kind::gauge) {
      return wrong(0, "rate is for counters, not for kind=gauge");
    }
    if (rate_) out_.kind = Kind::counter;
    // Text after the key is its value.
    if (!out_.key.empty() && !out_.has_column) out_.column = 1;
    return {};
  }

  // The file and the place in it.
  std::string default_name() const {
    const size_t slash = out_.path.find_last_of('/');
    std::string name = slash == std::string::npos ? out_.path : out_.path.substr(slash + 1);
    if (out_.type.binary_bytes > 0) return fmt::format("{}.b{}", name, out_.offset);
    if (!out_.key.empty()) {
      name += "." + out_.key;
    } else if (!out_.match.empty()) {
      name += ".match";
    } else {
      name += fmt::format(".r{}", out_.row);
    }
    return fmt::format("{}.c{}", printable(name), out_.column);
  }

  std::string_view spec_;
  size_t base_;
  CounterSpec out_;
  bool rate_ = false, has_kind_ = false;
};

// A comma ends a SPEC if the text after it begins another one; otherwise it belongs to the text.
bool begins_spec(std::string_view rest) {
  const std::string_view next = rest.substr(0, find_bare(rest, ',', 0));
  const size_t plus = next.find('+');
  if (plus == std::string_view::npos) return false;
  return next.substr(0, plus).find_first_of(":@/") != std::string_view::npos;
}

}  // namespace

Result<std::vector<CounterSpec>> parse_counters(std::string_view text) {
  std::vector<CounterSpec> specs;
  while (!text.empty() && (text.back() == ',' || text.back() == '\n')) text.remove_suffix(1);
  if (trim(text).empty()) return Error("a SPEC is expected: NAME:TYPE@PATH+c=COLUMN;r=ROW");
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = find_bare(text, ',', begin);
    while (end != std::string_view::npos && !begins_spec(text.substr(end + 1))) {
      end = find_bare(text, ',', end + 1);
    }
    end = std::min(end, text.size());
    TS_TRY(CounterSpec spec, SpecParser(text.substr(begin, end - begin), begin).parse());
    specs.push_back(std::move(spec));
    begin = end + 1;
  }
  return specs;
}

Result<std::vector<CounterSpec>> parse_counters(const std::vector<std::string>& texts) {
  std::vector<CounterSpec> all;
  std::set<std::string> names;
  for (const std::string& text : texts) {
    TS_TRY(std::vector<CounterSpec> specs, parse_counters(std::string_view(text)));
    for (CounterSpec& spec : specs) {
      if (!names.insert(spec.name).second) {
        return Error(fmt::format("'{}': counter '{}' exists already; use another name",
                                 printable(spec.text), printable(spec.name)));
      }
      all.push_back(std::move(spec));
    }
  }
  if (all.size() > kMaxCounters) {
    return Error(fmt::format("{} counters; at most {} are accepted", all.size(), kMaxCounters));
  }
  return all;
}

Status check_counters(const std::vector<std::string>& texts) {
  const auto parsed = parse_counters(texts);
  return parsed ? Status() : parsed.error();
}

}  // namespace trainscope
