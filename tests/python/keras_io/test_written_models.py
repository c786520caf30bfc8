"""Models that real Keras reads as they were written: arithmetic on Symbols, layers made of layers, vocabularies that were learnt."""
import pytest

np = pytest.importorskip("numpy")
keras = pytest.importorskip("keras")
L = keras.layers


def numbers(*shape, low=-1.0, high=1.0):
    return np.random.default_rng(3).uniform(low, high, shape).astype("float32")


def plain(config):
    """Tuples are as good as lists, and 255 as 255.0."""
    if isinstance(config, dict):
        return {key: plain(value) for key, value in config.items()}
    return [plain(part) for part in config] if isinstance(config, (list, tuple)) else config


def symbols(x, y):
    """What save_symbols() of tests/keras_io/tool.cpp writes in C++."""
    positive = np.abs(x) + 1.0
    return [x[:, 0], x[..., 1:3], x[:, ::2, -1], x[:, None, ::-1], y / positive, 2.0 / positive, x / 3.0, 3.0 - x, positive**2,
            positive**x, np.maximum(x, y) - np.minimum(x, y), x @ y.transpose(0, 2, 1), np.exp(x) * np.sqrt(positive) + np.log(positive),
            x.mean(1), (x**2).sum((1, 2), keepdims=True), x.max(-1) + x.min(-1)]


def test_arithmetic_on_symbols_is_kerass_and_survives_its_files(tool, tmp_path):
    tool.run("symbols", tmp_path / "symbols.keras")
    x, y = numbers(3, 4, 6), numbers(3, 4, 6) * -0.7
    ours = tool.predict(tmp_path / "symbols.keras", [x, y])
    theirs = keras.models.load_model(tmp_path / "symbols.keras")([x, y])
    wanted = symbols(x, y)
    assert len(ours) == len(theirs) == len(wanted)
    for i, (a, b, c) in enumerate(zip(ours, theirs, wanted)):
        np.testing.assert_allclose(a, c, rtol=1e-5, atol=1e-5, err_msg=str(i))
        np.testing.assert_allclose(np.asarray(b), c, rtol=1e-5, atol=1e-5, err_msg=str(i))
    for i in (4, 5, 6, 7):  # divisions and a difference have one right rounding
        np.testing.assert_array_equal(ours[i], wanted[i])


IMAGES = {
    "AugMix": lambda: L.AugMix(seed=1), "RandAugment": lambda: L.RandAugment(factor=0.3), "RandomPerspective": lambda: L.RandomPerspective(0.5, scale=0.3),
    "RandomColorJitter": lambda: L.RandomColorJitter(brightness_factor=0.2, contrast_factor=(0.1, 0.2), hue_factor=0.3),
    "RandomElasticTransform": lambda: L.RandomElasticTransform(scale=(0.2, 0.5)), # In a model of its own Keras takes Equalization for a cycle.
    "Equalization": lambda: L.Pipeline([L.Equalization(bins=64)]),
    "CLAHE": lambda: L.ContrastLimitedAdaptiveHistogramEqualization(tile_grid_size=(2, 2)),
    "Pipeline": lambda: L.Pipeline([L.RandomFlip(), L.RandomFlip(), L.Rescaling(0.5), L.Dense(2)]),
}


@pytest.mark.parametrize("name", IMAGES)
def test_image_layers_go_there_and_back(tool, tmp_path, name):
    model = keras.Sequential([keras.Input((8, 9, 3)), IMAGES[name]()])
    model.save(tmp_path / "there.keras")
    tool.run("convert", tmp_path / "there.keras", tmp_path / "back.keras")
    back = keras.models.load_model(tmp_path / "back.keras")
    x = numbers(2, 8, 9, 3, low=0, high=255)
    wanted = model.predict(x, verbose=0)
    np.testing.assert_allclose(tool.predict(tmp_path / "there.keras", [x])[0], wanted, rtol=1e-5, atol=1e-3)
    np.testing.assert_allclose(back.predict(x, verbose=0), wanted, rtol=1e-5, atol=1e-3)
    assert plain(back.layers[0].get_config()) == plain(model.layers[0].get_config())


SOUNDS = {"stft": lambda: L.STFTSpectrogram("magnitude", frame_length=16), "window": lambda: L.STFTSpectrogram("real", frame_length=4, window=[0.1, 1.0, 1.0, 0.2]),
          "mel": lambda: L.Pipeline([L.Reshape((64,)), L.MelSpectrogram(fft_length=32, sequence_stride=8, num_mel_bins=6)])}


@pytest.mark.parametrize("name", SOUNDS)
def test_spectrograms_go_there_and_back(tool, tmp_path, name):
    model = keras.Sequential([keras.Input((64, 1)), SOUNDS[name]()])
    model.save(tmp_path / "there.keras")
    tool.run("convert", tmp_path / "there.keras", tmp_path / "back.keras")
    x = numbers(2, 64, 1)
    wanted = model.predict(x, verbose=0)
    np.testing.assert_allclose(tool.predict(tmp_path / "there.keras", [x])[0], wanted, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(keras.models.load_model(tmp_path / "back.keras").predict(x, verbose=0), wanted, rtol=1e-5, atol=1e-5)


def test_vocabularies_that_were_learnt_are_read(tool, tmp_path):
    pytest.importorskip("tensorflow")

    def lookup(**options):
        layer = L.IntegerLookup(**options)
        layer.adapt(np.array([5, 5, 7, 9, 9, 9, 2, 7, 0]))
        return layer

    x = keras.Input((3,), dtype="int64")
    inner = keras.Sequential([keras.Input((3,), dtype="int64"), lookup(num_oov_indices=2)])
    model = keras.Model(x, [lookup()(x), lookup(mask_token=0)(x), lookup(output_mode="multi_hot", mask_token=0)(x), inner(x)])
    model.save(tmp_path / "there.keras")
    tool.run("convert", tmp_path / "there.keras", tmp_path / "back.keras")
    data = np.array([[5, 7, 0], [9, 1, 2]])
    wanted = [np.asarray(y) for y in model(data)]
    for ours, theirs, want in zip(tool.predict(tmp_path / "there.keras", [data]), keras.models.load_model(tmp_path / "back.keras")(data), wanted):
        np.testing.assert_array_equal(ours, want)
        np.testing.assert_array_equal(np.asarray(theirs), want)
