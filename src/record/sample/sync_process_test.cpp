#include "record/sample/sync_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/fd.h"
#include "testing/descriptor_limit.h"
#include "testing/temporary_folder.h"

namespace trainscope {
namespace sync_process_test {

using Outcome = SyncProcess::Outcome;

Outcome outcome_of(SyncProcess& sync) {
  for (;;) {
    if (const auto outcome = sync.poll()) return *outcome;
    ::usleep(1000);
  }
}

// A sync of such a descriptor fails.
UniqueFd unsyncable() { return UniqueFd(::open("/", O_PATH | O_CLOEXEC)); }

Outcome sync_without_free_descriptors(const SyncProcess::Request& request) {
  SyncProcess sync;
  {
    const NoFreeDescriptors limit;
    EXPECT_TRUE(sync.start(request));
  }
  return outcome_of(sync);
}

TEST(SyncProcess, syncs_without_a_free_descriptor) {
  const UniqueFd bad = unsyncable();
  const TemporaryFolder folder;
  const auto good = open_file(folder.path() + "/file", O_WRONLY | O_CREAT);
  ASSERT_TRUE(good && bad);
  SyncProcess::Request request;
  request.segment_fd = good->get();
  EXPECT_EQ(sync_without_free_descriptors(request), Outcome::done);
  request.segment_fd = bad.get();
  EXPECT_EQ(sync_without_free_descriptors(request), Outcome::segment_failed);
  request.segment_fd = good->get();
  request.tail_fd = bad.get();
  EXPECT_EQ(sync_without_free_descriptors(request), Outcome::tail_failed);
}

}  // namespace sync_process_test
}  // namespace trainscope
