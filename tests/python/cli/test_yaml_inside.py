"""Layers inside layers in a .yaml of layers."""
import pytest

INSIDE = {
    "Bidirectional: {LSTM: 6}": "12)",
    "TimeDistributed: {layer: {Dense: 3}}": "5, 3)",
    "TimeDistributed: Flatten": "5, 8)",
    "RNN: {StackedRNNCells: [{LSTMCell: 4}, {GRUCell: {units: 3}}]}": "3)",
    "Bidirectional: {layer: {GRU: 2}, backward_layer: {GRU: {units: 2, go_backwards: true}}}": "4)",
}


@pytest.mark.parametrize("layer, shape", INSIDE.items())
def test_a_layer_inside_another_is_written_as_any_other(place, layer, shape):
    (place.folder / "inside.yaml").write_text(f"input: [5, 8]\nlayers:\n  - {layer}\n")
    assert f"(None, {shape}" in place.run("inspect", "inside.yaml").out


def test_a_wrong_value_inside_names_the_file(place):
    (place.folder / "inside.yaml").write_text("input: [5, 8]\nlayers:\n  - TimeDistributed: {layer: {Dense: ten}}\n")
    assert "[inside.yaml] line 3, column 5: [Dense] expected an integer for 'units'" in place.refused("inspect", "inside.yaml")


@pytest.mark.parametrize("first, size", [("Input: [7]", "7"), ("Input: 7", "7"), ("InputLayer: {shape: [7], dtype: int32, name: words}", "7"), ("Input: {shape: [null]}", "None")])
def test_the_input_may_be_the_first_layer(place, first, size):
    (place.folder / "inside.yaml").write_text(f"layers:\n  - {first}\n  - Embedding: {{input_dim: 9, output_dim: 2}}\n")
    assert f"(None, {size}, 2)" in place.run("inspect", "inside.yaml").out


@pytest.mark.parametrize("argument, kept", [("kernel_regularizer: {L2: 0.25}", '"l2":0.25'), ("kernel_regularizer: {L1L2: {l1: 0.5}}", '"l1":0.5'), ("kernel_constraint: {MaxNorm: 3}", '"max_value":3'),
                                            ("bias_initializer: {Constant: 0.75}", '"value":0.75'), ("kernel_initializer: {HeNormal: {seed: 5}}", '"seed":5')])
def test_an_object_with_arguments_is_written_as_a_layer(place, argument, kept):
    (place.folder / "inside.yaml").write_text(f"input: [4]\nlayers:\n  - Dense: {{units: 2, {argument}}}\n")
    place.run("convert", "inside.yaml", "m.json")
    assert kept in (place / "m.json").read_text().replace(" ", "")
