// A page for man(1), written as roff (man(7)).
//
// Guarantees: text is printed as it is and never becomes a request or an escape; the page is ASCII
// and has no date, so that the same program writes the same bytes everywhere. Limits: section 1.
#pragma once

#include <string>
#include <string_view>

namespace trainscope {

// The roff source that prints `text`, on one line.
std::string roff_text(std::string_view text);

class ManPage {
 public:
  // `source` is what the page belongs to: "trainscope 1.2.3".
  ManPage(std::string_view name, std::string_view summary, std::string_view source);

  void section(std::string_view title);
  void subsection(std::string_view title);
  void paragraph(std::string_view text);
  // Lines that are neither filled nor broken.
  void example(std::string_view lines);
  // A term in bold, its value in italics ("" for none), and what it means.
  void entry(std::string_view term, std::string_view value, std::string_view meaning);

  const std::string& text() const { return text_; }

 private:
  void begin_heading(std::string_view macro, std::string_view title);
  // A heading begins a paragraph by itself.
  void begin_paragraph();

  std::string text_;
  bool is_after_heading_ = false;
};

}  // namespace trainscope
