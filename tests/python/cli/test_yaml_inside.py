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
    assert "[inside.yaml] [Dense] expected an integer for 'units'" in place.refused("inspect", "inside.yaml")
