"""Counts the steps of a training script without any change to it, and tells amdahl-launch.

Python imports this at its start, because the launcher puts its folder first on PYTHONPATH. It then
imports the sitecustomize that it hides, and waits until the script imports torch.optim or DeepSpeed
by itself. The only output are lines on AMDAHL_SOCKET, see runtime/launch/helper_message.hpp.

Lifetime: that of the process; a forked child has a connection for itself. Thread: any; a lost count
between two threads is accepted. Failure: every hook is guarded, nothing waits, and a connection
that broke stays broken, because the training matters more than its progress.
Python 3.6 and newer, the standard library only: the image need not have our package.
"""

import os
import sys

TORCH, DEEPSPEED = "torch.optim.optimizer", "deepspeed.runtime.engine"
SEND_EVERY_SECONDS = 0.2
NUMBER_MAX = 10 ** 15
STATES_MAX = 16  # parameters whose state is looked at, once for an optimizer
DISABLED = "_torchdynamo_disable"  # torch.compile leaves functions with this attribute alone


class Sender(object):
    """Steps on their way to the launcher: the first one at once, then at most five per second."""

    def __init__(self, path):
        import time
        self._path = path
        self._clock = time.monotonic
        self._pid = 0
        self._socket = self._file = None
        self._next_at = 0.0
        self._unsent = None

    def tell(self, step):
        pid = os.getpid()
        if pid != self._pid:
            self._begin(pid)
        now = self._clock()
        if now < self._next_at:
            self._unsent = step
            return
        self._next_at = now + SEND_EVERY_SECONDS
        self._send('{"type":"hook","step":%d}\n' % step)
        self._unsent = None

    def finish(self):
        """The last step of a process that ends by itself."""
        if self._unsent is not None and self._pid == os.getpid():
            self._send('{"type":"hook","step":%d}\n' % self._unsent)
            self._close()

    def _begin(self, pid):
        import atexit
        if not self._pid:
            atexit.register(guarded(self.finish))
        self._close()  # of the parent of a fork: only this copy
        self._pid, self._next_at, self._unsent = pid, 0.0, None
        if self._path is None:
            return
        import socket
        try:
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self._file = file_of(self._socket)
            self._socket.setblocking(False)
            name = self._path
            self._socket.connect("\0" + name[1:] if name.startswith("@") else name)
        except (OSError, ValueError):
            self._break()
        self._send('{"type":"hello","hook":true,"pid":%d,"localRank":%d,"rank":%d}\n'
                   % (pid, number_of("LOCAL_RANK"), number_of("RANK")))

    def _send(self, line):
        if self._socket is None:
            return
        try:
            if file_of(self._socket) != self._file:
                raise OSError("the script closed it, and its number may be another file")
            self._socket.sendall(line.encode())
        except OSError:
            # Half a line may be out if the launcher does not read, so nothing can follow it.
            self._break()

    def _break(self):
        self._close()
        self._path = None

    def _close(self):
        ours, self._socket = self._socket, None
        if ours is not None and file_of(ours) != self._file:
            ours.detach()
        elif ours is not None:
            ours.close()


class Counter(object):
    """The step of this process: the largest count of any optimizer, or that of DeepSpeed."""

    def __init__(self, sender):
        import weakref
        self._tell = sender.tell
        self._counts = weakref.WeakKeyDictionary()  # a list of one number for each optimizer
        self._resumed = number_of("AMDAHL_RESUME_STEP")
        self._step = 0
        self._began = False
        self._by_engine = False

    def begin(self, *_):
        self._began = True

    def end(self, optimizer, *_):
        # A step that calls super().step() ends twice and is one step.
        if not self._began or self._by_engine:
            return
        self._began = False
        count = self._counts.get(optimizer)
        if count is None:
            # One that comes later, as in the next fold, goes on from the step of those before it.
            count = [max(self._first(optimizer), self._step)]
            self._counts[optimizer] = count
        else:
            count[0] += 1
        self._made(count[0])

    def engine_begins(self, _):
        # The optimizers inside an engine step once for each group of parameters.
        self._by_engine = True

    def engine_ended(self, engine):
        self._made(int(engine.global_steps))

    def _made(self, step):
        if step > self._step:
            self._step = step
            self._tell(step)

    def _first(self, optimizer):
        known = [kept_count(state.get("step")) for state in some_states(optimizer)]
        return max(known + [0]) or self._resumed + 1


def some_states(optimizer):
    """Where optimizers keep their count: with their parameters (torch) or groups (Apex)."""
    states = list(optimizer.param_groups[:1])
    for state in getattr(optimizer, "state", {}).values():
        if len(states) > STATES_MAX:
            break
        states.append(state)
    return [one for one in states if isinstance(one, dict)]


def kept_count(value):
    """An int or a tensor on the CPU; to read one of a GPU would wait for the GPU."""
    on_cpu = getattr(getattr(value, "device", None), "type", None) == "cpu"
    if isinstance(value, bool) or not (isinstance(value, int) or on_cpu):
        return 0
    try:
        return min(int(value), NUMBER_MAX)
    except Exception:
        return 0  # a tensor of several numbers


def file_of(connection):
    try:
        status = os.fstat(connection.fileno())
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def number_of(variable):
    try:
        number = int(os.environ.get(variable) or 0)
    except ValueError:
        return 0
    return number if 0 <= number <= NUMBER_MAX else 0


def guarded(function):
    """A bug in here costs a count, never a training run."""
    def quiet(*arguments):
        try:
            function(*arguments)
        except Exception:
            pass
    setattr(quiet, DISABLED, True)
    return quiet


def wrapped(function, before, after):
    """`function` between two guarded hooks, which get its first argument."""
    import functools

    @functools.wraps(function)
    def wrapper(self, *arguments, **named):
        before(self)
        result = function(self, *arguments, **named)
        after(self)
        return result
    wrapper.amdahl_hook = True
    return wrapper


def wrap_method(owner, name, before, after):
    function = getattr(owner, name, None)
    if function is not None and not getattr(function, "amdahl_hook", False):
        setattr(owner, name, wrapped(function, before, after))


def patch_torch(module, counter):
    begin, end = guarded(counter.begin), guarded(counter.end)
    if hasattr(module, "register_optimizer_step_post_hook"):  # torch 2
        module.register_optimizer_step_pre_hook(begin)
        module.register_optimizer_step_post_hook(end)
        return
    # Every class defines step() itself, and __setstate__ creates instances without __init__.
    on_made = guarded(lambda made: wrap_method(type(made), "step", begin, end))
    for name in ("__init__", "__setstate__"):
        wrap_method(module.Optimizer, name, lambda _: None, on_made)


def patch_deepspeed(module, counter):
    for name in ("step", "_take_model_step"):  # pipelines only call the second one
        wrap_method(module.DeepSpeedEngine, name, guarded(counter.engine_begins),
                    guarded(counter.engine_ended))


class Finder(object):
    """Finds what the finders behind it find, and has the modules in `patches` patched once run.

    The loader stays what it is: only its exec_module is ours until it runs.
    """

    def __init__(self, patches):
        self._patches = patches

    def find_spec(self, name, path=None, target=None):
        if name not in self._patches:
            return None
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            spec = None if finder is self or find is None else find(name, path, target)
            if spec is not None:
                self.prepare(name, spec.loader)
                return spec
        return None

    def prepare(self, name, loader):
        real = getattr(loader, "exec_module", None)
        if real is None:
            return

        def exec_module(module):
            wanted = getattr(module, "__name__", None) == name
            if wanted and getattr(loader, "exec_module", None) is exec_module:
                del loader.exec_module
            real(module)
            if wanted:
                self.patch(name, module)
        try:
            loader.exec_module = exec_module
        except AttributeError:
            pass  # a loader that takes no attributes: no hooks

    def patch(self, name, module):
        function = self._patches.pop(name, None)
        if function is not None:
            guarded(function)(module)
        if not self._patches and self in sys.meta_path:
            sys.meta_path.remove(self)


def install():
    if os.environ.get("AMDAHL_HOOKS") != "1" or not os.environ.get("AMDAHL_SOCKET"):
        return
    counter = Counter(Sender(os.environ["AMDAHL_SOCKET"]))
    finder = Finder({TORCH: lambda module: patch_torch(module, counter),
                     DEEPSPEED: lambda module: patch_deepspeed(module, counter)})
    sys.meta_path.insert(0, finder)
    for name in (TORCH, DEEPSPEED):  # a .pth file may have imported it
        if name in sys.modules:
            finder.patch(name, sys.modules[name])


def import_the_hidden():
    """The sitecustomize that Python would have found without us; what it raises is Python's."""
    here = os.path.dirname(__file__)
    sys.path[:] = [one for one in sys.path if one != here]
    ours = sys.modules.pop(__name__, None)
    try:
        __import__(__name__)
    except ImportError as failure:
        if getattr(failure, "name", __name__) != __name__:
            raise
        sys.modules[__name__] = ours


if __name__ == "sitecustomize":
    guarded(install)()
    import_the_hidden()
