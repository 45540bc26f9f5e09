// Sets up the recorder's process before it does anything else.
#pragma once

namespace trainscope {

// Name, all signals blocked (a thread reads them), first to be killed when memory runs out, as many
// descriptors as possible, little memory cached, standard descriptors on /dev/null.
void prepare_recorder_process();

}  // namespace trainscope
