#include "base/man_page.h"

#include <array>
#include <cstdio>

#include "base/utf8.h"

namespace trainscope {

namespace {

// ASCII characters that roff obeys, or prints as another one (a hyphen, a curly quote).
std::string_view escape_of(char c) {
  switch (c) {
    case '\\':
      return "\\(rs";
    case '-':
      return "\\-";
    case '\'':
      return "\\(aq";
    case '"':
      return "\\(dq";
    case '`':
      return "\\(ga";
    case '^':
      return "\\(ha";
    case '~':
      return "\\(ti";
    default:
      return {};
  }
}

}  // namespace

std::string roff_text(std::string_view text) {
  // A line that begins with a dot is a request.
  std::string out = text.starts_with('.') ? "\\&" : "";
  while (!text.empty()) {
    const char32_t code = take_code_point(text);
    if (code >= 0x80) {
      std::array<char, 16> escape{};
      std::snprintf(escape.data(), escape.size(), "\\[u%04X]", static_cast<unsigned>(code));
      out += escape.data();
    } else if (code < 0x20) {
      out += ' ';
    } else if (const auto escape = escape_of(static_cast<char>(code)); !escape.empty()) {
      out += escape;
    } else {
      out += static_cast<char>(code);
    }
  }
  return out;
}

ManPage::ManPage(std::string_view name, std::string_view summary, std::string_view source) {
  text_ = ".TH \"" + roff_text(name) + "\" 1 \"\" \"" + roff_text(source) + "\"\n";
  text_ += ".nh\n.ad l\n";  // A name that is hyphenated cannot be copied.
  section("NAME");
  text_ += roff_text(name) + " \\- " + roff_text(summary) + "\n";
}

void ManPage::begin_heading(std::string_view macro, std::string_view title) {
  text_ += std::string(macro) + " " + roff_text(title) + "\n";
  is_after_heading_ = true;
}

void ManPage::begin_paragraph() {
  if (!is_after_heading_) text_ += ".PP\n";
  is_after_heading_ = false;
}

void ManPage::section(std::string_view title) { begin_heading(".SH", title); }

void ManPage::subsection(std::string_view title) { begin_heading(".SS", title); }

void ManPage::paragraph(std::string_view text) {
  begin_paragraph();
  text_ += roff_text(text) + "\n";
}

void ManPage::example(std::string_view lines) {
  begin_paragraph();
  text_ += ".RS 4\n.nf\n";
  while (!lines.empty()) {
    const size_t end = lines.find('\n');
    text_ += roff_text(lines.substr(0, end)) + "\n";
    lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
  }
  text_ += ".fi\n.RE\n";
}

void ManPage::entry(std::string_view term, std::string_view value, std::string_view meaning) {
  is_after_heading_ = false;
  text_ += ".TP\n\\fB" + roff_text(term) + "\\fR";
  if (!value.empty()) text_ += " \\fI" + roff_text(value) + "\\fR";
  text_ += '\n';
  text_ += roff_text(meaning) + '\n';
}

}  // namespace trainscope
