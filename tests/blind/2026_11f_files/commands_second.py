"""A second, small set of command lines, written after the work on the first: commands_second.py PROGRAM [CASE ...]."""

import sys

import numpy as np

import commands
from commands import LABELS, X, Y, command, finite, image_model, main, model, pictures, rgb, text, trained

commands.CASES.clear()


@command("train m.yaml --data d.tsv --y price --loss mse", rc=1, says=r"(?s)tsv.*\.csv")
def tsv_by_its_suffix():
    model(2)
    text("d.tsv", "a\tb\tprice", *["%d\t%d\t%d" % (i, i % 5, i) for i in range(30)])


@command("train m.yaml --data d.csv --x a b --y price --weights w --loss mse --epochs 1", says="loss")
def csv_with_weights():
    model(2)
    text("d.csv", "a,b,price,w", *["%d,%d,%d,%.1f" % (i, i % 5, i, i % 2) for i in range(30)])


@command("train m.yaml --data d.npz --loss mse --metrics acuracy", rc=1, says=r"(?s)acuracy.*accuracy")
def metric_misspelt():
    model(4)
    np.savez("d.npz", x=X, y=Y)


@command("train m.yaml --data d.npz --loss sparse_categorical_crossentropy", rc=1, says=r"(?i)(string|text|<U)")
def labels_as_words_in_npz():
    model(4, 3, activation="softmax")
    np.savez("d.npz", x=X, y=np.array(["cat", "dog"] * 20))


@command("train m.yaml --data d.npz --loss categorical_crossentropy --metrics accuracy --epochs 1", says="accuracy")
def one_hot_labels():
    model(4, 3, activation="softmax")
    np.savez("d.npz", x=X, y=np.eye(3)[LABELS])


@command("train m.yaml --data d.npz --loss mse --validation-split 1.5", rc=2, says=r"validation-split")
def split_above_one():
    model(4)
    np.savez("d.npz", x=X, y=Y)


@command("train m.yaml --data d.npz --loss mse --on-nan raise", rc=1, says=r"(?is)nan.*\[3, 2\]|x0.*\(3, 2\)|nan.*3")
def a_nan_in_the_data():
    model(4)
    x = X.copy()
    x[3, 2] = np.nan
    np.savez("d.npz", x=x, y=Y)


@command("train m.yaml --data d.npz --loss sparse_categorical_crossentropy --epochs 1", rc=1, says=r"(?s)-1.*(0 to 2|ignore)")
def a_label_of_minus_one():
    model(4, 3, activation="softmax")
    y = LABELS.copy()
    y[5] = -1
    np.savez("d.npz", x=X, y=y)


@command("inspct m.keras", rc=2, says=r"inspect")
def inspect_misspelt():
    trained()


@command("predict m.keras --data d.npy --out p.npy", rc=2, says=r"--output")
def output_shortened():
    trained()
    np.save("d.npy", X)


@command("train m.yaml --data d.npz --loss mse", rc=1, says=r"(?s)m\.yaml.*Embedding|words.*0 to 9")
def token_beyond_the_vocabulary():
    text("m.yaml", "input: [3]", "layers:", "  - Embedding: {input_dim: 10, output_dim: 4, name: words}", "  - Flatten", "  - Dense: 1")
    np.savez("d.npz", x=np.full((20, 3), 10), y=np.zeros((20, 1), "float32"))


if __name__ == "__main__":
    main()
