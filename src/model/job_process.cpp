#include "model/job_process.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace trainscope {

namespace {

std::optional<int64_t> number_after(std::string_view part, std::string_view name) {
  part = trim(part);
  if (!part.starts_with(name)) return std::nullopt;
  const auto number = parse_integer(trim(part.substr(name.size())));
  return number && *number > 0 ? number : std::nullopt;
}

}  // namespace

std::string job_process_text(const JobProcess& process) {
  return fmt::format("pid {}, start {}, PID namespace {}", process.pid, process.start_ticks,
                     process.pid_namespace);
}

std::optional<JobProcess> find_job_process(const std::vector<Event>& events) {
  const auto last = std::find_if(events.rbegin(), events.rend(),
                                 [](const Event& event) { return event.kind == kJobProcessEvent; });
  if (last == events.rend()) return std::nullopt;
  const auto parts = split(last->text, ',');
  if (parts.size() != 3) return std::nullopt;
  const auto pid = number_after(parts[0], "pid ");
  const auto start = number_after(parts[1], "start ");
  const auto space = number_after(parts[2], "PID namespace ");
  if (!pid || *pid > INT32_MAX || !start || !space) return std::nullopt;
  return JobProcess{*pid, *start, *space};
}

}  // namespace trainscope
