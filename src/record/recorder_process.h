// What the recorder's process and the one in its place have in common: how it is set up, and the
// signals that it sees.
#pragma once

#include "record/sample/shared.h"

namespace trainscope {

// Name, all signals blocked (a thread reads them), first to be killed when memory runs out, as many
// descriptors as possible, little memory cached, standard descriptors on /dev/null.
void prepare_recorder_process();
// Takes the signals that wait and notes when. Each is noted before it is taken, so that the
// supervisor finds it either waiting or noted.
void note_signals(SharedMemory& memory, int signal_fd);

}  // namespace trainscope
