"""The golden model files (tests/golden/keras_files) hold every layer that is promised, in a .keras and in an .h5."""
import json
import pathlib
import zipfile

import pytest

h5py = pytest.importorskip("h5py")
FILES = pathlib.Path(__file__).parents[2] / "golden" / "keras_files"

POOLS = [f"{kind}{d}D" for kind in ("MaxPooling", "AveragePooling", "GlobalMaxPooling", "GlobalAveragePooling") for d in (1, 2, 3)]
LAYERS = POOLS + """Dense Embedding Conv1D Conv2D Conv3D Conv2DTranspose DepthwiseConv2D SeparableConv2D BatchNormalization
    LayerNormalization GroupNormalization Dropout SpatialDropout2D GaussianNoise Flatten Reshape Permute RepeatVector Cropping2D
    UpSampling2D ZeroPadding1D ZeroPadding2D Add Subtract Multiply Average Maximum Concatenate Dot SimpleRNN LSTM GRU Bidirectional
    TimeDistributed Masking MultiHeadAttention Rescaling Normalization Resizing Activation ReLU LeakyReLU PReLU Softmax""".split()


def layers_in(config):
    """(class, its config) of all layers in a model's config, those inside others too."""
    if isinstance(config, dict):
        if "class_name" in config and isinstance(config.get("config"), dict):
            yield config["class_name"], config["config"]
        config = list(config.values())
    if isinstance(config, list):
        for part in config:
            yield from layers_in(part)


def configs(suffix):
    for path in sorted(FILES.glob(f"*{suffix}")):
        if suffix == ".keras":
            with zipfile.ZipFile(path) as archive:
                yield json.loads(archive.read("config.json"))
        else:
            with h5py.File(path) as file:
                yield json.loads(file.attrs["model_config"])


@pytest.mark.parametrize("suffix", [".keras", ".h5"])
def test_every_layer_is_in_a_golden_file(suffix):
    found = {name for config in configs(suffix) for name, _ in layers_in(config)}
    assert not set(LAYERS) - found


@pytest.mark.parametrize("suffix", [".keras", ".h5"])
def test_an_average_over_padding_is_in_a_golden_file(suffix):
    """Made with the TensorFlow backend: Keras on torch counts the padding."""
    assert any(name.startswith("AveragePooling") and config.get("padding") == "same"
               for model in configs(suffix) for name, config in layers_in(model))
