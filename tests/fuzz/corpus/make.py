"""Makes the real files that fuzzing starts from: images of every kind that is read, and the configs and archives of
the golden files. Needs Pillow. Usage: python make.py
"""
import io
import json
import pathlib
import zipfile

from PIL import Image

HERE = pathlib.Path(__file__).parent
GOLDEN = HERE.parent.parent / "golden" / "keras_files"


def put(target, name, contents):
    folder = HERE / target
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(contents)


def encoded(image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def images():
    pixels = bytes((7 * i * i + 3 * i) % 256 for i in range(9 * 6 * 4))
    rgba = Image.frombytes("RGBA", (9, 6), pixels)
    for mode in ("1", "L", "LA", "P", "RGB", "RGBA", "I;16"):
        steps = {"I;16": ["L", "I"], "P": ["RGB"]}.get(mode, [])
        image = rgba
        for step in [*steps, mode]:
            image = image.convert(step)
        put("fuzz_data_image", f"{mode.replace(';', '')}.png", encoded(image, "PNG"))
    for mode in ("L", "RGB", "CMYK"):
        put("fuzz_data_image", f"{mode}.jpg", encoded(rgba.convert("RGB").convert(mode), "JPEG"))
    put("fuzz_data_image", "progressive.jpg", encoded(rgba.convert("RGB"), "JPEG", progressive=True, subsampling=0))


def keras_files():
    for path in sorted(GOLDEN.glob("*.keras")):
        with zipfile.ZipFile(path) as archive:
            config = archive.read("config.json")
        if path.stem.endswith(("_chain", "_text")):
            put("fuzz_keras_config", f"{path.stem}.json", config)
            compiled = json.loads(config).get("compile_config")
            if compiled:
                put("fuzz_keras_compile", f"{path.stem}.json", json.dumps(compiled).encode())
        if path.stem == "keras3_chain":
            put("fuzz_keras_zip", path.name, path.read_bytes())


images()
keras_files()
