#include "train/summaries.h"

#include <event.pb.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "errors.h"
#include "parse/parse.h"

namespace trainscope::workload {
namespace {

tfevents::Event event_now() {
  tfevents::Event event;
  event.set_wall_time(to_seconds(realtime_ns()));
  return event;
}

tfevents::Event version_event() {
  tfevents::Event event = event_now();
  event.set_file_version("brain.Event:2");
  return event;
}

tfevents::Event scalar_event(const std::string& tag, std::uint64_t step, double value) {
  tfevents::Event event = event_now();
  event.set_step(static_cast<std::int64_t>(step));
  tfevents::Summary::Value& scalar = *event.mutable_summary()->add_value();
  scalar.set_tag(tag);
  scalar.set_simple_value(static_cast<float>(value));
  return event;
}

}  // namespace

void Summaries::scalar(const std::string& set, const std::string& tag, std::uint64_t step,
                       double value) {
  if (folder_.empty() || !state_) return;
  if (std::FILE* file = file_of(set)) {
    write(file, scalar_event(tag, step, value).SerializeAsString());
  }
}

std::FILE* Summaries::file_of(const std::string& set) {
  File& file = files_[set];
  if (file) return file.get();
  const std::filesystem::path folder = folder_ / set;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const auto second = realtime_ns() / kNsPerSecond;
  const std::string name = "events.out.tfevents." + std::to_string(second) +
                           ".trainscope-workload." + std::to_string(getpid());
  file.reset(std::fopen((folder / name).c_str(), "wbxe"));
  if (!file) {
    note((folder / name).string() + ": cannot write: " + std::strerror(errno));
    return nullptr;
  }
  write(file.get(), version_event().SerializeAsString());
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
