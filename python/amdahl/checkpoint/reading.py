"""What a load gives, and which tensors are read to where: new memory, or tensors that are there."""

from __future__ import annotations

import dataclasses

from amdahl.checkpoint import library, tensors, tree


@dataclasses.dataclass
class Loaded:
    """A checkpoint in memory."""

    step: int
    state: object
    metrics: dict
    passed_over: list  # newer ones that were damaged: {"step": .., "why": ..}
    init_from: str | None = None  # the checkpoint.initFrom that it is from; None: the job's own
    # Whether this rank saved the state. If it saved none, as when fewer ranks did, the state is
    # rank 0's: right for what all ranks share, wrong for generators and data loaders.
    own: bool = True


class Reading:
    """One load. Of `into`, a state like the one that was saved, tensors are filled in place."""

    def __init__(self, rank: int, as_numpy: bool, slices: dict, into: object) -> None:
        self._prefix, self._as_numpy, self._slices = f"rank{rank}/", as_numpy, slices
        self._state, self._into = into, {}

    def _find_places(self, infos: list) -> None:
        """Of the tensors of `into`, by the names that they were saved by."""
        if self._find_same(infos):
            return
        flat = tree.Flattener()
        flat.value(self._state, "")
        self._into = {spec["name"]: (spec, tensor, place) for spec, tensor, place
                      in zip(flat.specs, flat.tensors, flat.addresses)}

    def _find_same(self, infos: list) -> bool:
        """The usual case, and thousands of tensors: dicts of tensors that look as they did."""
        dtypes = {dtype: tensors.torch_dtype_if_loaded(dtype)
                  for dtype in {info["dtype"] for info in infos}}
        known = {info["name"].removeprefix(self._prefix): info for info in infos}
        kind, found, left = tensors.torch_type(), {}, [("", self._state)]
        while left:
            path, state = left.pop()
            if state is None or type(state) in (bool, int, float, str):
                continue
            if type(state) is not dict:
                return False
            for key, value in state.items():
                if type(key) is not str:
                    return False
                if not isinstance(value, kind):
                    left.append((f"{path}{key}.", value))
                    continue
                info = known.get(path + key)
                if info is None or value.dtype is not dtypes[info["dtype"]] or \
                        list(value.shape) != info["shape"] or \
                        tensors.torch_plain(value, path) is not value:
                    return False
                found[info["name"]] = (info, value, value.data_ptr())
        self._into = found
        return True

    def plan(self, infos: list, names: dict) -> tuple[list | None, dict, list]:
        """What to read (see read_tensors), the tensors by name, and their addresses."""
        if self._state is not None:
            self._find_places(infos)
        if self._slices:
            return self._sliced(infos, names)
        loaded, places = {}, [None] * len(infos)
        for number, info in enumerate(infos):
            name = info["name"]
            if name in names:
                loaded[name], places[number] = self._place(info)
        return None, loaded, places

    def _sliced(self, infos: list, names: dict) -> tuple[list, dict, list]:
        known = {info["name"]: info for info in infos}
        wanted, loaded, places = [], {}, []
        for name in names:
            offset, shape = self._slices.get(name, (None, known[name]["shape"]))
            one = {"name": name, "dtype": known[name]["dtype"], "shape": list(shape)}
            if offset is not None:
                one["offset"] = list(offset)
            wanted.append(one)
            loaded[name], place = self._place(one)
            places.append(place)
        return wanted, loaded, places

    def _place(self, one: dict) -> tuple:
        there = self._into.get(one["name"]) or self._into.get(
            one["name"].removeprefix(self._prefix))
        if there is not None:
            spec, tensor, place = there
            if spec is not one and (spec["dtype"], spec["shape"]) != (one["dtype"], one["shape"]):
                raise library.CheckpointError(
                    "invalid", f"{one['name']} was saved as {one['dtype']} {one['shape']}; the "
                    f"tensor to load it into is {spec['dtype']} {spec['shape']}")
            return tensor, place
        if self._as_numpy or tree.NUMPY in one["name"]:
            array = tensors.empty_numpy(one["dtype"], one["shape"])
            return array, tensors.numpy_address(array)
        tensor = tensors.empty_torch(one["dtype"], one["shape"])
        return tensor, tensor.data_ptr()
