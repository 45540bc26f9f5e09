#include "analyze/support/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "base/text.h"

namespace trainscope {

namespace {

// One sentence per framework; `any` where the framework is not known.
struct AdviceRow {
  Advice advice;
  std::string_view any, pytorch, tensorflow, jax;
};

constexpr std::array<AdviceRow, static_cast<size_t>(Advice::count)> kAdvice = {{
    {Advice::load_ahead, "load ahead: num_workers (PyTorch), prefetch (tf.data)",
     "load ahead: DataLoader(num_workers=..., prefetch_factor=...)",
     "load ahead: dataset.prefetch(tf.data.AUTOTUNE)",
     "load ahead: a loader with worker processes (Grain, tf.data), and the next "
     "batch on the device before the step needs it"},
    {Advice::faster_storage,
     "read ahead (num_workers, prefetch), or put the data on faster storage or into memory",
     "read ahead with DataLoader(num_workers=...), or put the data on faster storage or into "
     "memory",
     "read ahead with dataset.interleave(..., num_parallel_calls=tf.data.AUTOTUNE) and "
     "prefetch, dataset.cache() if it fits into memory, or put the data on faster storage",
     "read ahead in worker processes, or put the data on faster storage or into memory"},
    {Advice::local_copy,
     "copy the data to a local disk, or read ahead (num_workers, prefetch) with larger reads",
     "copy the data to a local disk, or read ahead with DataLoader(num_workers=...) and larger "
     "files (WebDataset)",
     "copy the data to a local disk (dataset.cache(FILE)), or read larger TFRecord files with "
     "interleave and prefetch",
     "copy the data to a local disk, or read ahead in worker processes with larger reads"},
    {Advice::more_workers,
     "use more loading workers: num_workers (PyTorch), num_parallel_calls (tf.data)",
     "use more loading workers: DataLoader(num_workers=...)",
     "load with more threads: dataset.map(..., num_parallel_calls=tf.data.AUTOTUNE)",
     "use more loading workers (worker_count of Grain)"},
    {Advice::slow_worker, "find what the slow worker does: one sample may be far larger",
     "find what the slow worker does: one sample may be far larger; from PyTorch 2.6 on "
     "DataLoader(in_order=False) does not wait for it",
     "find which element is slow; dataset.map(..., deterministic=False) does not wait for it",
     "find what the slow worker does: one sample may be far larger"},
    {Advice::decode_less,
     "make a sample cheaper to load: smaller images, decoded or resized once and stored",
     "make a sample cheaper to load: smaller images, decoded or resized once and stored, or "
     "decoded on the GPU (torchvision.io.decode_jpeg, DALI)",
     "make an element cheaper to load: dataset.cache() after decoding, smaller images, or "
     "tf.io.decode_and_crop_jpeg",
     "make a sample cheaper to load: smaller images, decoded or resized once and stored"},
    {Advice::decode_in_workers,
     "load in worker processes: num_workers (PyTorch), num_parallel_calls and prefetch (tf.data)",
     "load in worker processes: DataLoader(num_workers=...), which is 0 unless it is given",
     "load in other threads: dataset.map(..., num_parallel_calls=tf.data.AUTOTUNE).prefetch("
     "tf.data.AUTOTUNE)",
     "load in worker processes (Grain, tf.data) instead of the thread that runs the steps"},
    {Advice::larger_files,
     "store the samples in fewer, larger files (tar, TFRecord, LMDB), or read larger pieces",
     "store the samples in fewer, larger files (WebDataset, LMDB), or read larger pieces",
     "store the samples in TFRecord files of 100 MB or more",
     "store the samples in fewer, larger files (ArrayRecord, TFRecord), or read larger pieces"},
    {Advice::fewer_threads, "use as many threads as cores: OMP_NUM_THREADS, fewer workers",
     "use as many threads as cores: OMP_NUM_THREADS or torch.set_num_threads, fewer workers",
     "use as many threads as cores: tf.config.threading.set_intra_op_parallelism_threads, "
     "OMP_NUM_THREADS",
     "use as many threads as cores: OMP_NUM_THREADS, fewer loading workers"},
    {Advice::more_threads,
     "if the work can be divided, use more threads or processes; otherwise a faster core",
     "if the work can be divided, use more threads (torch.set_num_threads) or processes; "
     "otherwise a faster core",
     "if the work can be divided, put it into a tf.function or more threads; otherwise a faster "
     "core",
     "put more of the step into jax.jit, which uses all cores; otherwise a faster core"},
    {Advice::launch_less, "raise the batch size, or launch fewer and larger kernels (a compiler)",
     "raise the batch size; torch.compile(mode=\"reduce-overhead\") or CUDA graphs launch less",
     "raise the batch size; tf.function(jit_compile=True) launches less, and "
     "steps_per_execution of compile() runs several steps at once",
     "raise the batch size; put the whole step, or several with jax.lax.scan, into one jax.jit"},
    {Advice::copy_faster,
     "copy from pinned memory in the background; send smaller types and convert on the GPU",
     "DataLoader(pin_memory=True) and .to(device, non_blocking=True); send smaller types (uint8) "
     "and convert on the GPU",
     "prefetch to the device (tf.data.experimental.prefetch_to_device); send smaller types "
     "(uint8) and convert on the GPU",
     "jax.device_put of the next batch while the step runs; send smaller types (uint8) and "
     "convert on the GPU"},
    {Advice::less_gpu_memory_traffic, "fuse element-wise operations, use a smaller type (bf16)",
     "fuse element-wise operations (torch.compile), use a smaller type (torch.autocast with "
     "bfloat16), channels_last for convolutions",
     "fuse element-wise operations (jit_compile=True), use a smaller type "
     "(mixed_precision.set_global_policy(\"mixed_bfloat16\"))",
     "keep element-wise operations in one jax.jit, use a smaller type (bfloat16)"},
    {Advice::save_less, "save less often, save in the background, or save to faster storage",
     "save less often, save in the background (torch.distributed.checkpoint.async_save), or save "
     "to faster storage",
     "save less often, save in the background (tf.train.CheckpointOptions("
     "enable_async=True)), or save to faster storage",
     "save less often, save in the background (the asynchronous checkpointer of Orbax), or save "
     "to faster storage"},
    {Advice::overlap_communication,
     "compare the ranks: a slow one holds up all; overlap communication",
     "compare the ranks: a slow one holds up all; larger buckets of DDP (bucket_cap_mb), "
     "gradient accumulation with no_sync()",
     "compare the ranks: a slow one holds up all; fewer and larger reductions",
     "compare the ranks: a slow one holds up all; let the compiler overlap collectives"},
    {Advice::warm_cache,
     "only the first pass read from storage: read the data into memory before (cat FILES > "
     "/dev/null), and leave that pass out of comparisons",
     "only the first pass read from storage: read the data into memory before (cat FILES > "
     "/dev/null), load it with more workers, and leave that pass out of comparisons",
     "only the first pass read from storage: read the data into memory before (cat FILES > "
     "/dev/null), interleave and prefetch it, and leave that pass out of comparisons",
     "only the first pass read from storage: read the data into memory before (cat FILES > "
     "/dev/null), and leave that pass out of comparisons"},
    {Advice::start_ahead,
     "keep the loading workers from epoch to epoch, and load the first batches of the next one "
     "while this one ends",
     "keep the loading workers from epoch to epoch: DataLoader(persistent_workers=True)",
     "begin no new iterator for each epoch: dataset.repeat() and steps_per_epoch, or a smaller "
     "buffer of shuffle(), which is filled before the first element of each epoch",
     "keep the loading workers from epoch to epoch, and load the first batches of the next one "
     "while this one ends"},
    // PyTorch 2.15 reads PYTORCH_ALLOC_CONF as well, older ones only this name.
    {Advice::less_gpu_memory,
     "before a larger batch or longer samples, save memory: a smaller type (bf16), or activations "
     "that are computed again",
     "before a larger batch or longer samples, save memory: torch.autocast with bfloat16, "
     "torch.utils.checkpoint, PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True against fragments",
     "TensorFlow reserves nearly all of it: with TF_FORCE_GPU_ALLOW_GROWTH=true the metrics show "
     "what the job needs",
     "JAX reserves most of it: with XLA_PYTHON_CLIENT_PREALLOCATE=false the metrics show what the "
     "job needs"},
}};

constexpr bool is_in_order() {
  for (size_t i = 0; i < kAdvice.size(); ++i) {
    if (static_cast<size_t>(kAdvice[i].advice) != i) return false;
  }
  return true;
}
static_assert(is_in_order());

struct ModuleOf {
  std::string_view module;
  Framework framework;
};
// Keras may compute with PyTorch or JAX; then its framework is not one of these alone.
constexpr std::array<ModuleOf, 8> kModules = {{{"torch", Framework::pytorch},
                                               {"lightning", Framework::pytorch},
                                               {"pytorch_lightning", Framework::pytorch},
                                               {"transformers", Framework::pytorch},
                                               {"accelerate", Framework::pytorch},
                                               {"keras", Framework::tensorflow},
                                               {"tensorflow", Framework::tensorflow},
                                               {"jax", Framework::jax}}};

// What the instrumentation attached to: "instrumented torch 2.11: input; transformers 4.5: loss".
// Of several frameworks, nobody knows which one trains.
Framework attached_framework(const std::vector<Event>& events) {
  constexpr std::string_view kMark = "instrumented ";
  std::set<Framework> attached;
  for (const Event& event : events) {
    if (!event.text.starts_with(kMark)) continue;
    const std::string text = "; " + event.text.substr(kMark.size());
    for (const ModuleOf& each : kModules) {
      for (const char* const end : {" ", ":"}) {
        const bool has = text.find(fmt::format("; {}{}", each.module, end)) != text.npos;
        if (has) attached.insert(each.framework);
      }
    }
  }
  return attached.size() == 1 ? *attached.begin() : Framework::unknown;
}

// By the event of the recorder (record/host/frameworks.h): "torch", "jax, tensorflow".
Framework loaded_framework(const std::vector<Event>& events) {
  std::set<Framework> loaded;
  for (const Event& event : events) {
    if (event.kind != "framework") continue;
    for (const std::string_view name : split(event.text, ',')) {
      for (const ModuleOf& each : kModules) {
        if (trim(name) == each.module) loaded.insert(each.framework);
      }
    }
  }
  return loaded.size() == 1 ? *loaded.begin() : Framework::unknown;
}

bool is_launched_by_pytorch(const std::vector<std::string>& command) {
  constexpr std::array<std::string_view, 6> kLaunchers = {
      "torchrun",  "torch.distributed.run",     "torch.distributed.launch", "accelerate",
      "deepspeed", "accelerate.commands.launch"};
  return std::any_of(command.begin(), command.end(), [&](std::string_view word) {
    word = word.substr(word.rfind('/') + 1);  // npos + 1 is 0
    return std::find(kLaunchers.begin(), kLaunchers.end(), word) != kLaunchers.end();
  });
}

// Only PyTorch has a thread that pins memory (collect/job_threads.cpp).
bool has_pinning_thread(const std::vector<Series>& series) {
  return std::any_of(series.begin(), series.end(), [](const Series& each) {
    return each.metric == "job.thread.time" &&
           std::find(each.labels.begin(), each.labels.end(),
                     std::pair<std::string, std::string>("role", "pin")) != each.labels.end();
  });
}

}  // namespace

Framework framework_of(const RunView& run) {
  const Framework attached = attached_framework(run.events());
  if (attached != Framework::unknown) return attached;
  const Framework loaded = loaded_framework(run.events());
  if (loaded != Framework::unknown) return loaded;
  if (is_launched_by_pytorch(run.manifest().command)) return Framework::pytorch;
  return has_pinning_thread(run.recorded_series()) ? Framework::pytorch : Framework::unknown;
}

std::string_view advice_text(Advice advice, Framework framework) {
  const AdviceRow& row = kAdvice[static_cast<size_t>(advice)];
  switch (framework) {
    case Framework::pytorch:
      return row.pytorch;
    case Framework::tensorflow:
      return row.tensorflow;
    case Framework::jax:
      return row.jax;
    case Framework::unknown:
      break;
  }
  return row.any;
}

}  // namespace trainscope
