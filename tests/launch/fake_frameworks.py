"""Stand-ins for torch and DeepSpeed, as far as hooks see them: packages in a folder of a test."""

OPTIMIZER = '''
class Optimizer:
    def __init__(self, params, defaults=None):
        self.state, self.param_groups = {}, [{"params": list(params)}]
'''
# torch 2 calls the hooks; torch 1 has none, and wraps `step` of a class once, as its profiler does.
TORCH_2 = OPTIMIZER + '''
        self.hook()
    def __setstate__(self, state):
        self.__dict__.update(state)
        self.hook()
    def hook(self):
        step = type(self).step
        if getattr(step, "hooked", None):
            return
        def hooked(self, *arguments):
            for before in _before:
                assert before(self, arguments, {}) is None
            result = step(self, *arguments)
            for after in _after:
                after(self, arguments, {})
            return result
        hooked.hooked = True
        type(self).step = hooked
_before, _after = [], []
def register_optimizer_step_pre_hook(hook):
    _before.append(hook)
def register_optimizer_step_post_hook(hook):
    _after.append(hook)
'''
TORCH_1 = OPTIMIZER + '''
    def __setstate__(self, state):
        self.__dict__.update(state)
'''
# A tensor on a device, which must not be read if that is a GPU.
OPTIM = '''
from .optimizer import Optimizer
class device:
    def __init__(self, type):
        self.type = type
class Tensor:
    def __init__(self, number, where="cpu"):
        self.number, self.device = number, device(where)
    def __int__(self):
        assert self.device.type == "cpu", "it would wait for the GPU"
        return self.number
class SGD(Optimizer):
    def step(self):
        return "stepped"
class Adam(Optimizer):
    where = "cpu"
    def step(self):
        for group in self.param_groups:
            for one in group["params"]:
                state = self.state.setdefault(one, {"step": Tensor(0, self.where)})
                state["step"].number += 1
class Further(SGD):
    def step(self):
        return super().step()
'''
ENGINE = '''
class DeepSpeedEngine:
    def __init__(self, *optimizers, every=1, global_steps=0):
        self.optimizers, self.every, self.micro = optimizers, every, 0
        self.global_steps = global_steps
    def step(self):
        self.micro += 1
        if self.micro % self.every == 0:
            self._take_model_step()
    def _take_model_step(self):
        for one in self.optimizers:
            one.step()
        self.global_steps += 1
class PipelineEngine(DeepSpeedEngine):
    def step(self):
        raise RuntimeError("train_batch() steps")
    def train_batch(self):
        self._take_model_step()
'''


def write(folder, torch=TORCH_2):
    """Puts them there; a script imports torch.optim and deepspeed.runtime.engine."""
    for name, text in {"torch/__init__.py": "", "torch/optim/__init__.py": OPTIM,
                       "torch/optim/optimizer.py": torch, "deepspeed/__init__.py": "",
                       "deepspeed/runtime/__init__.py": "",
                       "deepspeed/runtime/engine.py": ENGINE}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
