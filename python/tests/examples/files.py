"""Files like those that the examples download, by name: each maker takes a folder and returns the path that the example is given."""
import functools
import json
import zipfile

import numpy as np

WORDS = ("the of and to a in that it is was for on are as with his they at be this have from or one had by word but not what all were "
         "we when your can said there use an each which she do how their if will up other about out many then them these so some "
         "her would").split()


def generator():
    return np.random.default_rng(5)


def sentence(random, least=5, most=40):
    return " ".join(random.choice(WORDS, random.integers(least, most)))


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def csv(path, columns, rows, separator=",", header=True):
    lines = ([separator.join(columns)] if header else []) + [separator.join(map(str, row)) for row in rows]
    return write(path, "\n".join(lines) + "\n")


def zipped(folder, name, inner):
    """A zip file beside the files it has in it."""
    with zipfile.ZipFile(folder / name, "w") as archive:
        for path in inner:
            archive.write(path, path.relative_to(folder))
    return folder / name


def image_file(path, random, size=(64, 64), values=256, mode="RGB"):
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = random.integers(0, values, (*size, 3) if mode == "RGB" else size, dtype="uint8")
    Image.fromarray(pixels + (0 if mode == "RGB" else 1)).save(path)
    return path


def cora(folder, papers=140, terms=1433):
    random, at = generator(), folder / "datasets" / "cora_extracted"
    subjects = ["Case_Based", "Genetic_Algorithms", "Neural_Networks", "Probabilistic_Methods", "Reinforcement_Learning", "Rule_Learning",
                "Theory"]
    ids = random.permutation(9000)[:papers]
    words = (random.random((papers, terms)) < 0.02).astype(int)
    csv(at / "cora" / "cora.content", None, [[i, *w, subjects[k % 7]] for k, (i, w) in enumerate(zip(ids, words))], "\t", header=False)
    csv(at / "cora" / "cora.cites", None, random.choice(ids, (papers * 12, 2)), "\t", header=False)
    return at


ASKED_FOR = ["Matrix, The (1999)", "Star Wars: Episode IV - A New Hope (1977)", "Lion King, The (1994)", "Terminator 2: Judgment Day (1991)",
             "Godfather, The (1972)"]  # by an example


def movielens(folder, users=40, movies=60, count=1200):
    """Random ratings, and groups of films that groups of users like."""
    random, at = generator(), folder / "ml-latest-small"
    films = random.integers(1, movies, count)
    ratings = [[random.integers(1, users), m, random.integers(1, 11) / 2, 1000 + i] for i, m in enumerate(films)]
    ratings += [[users + user, 1 + m, 5.0, 5000 + user] for user in range(movies) for m in range(movies - 1) if m % 10 == user % 10]
    titles = ASKED_FOR + [f"Film {m} (1999)" for m in range(len(ASKED_FOR) + 1, movies)]
    inner = [csv(at / "ratings.csv", ["userId", "movieId", "rating", "timestamp"], ratings),
             csv(at / "movies.csv", ["movieId", "title", "genres"], [[m, f'"{title}"', "Drama|Comedy"] for m, title in enumerate(titles, 1)])]
    return zipped(folder, "ml-latest-small.zip", inner)


def novel(folder):
    random = generator()
    return write(folder / "nietzsche.txt", "\n".join(sentence(random) for _ in range(150)))


def pairs(folder, name, columns):
    random = generator()
    return write(folder / name, "".join("\t".join(sentence(random, 2, 6) for _ in range(columns)) + "\n" for _ in range(400)))


def french(folder):
    text = pairs(folder, "fra.txt", 3)
    archive = zipped(folder, "fra-eng.zip", [text])
    text.unlink()  # the example unpacks it
    return archive


def spanish(folder):
    pairs(folder, "spa-eng/spa.txt", 2)
    return folder / "spa-eng_extracted"


def newsgroups(folder):
    random = generator()
    for group in ("comp.graphics", "rec.autos", "sci.space"):
        for i in range(38987, 39027):
            write(folder / "20_newsgroup" / group / str(i), "\n".join(sentence(random) for _ in range(20)) + "\nthe cat sat on the mat\n")
    return folder / "20_newsgroup_extracted"


def glove(folder):
    random = generator()
    lines = [f"{word} {' '.join(f'{n:.4f}' for n in random.normal(size=100))}" for word in WORDS]
    return write(folder / "glove.6B.100d.txt", "\n".join(lines) + "\n")


def reviews(folder):
    random = generator()
    for part in ("train/pos", "train/neg", "test/pos", "test/neg"):
        for i in range(60):
            write(folder / "aclImdb" / part / f"{i}_7.txt", sentence(random, 30, 120))
    return folder / "aclImdb"


def daily(folder, name):
    """Fourteen days; the one with a jump is another thing from the tenth on."""
    random = generator()
    jump = lambda i: 200 if "jumpsup" in name and i > 288 * 9 else 0
    rows = [[f"2014-04-{1 + i // 288:02d} {i % 288 // 12:02d}:{i % 12 * 5:02d}:00", 20 + 10 * np.sin(i / 45) + random.random() + jump(i)]
            for i in range(288 * 14)]
    return csv(folder / name, ["timestamp", "value"], rows)


def ford(folder, name):
    random = generator()
    rows = [[1 if i % 2 else -1, *np.round(random.normal(size=500), 4)] for i in range(150)]
    return csv(folder / name, None, rows, "\t", header=False)


JENA = ["p (mbar)", "T (degC)", "Tpot (K)", "Tdew (degC)", "rh (%)", "VPmax (mbar)", "VPact (mbar)", "VPdef (mbar)", "sh (g/kg)",
        "H2OC (mmol/mol)", "rho (g/m**3)", "wv (m/s)", "max. wv (m/s)", "wd (deg)"]


def jena(folder, rows=8000):
    random = generator()
    values = np.round(random.normal(size=(rows, 14)).cumsum(axis=0), 3)
    table = [[f"01.01.2009 {i:05d}", *row] for i, row in enumerate(values)]
    return zipped(folder, "jena_climate_2009_2016.csv.zip", [csv(folder / "jena_climate_2009_2016.csv", ["Date Time", *JENA], table)])


def eeg(folder, rows=240):
    random = generator()
    labels = ["blink1", "blink2", "relax", "math1", "music", "thinkOfItems-ver1", "colorInstruction1", "readyRound1"]
    names = ["Unnamed: 0", "id", "indra_time", "browser_latency", "reading_time", "attention_esense", "meditation_esense", "eeg_power",
             "raw_values", "signal_quality", "createdAt", "updatedAt", "label"]
    series = lambda: f'"{json.dumps(random.integers(-200, 200, 512).tolist())}"'
    table = [[i, i % 4, 0, 0, 0, 0, 0, 0, series(), 0, 0, 0, labels[i % 8]] for i in range(rows)]
    return csv(folder / "eeg-data.csv", names, table)


def credit(folder, rows=2500):
    random = generator()
    table = [[*np.round(random.normal(size=30), 4), f'"{int(i % 25 == 0)}"'] for i in range(rows)]
    return csv(folder / "creditcard.csv", [f"V{i}" for i in range(30)] + ["Class"], table)


def adult(folder, name, rows=300):
    random = generator()
    pick = lambda *values: " " + str(random.choice(values))
    table = [[random.integers(17, 90), pick("Private", "State-gov"), random.integers(10000, 90000), pick("Bachelors", "HS-grad", "Masters"),
              random.integers(1, 16), pick("Divorced", "Never-married"), pick("Sales", "Tech-support"),
              pick("Husband", "Wife", "Own-child"), pick("White", "Black", "Other"), pick("Male", "Female"),
              random.integers(0, 5000), random.integers(0, 2000), random.integers(1, 80), pick("Cuba", "Canada", "Mexico"),
              pick("<=50K", ">50K") + ("." if name.endswith("test") else "")]
             for _ in range(rows)]
    return csv(folder / name, None, table, header=False)


def forest(folder, rows=1500):
    random = generator()
    one_hot = lambda n: np.eye(n, dtype=int)[random.integers(0, n)]
    table = [[*random.integers(0, 3000, 10), *one_hot(4), *one_hot(40), 1 + i % 7] for i in range(rows)]
    return csv(folder / "covtype.data", None, table, header=False)


def heart(folder, rows=300):
    random = generator()
    names = "age,sex,cp,trestbps,chol,fbs,restecg,thalach,exang,oldpeak,slope,ca,thal,target".split(",")
    table = [[random.integers(30, 80), i % 2, random.integers(0, 5), random.integers(90, 200), random.integers(120, 500),
              random.integers(0, 2), random.integers(0, 3), random.integers(70, 200), random.integers(0, 2), random.integers(0, 60) / 10,
              random.integers(1, 4), random.integers(0, 4), random.choice(["fixed", "normal", "reversible"]), random.integers(0, 2)]
             for i in range(rows)]
    return csv(folder / "heart.csv", names, table)


CENSUS_NUMBERS = (0, 5, 16, 17, 18, 24, 30, 39)


def census(folder, rows=400):
    random, at = generator(), folder / ".keras" / "datasets" / "census+income+kdd.zip"
    for name in ("census-income.data", "census-income.test"):
        table = [[*(random.integers(0, 90) if i in CENSUS_NUMBERS else f" {'abc'[random.integers(0, 3)]}" for i in range(41)),
                  [" - 50000.", " 50000+."][i % 2]] for i in range(rows)]
        csv(at / name, None, table, header=False)
    return at


def moving_digits(folder):
    frames = generator().integers(0, 256, (20, 1000, 64, 64), dtype="uint8")[:, :, ::1, ::1]
    np.save(folder / "moving_mnist.npy", frames)
    return folder / "moving_mnist.npy"


def sounds(folder):
    import scipy.io.wavfile

    random, at, rows = generator(), folder / "datasets" / "esc-50_extracted" / "ESC-50-master", []
    (at / "audio").mkdir(parents=True)
    for i in range(60):
        scipy.io.wavfile.write(at / "audio" / f"{i}.wav", 44100, random.integers(-3000, 3000, 44100 * 5).astype("int16"))
        rows.append([f"{i}.wav", i % 5 + 1, i % 10, "sound", True, i, "A"])
    csv(at / "meta" / "esc50.csv", ["filename", "fold", "target", "category", "esc10", "src_file", "take"], rows)
    return at.parent


def pets(folder, count=48):
    random = generator()
    for kind in ("Cat", "Dog"):
        for i in [*range(count - 1), 6779]:
            image_file(folder / "PetImages" / kind / f"{i}.jpg", random)
    return folder / "PetImages"


def pet_masks(folder, count=1200):
    random = generator()
    for i in range(count):
        image_file(folder / "images" / f"pet_{i:04d}.jpg", random, (24, 24))
        image_file(folder / "annotations" / "trimaps" / f"pet_{i:04d}.png", random, (24, 24), 3, "L")
    return folder / "images"


def picture(folder, name):
    return image_file(folder / name, generator(), (240, 320))


MAKERS = {
    "cora.tgz": cora, "ml-latest-small.zip": movielens, "nietzsche.txt": novel, "fra-eng.zip": french, "spa-eng.zip": spanish,
    "news20.tar.gz": newsgroups, "glove.6B.100d.txt": glove, "aclImdb": reviews, "jena_climate_2009_2016.csv.zip": jena, "eeg-data.csv": eeg, "creditcard.csv": credit,
    "covtype.data.gz": forest, "heart.csv": heart, "census+income+kdd.zip": census, "moving_mnist.npy": moving_digits,
    "esc-50.zip": sounds, "PetImages": pets, "pet_masks": pet_masks,
    **{n: functools.partial(daily, name=n) for n in ("art_daily_small_noise.csv", "art_daily_jumpsup.csv")},
    **{n: functools.partial(ford, name=n) for n in ("FordA_TRAIN.tsv", "FordA_TEST.tsv")},
    **{n: functools.partial(adult, name=n) for n in ("adult.data", "adult.test")},
    **{n: functools.partial(picture, name=n) for n in ("elephant.jpg", "african_elephant.jpg", "cat_and_dog.jpg", "sky.jpg", "paris.jpg")},
}
