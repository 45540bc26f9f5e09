// /api/run/ID/file/N: one of the files that the run kept. Images are shown; anything else is saved,
// as text: a browser must not run what a job wrote.
#include <algorithm>
#include <array>

#include "base/fd.h"
#include "store/store.h"
#include "web/asked_run.h"

namespace trainscope::file_route {

namespace {

constexpr size_t kMostFileBytes = size_t{64} << 20;
constexpr std::array<std::string_view, 4> kShownTypes = {"image/png", "image/jpeg", "image/gif",
                                                         "image/webp"};

Result<std::string> read_kept(const RunView& run, size_t index) {
  TS_TRY(const UniqueFd fd, open_stored_file(run.path(), index));
  TS_TRY(const size_t size, file_size(fd, "the file"));
  if (size > kMostFileBytes) return Error("the file is too large to be shown");
  std::string bytes;
  TS_CHECK_OK(read_part(fd, "the file", 0, size, bytes));
  return bytes;
}

Result<WebAnswer> answer(const RouteRequest& request) {
  const auto index = parse_query_count(request.parts.back());
  if (!index) return refusal(404, "there is no file of this number");
  const AskedRun asked = open_asked_run(request, OpenedRuns::Wanted::samples);
  if (asked.run == nullptr) return asked.refused;
  const StoredFiles stored =
      stored_files(asked.run->path(), asked.run->manifest().zero_realtime_ns);
  if (*index >= stored.files.size()) return refusal(404, "there is no file of this number");
  WebAnswer file;
  TS_TRY(file.body, read_kept(*asked.run, *index));
  // By its bytes, whatever its name or the index says.
  const std::string_view type = file_type(file.body);
  const bool is_shown =
      std::find(kShownTypes.begin(), kShownTypes.end(), type) != kShownTypes.end();
  file.type = is_shown ? std::string(type) : "text/plain";
  if (!is_shown) {
    file.headers.emplace_back("Content-Disposition", "attachment; filename=\"kept-file.txt\"");
  }
  return file;
}

}  // namespace

extern const Route entry;
const Route entry = {"/api/run/*/file/*", answer};

}  // namespace trainscope::file_route
