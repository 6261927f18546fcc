"""Which tensors of a checkpoint are read to where: new memory, or tensors that are there."""

from __future__ import annotations

from amdahl.checkpoint import library, tensors, tree


class Reading:
    """One load. Of `into`, a state like the one that was saved, tensors are filled in place."""

    def __init__(self, rank: int, as_numpy: bool, slices: dict, into: object) -> None:
        self._as_numpy, self._slices, self._into = as_numpy, slices, {}
        if into is not None:
            flat = tree.Flattener()
            flat.value(into, "")
            for spec, tensor, place in zip(flat.specs, flat.tensors, flat.addresses):
                self._into[spec["name"]] = (spec, tensor, place)
                self._into[f"rank{rank}/{spec['name']}"] = (spec, tensor, place)

    def plan(self, infos: list, names) -> tuple[list, dict, list]:
        """What to read, the tensors by name, and their addresses."""
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
        if one["name"] in self._into:
            spec, tensor, place = self._into[one["name"]]
            if (spec["dtype"], spec["shape"]) != (one["dtype"], one["shape"]):
                raise library.CheckpointError(
                    "invalid", f"{one['name']} was saved as {one['dtype']} {one['shape']}; the "
                    f"tensor to load it into is {spec['dtype']} {spec['shape']}")
            return tensor, place
        if self._as_numpy or tree.NUMPY in one["name"]:
            array = tensors.empty_numpy(one["dtype"], one["shape"])
            return array, tensors.numpy_address(array)
        tensor = tensors.empty_torch(one["dtype"], one["shape"])
        return tensor, tensor.data_ptr()
