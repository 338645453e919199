#!/usr/bin/env python3
"""Records what PyTorch's recurrent layers compute: the weights, inputs and outputs in tests/data/pytorch.txt.

    python3 tests/data/record_pytorch.py >tests/data/pytorch.txt     # Debian 12: python3-torch, 1.13.1

A line is a name, its dimensions in brackets, and its numbers in row-major order. Weights and inputs are multiples of 1/32, so that float
holds them exactly; the layers compute in double.
"""

import torch


def dyadic(shape):
    return torch.randint(-32, 33, shape).double() / 32


def show(name, tensor):
    numbers = " ".join(f"{x:.9g}" for x in tensor.detach().flatten().tolist())
    print(f"{name} {list(tensor.shape)} {numbers}")


def record(case, layer, states, lengths=None, rows=2):
    """Everything of one layer: its parameters, an input, the initial states and what it returns."""
    layer.double()
    for name, parameter in layer.named_parameters():
        parameter.data = dyadic(parameter.shape)
        show(f"{case}.{name}", parameter)
    X = dyadic((3, rows, layer.input_size))
    D = 2 if layer.bidirectional else 1
    lengths_of_states = [getattr(layer, "proj_size", 0) or layer.hidden_size, layer.hidden_size]
    initial = [dyadic((layer.num_layers * D, rows, length)) for length in lengths_of_states[:states]]
    show(f"{case}.X", X)
    for name, state in zip(("h_0", "c_0"), initial):
        show(f"{case}.{name}", state)
    given = initial[0] if states == 1 else tuple(initial)
    run(case, layer, X, given, states)
    if lengths:
        packed = torch.nn.utils.rnn.pack_padded_sequence(X, lengths, enforce_sorted=False)
        run(f"{case}.ragged", layer, packed, given, states)


def run(case, layer, X, initial, states):
    output, final = layer(X, initial)
    if isinstance(output, torch.nn.utils.rnn.PackedSequence):
        output, _ = torch.nn.utils.rnn.pad_packed_sequence(output)
    show(f"{case}.output", output)
    for name, state in zip(("h_n", "c_n"), [final] if states == 1 else final):
        show(f"{case}.{name}", state)


torch.manual_seed(20)
print(f"# PyTorch {torch.__version__}, made by tests/data/record_pytorch.py")
two = {"num_layers": 2, "bidirectional": True}
record("lstm", torch.nn.LSTM(2, 3, **two), 2, lengths=[2, 3])
record("gru", torch.nn.GRU(2, 3, **two), 1)
record("rnn", torch.nn.RNN(2, 3, **two), 1)
record("relu", torch.nn.RNN(2, 3, nonlinearity="relu"), 1)
record("relu_two", torch.nn.RNN(2, 3, nonlinearity="relu", **two), 1)
record("lstm_without_bias", torch.nn.LSTM(2, 3, bias=False), 2)
record("gru_without_bias", torch.nn.GRU(2, 3, bias=False), 1)
record("stream", torch.nn.GRU(1, 2, num_layers=2), 1, rows=1)
record("projected", torch.nn.LSTM(2, 3, proj_size=2, **two), 2, lengths=[2, 3])
