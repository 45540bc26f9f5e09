"""Reports steps and phases of an unmodified Python job; startup/sitecustomize.py loads this package.

Loaded under a private name from a folder that is not in sys.path, when the job imports the first framework.
attach() is called for each module of a framework that has been executed.

Guarantees: never raises, never waits, never waits for an accelerator. The first exception of ours puts every
original back for the rest of the process, and a mark states it. What was attached, and what could not be, is
in marks too. Limits: see docs/guide/instrument.md.
"""
_HOOKS = {
    "torch.utils.data.dataloader": ("torch_loader", "attach_loader"),
    "torch.autograd": ("torch_hooks", "attach_backward"),
    "torch.optim.optimizer": ("torch_hooks", "attach_optimizer"),
    "torch._dynamo.eval_frame": ("torch_compiled", "attach_compiler"),
    "torch.cuda.graphs": ("torch_compiled", "attach_graphs"),
    "torch.nn.parallel.distributed": ("torch_communication", "attach_ddp"),
    "torch.serialization": ("checkpoints", "attach_save"),
    "torch.distributed.checkpoint.state_dict_saver": ("checkpoints", "attach_distributed"),
    "safetensors.torch": ("checkpoints", "attach_safetensors"),
    "accelerate.utils.operations": ("torch_frameworks", "attach_accelerate"),
    "transformers.trainer": ("torch_frameworks", "attach_huggingface"),
    "lightning.pytorch.strategies.strategy": ("torch_frameworks", "attach_strategy"),
    "lightning.pytorch.loops.evaluation_loop": ("torch_frameworks", "attach_evaluation"),
    "lightning.pytorch.trainer.trainer": ("torch_frameworks", "attach_trainer"),
    "pytorch_lightning.strategies.strategy": ("torch_frameworks", "attach_strategy"),
    "pytorch_lightning.loops.evaluation_loop": ("torch_frameworks", "attach_evaluation"),
    "pytorch_lightning.trainer.trainer": ("torch_frameworks", "attach_trainer"),
    "keras.src.callbacks.callback_list": ("keras_hooks", "attach_callbacks"),
    "keras.src.models.model": ("keras_hooks", "attach_model"),
    "tensorflow.python.ops.gen_dataset_ops": ("tensorflow_hooks", "attach_datasets"),
    "tensorflow.python.eager.polymorphic_function.concrete_function": ("tensorflow_loops", "attach_functions"),
    "tensorflow.python.training.optimizer": ("tensorflow_loops", "attach_old_optimizer"),
    "keras.src.optimizers.base_optimizer": ("tensorflow_loops", "attach_optimizer"),
    "jax._src.monitoring": ("jax_hooks", "attach_monitoring"),
    "trainscope._pipe": ("client", "attach_client"),
}
# Of a probe (docs/adr/0020). Around data loaders and backward passes they are inside of the others: what is changed there
# is timed too.
_PROBE_HOOKS = {
    "torch.utils.data.dataloader": ("probe_torch", "attach_loader"),
    "torch.autograd": ("probe_torch", "attach_backward"),
    "tensorflow.python.ops.gen_dataset_ops": ("probe_keras", "attach_datasets"),
}
_PROBE_HOOKS_AFTER = {
    "torch.optim.optimizer": ("probe_torch", "attach_optimizer"),
    "keras.src.callbacks.callback_list": ("probe_keras", "attach_callbacks"),
}


def attach(name, module):
    """Attaches the hooks for this module; called right after the module was executed."""
    from .probe_lease import lease
    from .session import session
    if session.is_off:
        return
    for hooks in (_PROBE_HOOKS, _HOOKS, _PROBE_HOOKS_AFTER):
        if name in hooks and (hooks is _HOOKS or lease is not None):
            _attach(name, module, *hooks[name])


def _attach(name, module, file, function):
    from importlib import import_module
    from .session import pass_on_if_of_job, session
    try:
        getattr(import_module(__name__ + "." + file), function)(module)
    except Exception as error:  # Another version of the framework: the rest still works.
        pass_on_if_of_job(error)
        session.note_missing(name, error)
