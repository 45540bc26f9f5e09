// What the recorder's process is made to be, before it does anything.
#pragma once

namespace trainscope {

// Its name, all signals blocked (a thread reads them), first to die when memory runs out, as many
// descriptors as it may have, little memory kept for later, nothing on its standard descriptors.
void prepare_recorder_process();

}  // namespace trainscope
