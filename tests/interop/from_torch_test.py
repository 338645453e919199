#!/usr/bin/env python3
"""Tests tools/from_torch.py, without PyTorch, on the parameters in tests/data/pytorch.txt.

    python3 tests/interop/from_torch_test.py            # compares with the files in tests/data/from_torch
    python3 tests/interop/from_torch_test.py --write    # writes them
"""

import contextlib
import io
import json
import pathlib
import pickle
import sys
import tempfile
import unittest
import unittest.mock

tests = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(tests.parent / "tools"))
import from_torch

expected = tests / "data/from_torch"
# The options that a state_dict does not tell.
OPTIONS = {
    "lstm": {},
    "gru": {},
    "rnn": {},
    "relu_two": {"nonlinearity": "relu"},
    "lstm_without_bias": {},
    "gru_without_bias": {"batch_first": True},
    "stream": {},
    "projected": {},
}


class Tensor:
    def __init__(self, shape, items):
        self.shape, self.items = shape, items

    def tolist(self):
        if len(self.shape) == 1:
            return self.items
        size = len(self.items) // self.shape[0]
        return [Tensor(self.shape[1:], self.items[at : at + size]).tolist() for at in range(0, len(self.items), size)]


def recorded():
    """A line is a name, its dimensions in brackets, and its numbers."""
    tensors = {}
    for line in (tests / "data/pytorch.txt").read_text().splitlines()[1:]:
        name, rest = line.split(" ", 1)
        shape, items = rest.split("] ")
        tensors[name] = Tensor(json.loads(shape + "]"), [float(item) for item in items.split()])
    return tensors


def write(case, path):
    from_torch.write(path, recorded(), prefix=case + ".", **OPTIONS[case])


class FromTorch(unittest.TestCase):
    def test_files(self):
        for case in OPTIONS:
            with self.subTest(case), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "weights.json")
                write(case, path)
                self.assertEqual(path.read_text(), (expected / f"{case}.json").read_text())

    def test_gates(self):
        """H = 1: a row of numbers for each gate, in PyTorch's order."""

        def parameters(gates):
            state_dict = {"weight_ih_l0": [[g] for g in gates], "weight_hh_l0": [[10 * g] for g in gates], "bias_ih_l0": gates}
            state_dict["bias_hh_l0"] = [-g for g in gates]
            return {name: Tensor([len(rows)], rows) for name, rows in state_dict.items()}

        lstm = from_torch.to_onnx(parameters([1, 2, 3, 4]))  # i, f, g, o
        layer = {"W": [[[1], [4], [2], [3]]], "R": [[[10], [40], [20], [30]]], "B": [[1, 4, 2, 3, -1, -4, -2, -3]]}
        self.assertEqual(lstm, {"op_type": "LSTM", "layers": [layer]})
        gru = from_torch.to_onnx(parameters([1, 2, 3]))  # r, z, n
        layer = {"W": [[[2], [1], [3]]], "R": [[[20], [10], [30]]], "B": [[2, 1, 3, -2, -1, -3]]}
        self.assertEqual(gru, {"op_type": "GRU", "linear_before_reset": 1, "layers": [layer]})

    def test_command_line(self):
        """With a module in the place of torch, whose load returns the recorded parameters."""
        load = unittest.mock.Mock(return_value=recorded())
        with unittest.mock.patch.dict(sys.modules, torch=unittest.mock.Mock(load=load)), tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "weights.json")
            for case, options in {"relu_two": ["--nonlinearity", "relu"], "gru_without_bias": ["--batch-first"]}.items():
                with unittest.mock.patch.object(sys, "argv", ["from_torch.py", "model.pt", str(path), "--prefix", case + ".", *options]):
                    from_torch.main()
                load.assert_called_with("model.pt", map_location="cpu", weights_only=True)
                self.assertEqual(path.read_text(), (expected / f"{case}.json").read_text())
            with unittest.mock.patch.object(sys, "argv", ["from_torch.py", "model.pt", str(path)]), contextlib.redirect_stderr(io.StringIO()) as said:
                with self.assertRaises(SystemExit):
                    from_torch.main()
            self.assertIn("there is no weight_ih_l0", said.getvalue())

    def test_files_of_another_kind(self):
        """A whole module, a file that is cut, an empty one, and a list."""
        a_list = unittest.mock.Mock(return_value=[Tensor([1], [1])])
        failures = [unittest.mock.Mock(side_effect=kind("the file is no such one")) for kind in (pickle.UnpicklingError, RuntimeError, EOFError, AttributeError)]
        for load in [*failures, a_list]:
            said = io.StringIO()
            with unittest.mock.patch.dict(sys.modules, torch=unittest.mock.Mock(load=load)), contextlib.redirect_stderr(said):
                with unittest.mock.patch.object(sys, "argv", ["from_torch.py", "model.pt", "weights.json"]), self.assertRaises(SystemExit):
                    from_torch.main()
            self.assertIn("a state_dict is expected" if load is a_list else "the file is no such one", said.getvalue())

    def test_refusals(self):
        with self.assertRaisesRegex(ValueError, r"no encoder\.weight_ih_l0; the prefixes of recurrent modules are \['lstm\.', .*'projected\.'\]"):
            from_torch.to_onnx(recorded(), prefix="encoder.")
        with_weight_norm = {**recorded(), "lstm.weight_ih_l1_g": Tensor([1], [1]), "lstm.weight_ih_l1_v": Tensor([1], [1])}
        del with_weight_norm["lstm.weight_ih_l1"]
        with self.assertRaisesRegex(ValueError, r"'weight_ih_l1_g', 'weight_ih_l1_v'\] are no weights of one of the 1 complete layers"):
            from_torch.to_onnx(with_weight_norm, prefix="lstm.")
        one = Tensor([1], [1])
        for other in ({"weight_hh_l0_g": one, "weight_hh_l0_v": one}, {"parametrizations.weight_hh_l0.original0": one}):
            with self.assertRaisesRegex(ValueError, "are no weights of one of the 0 complete layers"):
                from_torch.to_onnx({"weight_ih_l0": one, **other})
        two = {name: Tensor([4, 1], [1] * 4) for name in ("weight_ih_l0", "weight_hh_l0", "weight_ih_l1", "weight_hh_l1")}
        for other in ("weight_hh_l0_reverse", "weight_ih_l0_reverse", "bias_ih_l0", "bias_hh_l1", "weight_hr_l1"):
            with self.assertRaisesRegex(ValueError, f"'{other}'.* are not the same ones in all layers and directions"):
                from_torch.to_onnx({**two, other: one})
        biases = {"bias_ih_l0": Tensor([4], [1] * 4), "bias_ih_l1": Tensor([4], [1] * 4)}
        with self.assertRaisesRegex(ValueError, "lack one of two biases"):
            from_torch.to_onnx({**two, **biases})
        reverse = {"weight_ih_l1_reverse": one, "weight_hh_l1_reverse": one}
        with self.assertRaisesRegex(ValueError, "are not the same ones in all layers and directions"):
            from_torch.to_onnx({**two, **reverse})
        with self.assertRaisesRegex(ValueError, "4, 3 or 1 rows for each hidden unit, but it has 2 for 1"):
            from_torch.to_onnx({"weight_ih_l0": Tensor([2, 1], [1, 1]), "weight_hh_l0": Tensor([2, 1], [1, 1])})
        with self.assertRaisesRegex(ValueError, "'tanh' or 'relu', but it is 'ReLU'"):
            from_torch.to_onnx(recorded(), prefix="rnn.", nonlinearity="ReLU")
        with tempfile.TemporaryDirectory() as folder, self.assertRaises(ValueError):
            one = Tensor([1, 1], [float("inf")])
            from_torch.write(pathlib.Path(folder, "weights.json"), {"weight_ih_l0": one, "weight_hh_l0": one})


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        for case in OPTIONS:
            write(case, expected / f"{case}.json")
    else:
        unittest.main()
