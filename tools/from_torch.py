#!/usr/bin/env python3
"""Writes the weights of an LSTM, GRU or RNN of PyTorch as JSON, in ONNX's order, for xloom/interop/json.hpp.

    torch.save(model.state_dict(), "model.pt")                         # in Python
    tools/from_torch.py model.pt weights.json --prefix encoder.rnn.    # the module model.encoder.rnn

The file is {"op_type": "GRU", "linear_before_reset": 1, "layers": [{"W": ..., "R": ..., "B": ...}, ...]}: ONNX's names, a tensor being nested
lists of numbers; B is omitted with bias=False, and the layers of an LSTM with proj_size have a "projection". In Python, write("weights.json", model.encoder.rnn.state_dict()) does the same.
"""

import argparse
import itertools
import json
import pickle
import re

KINDS = {4: "LSTM", 3: "GRU", 1: "RNN"}  # by the number of gates
PARAMETER = re.compile(r"(?:parametrizations\.)?(?:weight|bias)_(?:ih|hh|hr)_l(\d+)(?:_reverse)?(.*)")
GATES = {"LSTM": (0, 3, 1, 2), "GRU": (1, 0, 2), "RNN": (0,)}  # the blocks of PyTorch's rows in ONNX's order


def to_onnx(state_dict, prefix="", nonlinearity="tanh", batch_first=False):
    """The file's dictionary for the parameters whose names begin with the prefix. Of a state_dict it uses items() and the tensors' tolist().
    A ValueError: no recurrent module has the prefix, a parameter of it is no plain tensor, as with weight_norm, or is missing, no
    state_dict, or an unknown nonlinearity."""
    if not hasattr(state_dict, "items"):
        raise ValueError(f"a state_dict is expected, as torch.save(model.state_dict(), ...) writes it, but there is a {type(state_dict).__name__}")
    if nonlinearity not in ("tanh", "relu"):
        raise ValueError(f"nonlinearity must be 'tanh' or 'relu', but it is {nonlinearity!r}")
    own = {name[len(prefix) :]: value for name, value in state_dict.items() if name.startswith(prefix)}
    tensors = {name: tensor.tolist() for name, tensor in own.items() if PARAMETER.match(name)}
    if "weight_ih_l0" not in tensors:
        found = [name[: -len("weight_ih_l0")] for name in state_dict if name.endswith("weight_ih_l0")]
        raise ValueError(f"there is no {prefix}weight_ih_l0; the prefixes of recurrent modules are {found}")
    count = next(layer for layer in itertools.count() if f"weight_ih_l{layer}" not in tensors or f"weight_hh_l{layer}" not in tensors)
    unknown = [name for name in tensors if (match := PARAMETER.match(name)) and (match[2] or int(match[1]) >= count)]
    if unknown:
        raise ValueError(f"the parameters {unknown} are no weights of one of the {count} complete layers")
    own_names = [{name.replace(f"_l{k}", "_l0") for name in tensors if PARAMETER.match(name)[1] == str(k)} for k in range(count)]
    stems = {name.split("_l0")[0] for name in own_names[0]}
    directions = [end for end in ("", "_reverse") if "weight_ih_l0" + end in tensors]
    if any(names != {stem + "_l0" + end for stem in stems for end in directions} for names in own_names) or ("bias_ih" in stems) != ("bias_hh" in stems):
        raise ValueError(f"the parameters {sorted(tensors)} are not the same ones in all layers and directions, or lack one of two biases")
    height, hidden = len(tensors["weight_hh_l0"]), len(tensors.get("weight_hr_l0", tensors["weight_hh_l0"])[0])
    kind = KINDS.get(height / hidden)
    if kind is None:
        raise ValueError(f"weight_hh_l0 must have 4, 3 or 1 rows for each hidden unit, but it has {height} for {hidden}")

    def reordered(rows):
        H = len(rows) // len(GATES[kind])
        return [row for gate in GATES[kind] for row in rows[gate * H : (gate + 1) * H]]

    layers = []
    for k in range(count):
        ends = [f"_l{k}{end}" for end in directions]
        layer = {name: [reordered(tensors[weight + end]) for end in ends] for name, weight in (("W", "weight_ih"), ("R", "weight_hh"))}
        if "weight_hr" in stems:
            layer["projection"] = [tensors["weight_hr" + end] for end in ends]
        if "bias_ih" in stems:
            layer["B"] = [reordered(tensors["bias_ih" + end]) + reordered(tensors["bias_hh" + end]) for end in ends]
        layers.append(layer)
    attributes = {"op_type": kind}
    if kind == "GRU":
        attributes["linear_before_reset"] = 1
    if kind == "RNN" and nonlinearity == "relu":
        attributes["activations"] = ["Relu"] * len(directions)
    if batch_first:
        attributes["layout"] = 1
    return {**attributes, "layers": layers}


def write(path, state_dict, **options):
    """Writes what to_onnx returns. A ValueError: an infinity or a NaN, which JSON lacks."""
    text = json.dumps(to_onnx(state_dict, **options), allow_nan=False, separators=(",", ":"))
    with open(path, "w", encoding="ascii") as file:
        file.write(text + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("state_dict", help="a file of torch.save(model.state_dict(), ...)")
    parser.add_argument("weights", help="the file to write")
    parser.add_argument("--prefix", default="", help="the names of the module's parameters begin so: encoder.rnn.")
    parser.add_argument("--nonlinearity", choices=("tanh", "relu"), default="tanh", help="of a torch.nn.RNN")
    parser.add_argument("--batch-first", action="store_true", help="the module was made so; sets ONNX's layout to 1")
    arguments = vars(parser.parse_args())

    import torch  # not for to_onnx and write

    try:
        state_dict = torch.load(arguments.pop("state_dict"), map_location="cpu", weights_only=True)
        write(arguments.pop("weights"), state_dict, **arguments)
    except (ValueError, OSError, RuntimeError, AttributeError, EOFError, pickle.UnpicklingError) as error:  # what torch.load raises of other files
        parser.error(str(error))


if __name__ == "__main__":
    main()
