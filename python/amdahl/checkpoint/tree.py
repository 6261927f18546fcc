"""A state as JSON and tensors, and back: nested dicts, lists and tuples with plain values in them.

The words for what JSON lacks ($float, $tuple, $map, ...) are those of the format's page. There is
no pickle: an object of any other type is refused, with its place in the tree.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import sys

from amdahl.checkpoint import tensors

NAME_MAX = 512  # bytes of a tensor's name
NUMPY = "numpy/"  # begins the names of arrays, so that they come back as such
INT_MIN, INT_MAX = -(2**63), 2**63 - 1


@dataclasses.dataclass
class Shard:
    """A part of a tensor whose other parts other ranks save: where it begins in the whole."""

    tensor: object
    global_shape: tuple
    offset: tuple


class Known:
    """What a tensor was when it was last met, and how it is described."""

    __slots__ = ("dtype", "reference", "shape", "spec", "where")

    def __init__(self, dtype, shape, where, spec: dict) -> None:
        self.dtype, self.shape, self.where, self.spec = dtype, shape, where, spec
        self.reference = {"$tensor": spec["name"]}


class Flattener:
    """One pass over a state: JSON, and for each tensor its description, address and owner.

    `known` is that of an earlier pass: of tensors that look the same nothing is worked out again.
    """

    def __init__(self, prefix: str = "", frozen=lambda name: False,
                 known: dict | None = None) -> None:
        self._prefix = prefix
        self._frozen = frozen
        self._before = known or {}
        self._tensor = tensors.torch_type()
        self._names: set = set()
        self._seen: dict = {}
        self.known: dict = {}
        self.specs: list = []
        self.addresses: list = []
        self.tensors: list = []  # that the addresses are of; some are copies that only this keeps

    def value(self, value: object, path: str) -> object:
        kind = type(value)
        if kind is dict or isinstance(value, dict):
            return self._dict(value, path)
        if isinstance(value, self._tensor):
            return self._torch(value, path, None)
        if value is None or kind is bool or kind is str:
            return value
        if kind is int:
            return value if INT_MIN <= value <= INT_MAX else {"$int": str(value)}
        if kind is float:
            return {"$float": repr(value)}
        if kind is list:
            return [self.value(item, f"{path}.{i}" if path else str(i))
                    for i, item in enumerate(value)]
        return self._rare(value, path)

    def _rare(self, value: object, path: str) -> object:
        if isinstance(value, Shard):
            return self._shard(value, path)
        if tensors.is_numpy(value):
            return self._numpy(value, path, None)
        if isinstance(value, tuple):
            return {"$tuple": [self.value(item, f"{path}.{i}" if path else str(i))
                               for i, item in enumerate(value)]}
        if isinstance(value, (bytes, bytearray)):
            return {"$bytes": base64.b64encode(value).decode()}
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(value, numpy.generic):
            return self.value(value.item(), path)
        for plain in (str, bool, int, float, list):  # and what is derived from them
            if isinstance(value, plain):
                return self.value(plain(value), path)
        raise TypeError(f"{path or 'the state'}: a {type(value).__qualname__} cannot be saved; "
                        "tensors, numbers, text, bytes, None, dicts, lists and tuples can")

    def _dict(self, value: dict, path: str) -> object:
        if all(type(key) is str and not key.startswith("$") for key in value):
            before, kind, found = f"{path}." if path else "", self._tensor, {}
            for key, item in value.items():
                found[key] = (self._torch(item, before + key, None) if isinstance(item, kind)
                              else self.value(item, before + key))
            return found
        pairs = []
        for key, item in value.items():
            if isinstance(key, (dict, list)) or tensors.is_torch(key):
                raise TypeError(f"{path}: a {type(key).__qualname__} cannot be a key")
            pairs.append([self.value(key, f"{path}.key"),
                          self.value(item, f"{path}.{key}" if path else str(key))])
        return {"$map": pairs}

    def _shard(self, shard: Shard, path: str) -> object:
        if tensors.is_torch(shard.tensor):
            return self._torch(shard.tensor, path, shard)
        if tensors.is_numpy(shard.tensor):
            return self._numpy(shard.tensor, path, shard)
        raise TypeError(f"{path}: a shard of no tensor")

    def _torch(self, tensor, path: str, shard: Shard | None) -> object:
        plain = tensors.torch_plain(tensor, path)
        address = plain.data_ptr()
        known = self._before.get(path)
        if known is None or shard is not None or known.where is not None or \
                known.dtype is not plain.dtype or known.shape != plain.shape or not address or \
                address in self._seen or known.spec["name"] in self._names:
            return self._add(path, plain, address, shard)
        # The same as before, as nearly all are: of thousands of tensors nothing is built again.
        self._seen[address] = known
        return self._keep(path, known, plain, address)

    def _numpy(self, array, path: str, shard: Shard | None) -> object:
        plain = tensors.numpy_plain(array, path)
        return self._add(NUMPY + path, plain, tensors.numpy_address(plain), shard)

    def _add(self, path: str, plain, address: int, shard: Shard | None) -> object:
        where = None if shard is None else (tuple(shard.offset), tuple(shard.global_shape))
        looks = (plain.dtype, plain.shape, where)
        # Two names of one memory stay one tensor, and come back as one.
        first = self._seen.get(address) if address else None
        if first is not None and (first.dtype, first.shape, first.where) != looks:
            first = self._seen.get((address, looks))
        if first is not None:
            return first.reference
        known = self._before.get(path)
        if known is None or (known.dtype, known.shape, known.where) != looks or \
                known.spec["name"] in self._names:
            known = Known(*looks, self._described(path, plain, shard))
        self._seen[address if address not in self._seen else (address, looks)] = known
        return self._keep(path, known, plain, address)

    def _keep(self, path: str, known: Known, plain, address: int) -> object:
        self.known[path] = known
        self._names.add(known.spec["name"])
        self.specs.append(known.spec)
        self.addresses.append(address)
        self.tensors.append(plain)
        return known.reference

    def _described(self, path: str, plain, shard: Shard | None) -> dict:
        spec = {"name": self._name(path, shard), "dtype": tensors.dtype_of(plain, path),
                "shape": list(plain.shape)}
        if shard is not None:
            spec["globalShape"] = list(shard.global_shape)
            spec["offset"] = list(shard.offset)
        if self._frozen(spec["name"]):
            spec["frozen"] = 1
        return spec

    def _name(self, path: str, shard: Shard | None) -> str:
        name = path or "state"
        if shard is None:
            name = self._prefix + name
        name = short_name(name)
        unique, number = name, 1
        while unique in self._names:
            number += 1
            unique = f"{name}#{number}"
        return unique


def short_name(name: str) -> str:
    """A name that the format takes: itself, or its beginning and a hash of all of it."""
    if len(name.encode("utf-8", "surrogatepass")) <= NAME_MAX - 8 and name.isprintable():
        return name
    return name[:40].encode("ascii", "replace").decode() + "." + \
        hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()


def tensor_names(tree: object, found: dict | None = None) -> dict:
    """Names of the tensors that a tree refers to, in its order."""
    found = {} if found is None else found
    if isinstance(tree, dict):
        name = tree.get("$tensor")
        if name is not None:
            found[name] = True
        else:
            for item in tree.values():
                tensor_names(item, found)
    elif isinstance(tree, list):
        for item in tree:
            tensor_names(item, found)
    return found


def restored(tree: object, loaded: dict) -> object:
    """The state again, with the tensors that were loaded in their places."""
    if isinstance(tree, list):
        return [restored(item, loaded) for item in tree]
    if not isinstance(tree, dict):
        return tree
    if len(tree) == 1:
        word, value = next(iter(tree.items()))
        if word == "$tensor":
            return loaded[value]
        if word == "$float":
            return float(value)
        if word == "$int":
            return int(value)
        if word == "$bytes":
            return base64.b64decode(value)
        if word == "$tuple":
            return tuple(restored(item, loaded) for item in value)
        if word == "$map":
            return {restored(key, loaded): restored(item, loaded) for key, item in value}
    return {key: restored(item, loaded) for key, item in tree.items()}
