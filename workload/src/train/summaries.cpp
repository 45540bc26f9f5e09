#include "train/summaries.h"

#include <unistd.h>

#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "errors.h"
#include "tfrecord/tfrecord.h"

namespace trainscope::workload {
namespace {

// The fields of TensorFlow's event.proto and summary.proto, as protobuf writes them.
constexpr char kEventTime = 1 << 3 | 1;     // double
constexpr char kEventStep = 2 << 3 | 0;     // varint
constexpr char kEventVersion = 3 << 3 | 2;  // text
constexpr char kEventSummary = 5 << 3 | 2;  // message
constexpr char kSummaryValue = 1 << 3 | 2;  // message
constexpr char kValueTag = 1 << 3 | 2;      // text
constexpr char kValueNumber = 2 << 3 | 5;   // float

void append_little(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xFF);
}

void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7F) | 0x80);
  out += static_cast<char>(value);
}

std::string sized(char key, const std::string& content) {
  std::string out(1, key);
  append_varint(out, content.size());
  return out + content;
}

double wall_time_s() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

std::string event_now() {
  std::string out(1, kEventTime);
  append_little(out, std::bit_cast<std::uint64_t>(wall_time_s()), 8);
  return out;
}

std::string scalar_event(const std::string& tag, std::uint64_t step, double value) {
  std::string number(1, kValueNumber);
  append_little(number, std::bit_cast<std::uint32_t>(static_cast<float>(value)), 4);
  std::string out = event_now() + kEventStep;
  append_varint(out, step);
  return out + sized(kEventSummary, sized(kSummaryValue, sized(kValueTag, tag) + number));
}

}  // namespace

void Summaries::scalar(const std::string& set, const std::string& tag, std::uint64_t step,
                       double value) {
  if (folder_.empty() || !state_) return;
  if (std::FILE* file = file_of(set)) write(file, scalar_event(tag, step, value));
}

std::FILE* Summaries::file_of(const std::string& set) {
  File& file = files_[set];
  if (file) return file.get();
  const std::filesystem::path folder = folder_ / set;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const auto second = static_cast<long long>(wall_time_s());
  const std::string name = "events.out.tfevents." + std::to_string(second) +
                           ".trainscope-workload." + std::to_string(getpid());
  file.reset(std::fopen((folder / name).c_str(), "wbxe"));
  if (!file) {
    note((folder / name).string() + ": cannot write: " + std::strerror(errno));
    return nullptr;
  }
  write(file.get(), event_now() + sized(kEventVersion, "brain.Event:2"));
  return file.get();
}

void Summaries::write(std::FILE* file, const std::string& event) {
  std::string record;
  append_tf_record(record, event);
  const bool whole = std::fwrite(record.data(), 1, record.size(), file) == record.size();
  if (!whole || std::fflush(file) != 0) {
    note(folder_.string() + ": cannot write: " + std::strerror(errno));
  }
}

void Summaries::note(const std::string& what) {
  if (state_) state_ = run_failure(what);
}

}  // namespace trainscope::workload
