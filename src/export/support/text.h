// Numbers of text formats, the same in all of them, and a buffer before the sink.
#pragma once

#include <string>
#include <string_view>

#include "export/export.h"

namespace trainscope {

// The store has microseconds.
void append_time(std::string& out, double time_s);

// The text of append_time, written again only for another time: samples that were read together
// have the same.
class TimeText {
 public:
  const std::string& of(double time_s) {
    if (text_.empty() || time_s != time_s_) {
      text_.clear();
      append_time(text_, time_s);
      time_s_ = time_s;
    }
    return text_;
  }

 private:
  double time_s_ = 0;
  std::string text_;
};

// The shortest text that reads back as the same double.
void append_value(std::string& out, double value);

// Passes text on in large pieces.
class TextBuffer {
 public:
  explicit TextBuffer(const ExportSink& sink) : sink_(sink) {}
  std::string& text() { return text_; }
  Status pass_on_when_full() { return text_.size() < kFull ? Status() : pass_on(); }
  Status pass_on() {
    Status status = sink_(text_);
    text_.clear();
    return status;
  }

 private:
  static constexpr size_t kFull = 1 << 16;
  const ExportSink& sink_;
  std::string text_;
};

}  // namespace trainscope
