"""Image folders against Pillow, NumPy's arithmetic and, where it is installed, Keras."""
import numpy as np
import pytest

PIL = pytest.importorskip("PIL")
from PIL import Image  # noqa: E402

MODES = {1: "L", 3: "RGB", 4: "RGBA"}


def picture(height, width, seed=0, channels=3):
    """Smooth, with some noise: as a photograph is."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    waves = [127 + 90 * np.sin(x / (5 + 3 * c + seed) + c) * np.cos(y / (7 + 2 * c)) for c in range(channels)]
    return np.clip(np.stack(waves, -1) + random.normal(0, 6, (height, width, channels)), 0, 255).astype("uint8")


def bilinear(image, height, width):
    """tf.image.resize in float32."""
    def places(out, size):
        at = (np.arange(out, dtype="f4") + np.float32(0.5)) * (np.float32(size) / np.float32(out)) - np.float32(0.5)
        floor = np.floor(at)
        return np.maximum(floor, 0).astype(int), np.minimum(np.ceil(at), size - 1).astype(int), at - floor

    image = image.astype("f4")
    top, bottom, dy = places(height, image.shape[0])
    left, right, dx = places(width, image.shape[1])
    dx, dy = dx[None, :, None], dy[:, None, None]
    upper = image[top][:, left] + (image[top][:, right] - image[top][:, left]) * dx
    lower = image[bottom][:, left] + (image[bottom][:, right] - image[bottom][:, left]) * dx
    return upper + (lower - upper) * dy


def save(path, array, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(array[..., 0] if array.shape[-1] == 1 else array).save(path, **options)


def pillow(path, channels=3):
    return np.asarray(Image.open(path).convert(MODES[channels])).reshape(*Image.open(path).size[::-1], channels)


def read_one(read, folder, size, **options):
    return read("images", folder, labels="none", size=list(size), **options)["x0"][0]


@pytest.mark.parametrize("options", [{}, {"quality": 95, "subsampling": 0}, {"quality": 30, "subsampling": 2},
                                     {"progressive": True}, {"optimize": True, "subsampling": 1}])
@pytest.mark.parametrize("shape", [(40, 60), (33, 17), (1, 1), (128, 3)])
def test_jpeg_pixels_are_those_of_pillow(read, tmp_path, options, shape):
    save(tmp_path / "a.jpg", picture(*shape), **options)
    np.testing.assert_array_equal(read_one(read, tmp_path, shape), pillow(tmp_path / "a.jpg"))
    np.testing.assert_array_equal(read_one(read, tmp_path, shape, dtype="uint8"), pillow(tmp_path / "a.jpg"))


def test_gray_jpeg(read, tmp_path):
    save(tmp_path / "a.jpg", picture(20, 30, channels=1))
    for channels in (1, 3):
        np.testing.assert_array_equal(read_one(read, tmp_path, (20, 30), channels=channels), pillow(tmp_path / "a.jpg", channels))


# Two are left out: Pillow weighs alpha in.
PNG = {(mode, channels) for mode in ("L", "RGB", "RGBA", "P", "1", "LA") for channels in (1, 3, 4)} - {("LA", 4), ("RGBA", 1)}


@pytest.mark.parametrize("mode, channels", sorted(PNG))
def test_png_pixels_are_those_of_pillow(read, tmp_path, mode, channels):
    image = Image.fromarray(picture(21, 34, channels=4))
    (image.convert("RGB").quantize(100) if mode == "P" else image.convert(mode)).save(tmp_path / "a.png")
    got = read_one(read, tmp_path, (21, 34), channels=channels)
    np.testing.assert_array_equal(got, pillow(tmp_path / "a.png", channels))


@pytest.mark.parametrize("size", [(20, 20), (64, 48), (200, 10), (7, 300), (41, 61)])
def test_bilinear_resize_is_that_of_tensorflow(read, tmp_path, size):
    for name, options in [("a.jpg", {}), ("a.png", {})]:
        folder = tmp_path / name[-3:]
        save(folder / name, picture(41, 61), **options)
        got = read_one(read, folder, size)
        np.testing.assert_array_equal(got, bilinear(pillow(folder / name), *size))
        np.testing.assert_array_equal(read_one(read, folder, size, dtype="uint8"), np.floor(got + np.float32(0.5)))


def classes(folder, counts, shape=(30, 40)):
    for label, (name, count) in enumerate(counts.items()):
        for i in range(count):
            deeper = f"sub{i % 2}/" if i % 3 == 0 else ""
            save(folder / name / f"{deeper}{i}.{'jpg' if i % 2 else 'PNG'}", picture(*shape, seed=10 * label + i))
    (folder / "notes.txt").write_text("no image")
    (folder / ".hidden").mkdir()


def test_labels_come_from_sorted_folder_names(read, tmp_path):
    classes(tmp_path, {"cat": 5, "ant": 4, "bee": 3})
    numbers = read("images", tmp_path, size=[8, 8])
    np.testing.assert_array_equal(numbers["y0"], [0] * 4 + [1] * 3 + [2] * 5)
    assert numbers["y0"].dtype == np.int32
    onehot = read("images", tmp_path, size=[8, 8], label_mode="categorical")["y0"]
    np.testing.assert_array_equal(onehot, np.eye(3, dtype="f4")[numbers["y0"]])
    chosen = read("images", tmp_path, size=[8, 8], class_names=["cat", "ant"], label_mode="binary")["y0"]
    np.testing.assert_array_equal(chosen, [[0]] * 5 + [[1]] * 4)
    for threads in (1, 3):
        again = read("images", tmp_path, size=[8, 8], threads=threads, then={"batch": 5})
        np.testing.assert_array_equal(again["x0"], numbers["x0"])


def test_bad_images_are_named_or_skipped(read, tmp_path):
    classes(tmp_path, {"ant": 4, "bee": 4})
    whole = (tmp_path / "ant/1.jpg").read_bytes()
    (tmp_path / "ant/1.jpg").write_bytes(whole[:len(whole) // 2])
    (tmp_path / "bee/2.PNG").write_bytes((tmp_path / "bee/2.PNG").read_bytes()[:200])
    (tmp_path / "bee/9.jpg").write_bytes(b"no image")
    Image.fromarray(picture(9, 9)).save(tmp_path / "bee/8.gif")
    (tmp_path / "bee/7.png").write_bytes(b"")
    with pytest.raises(read.Error, match="bad_file.*ant/1.jpg"):
        read("images", tmp_path, size=[8, 8])
    got = read("images", tmp_path, size=[8, 8], then={"skip_bad": True, "batch": 4})
    assert got["skipped"] == [5]
    np.testing.assert_array_equal(got["y0"], [0] * 3 + [1] * 3)
    assert list(got["batch_sizes"]) == [4, 2]


def test_every_cut_of_a_small_file_is_refused(read, tmp_path):
    for name in ("a.jpg", "a.png"):
        save(tmp_path / name, picture(10, 10))
        whole = (tmp_path / name).read_bytes()
        (tmp_path / name).unlink()
        for cut in range(0, len(whole) - 60, 7):
            (tmp_path / f"{cut:04}{name}").write_bytes(whole[:cut])
    count = len(list(tmp_path.glob("*.???")))
    (tmp_path / "good.png").write_bytes(whole)
    assert read("images", tmp_path, labels="none", size=[5, 5], then={"skip_bad": True})["skipped"] == [count]


def test_folders_and_pixels_are_those_of_keras(read, tmp_path):
    keras = pytest.importorskip("keras")
    pytest.importorskip("tensorflow")
    classes(tmp_path, {"cat": 9, "ant": 7, "bee": 8})
    for options in ({}, {"seed": 3}, {"seed": 5, "validation_split": 0.3, "subset": "training"},
                    {"seed": 5, "validation_split": 0.3, "subset": "validation"}, {"crop_to_aspect_ratio": True},
                    {"interpolation": "nearest"}, {"label_mode": "categorical"}):
        theirs = keras.utils.image_dataset_from_directory(
            str(tmp_path), image_size=(17, 29), batch_size=None, verbose=False, shuffle="seed" in options, **options)
        # Keras shuffles again while it reads: compare as sets of images with their labels.
        want = sorted((x.numpy().astype("f4").tobytes(), y.numpy().tobytes()) for x, y in theirs)
        ours = read("images", tmp_path, size=[17, 29], **options)
        assert ours["x0"].shape[0] == len(want)
        images = np.stack([np.frombuffer(x, "f4") for x, _ in want])
        found = []
        for x, y in zip(ours["x0"], ours["y0"]):  # TensorFlow's JPEG decoder takes a faster, rougher DCT
            distance = np.abs(images - x.reshape(1, -1)).max(1)
            found.append(distance.argmin())
            assert distance.min() <= 4
            assert want[found[-1]][1] == y.tobytes()
        assert sorted(found) == list(range(len(want)))
