"""StringLookup and TextVectorization. Keras writes them in TensorFlow's string ops; strings are outside of the engine, so they are Python here:
they belong in the data pipeline (Dataset.map, or called on an array of strings), not inside of a model that is trained."""
import collections
import math
import os
import re

import numpy as np
from keras.src.backend import KerasTensor
from keras.src.layers.layer import Layer

from plimsoll_tensorflow.ragged import RaggedTensor
from plimsoll_tensorflow.tensor import StringTensor, to_tensor

PUNCTUATION = re.compile(r"""[!"#$%&()\*\+,-\./:;<=>?@\[\\\]^_`{|}~\']""")


def _strings(data):
    array = data.array if isinstance(data, StringTensor) else np.asarray(data, object)
    decoded = np.empty(array.shape, object)
    decoded.reshape(-1)[:] = [v.decode("utf-8", "replace") if isinstance(v, bytes) else str(v) for v in array.reshape(-1)]
    return decoded


def _batches(data):
    from plimsoll_tensorflow.dataset import Dataset

    if isinstance(data, Dataset):
        yield from (_strings(batch) for batch in data.as_numpy_iterator())
    else:
        yield _strings(data)


class _Lookup(Layer):
    def __init__(self, max_tokens, vocabulary, idf_weights, output_mode, pad_to_max_tokens, **kwargs):
        super().__init__(**kwargs)
        output_mode = {"tf-idf": "tf_idf", "binary": "multi_hot"}.get(output_mode, output_mode)
        self.max_tokens, self.output_mode, self.pad_to_max_tokens = max_tokens, output_mode, pad_to_max_tokens
        self.supports_jit = False
        self._tokens, self._weights = [], None
        if vocabulary is not None:
            self.set_vocabulary(vocabulary, idf_weights)

    specials = ()

    def _order(self, word):
        return [-ord(c) for c in word] + [1]

    def vocabulary_size(self):
        return len(self.get_vocabulary())

    def _rebuild(self):
        self._index = {token: i for i, token in enumerate(self.get_vocabulary())}

    def set_vocabulary(self, vocabulary, idf_weights=None):
        if isinstance(vocabulary, str):
            with open(vocabulary, encoding="utf-8") as file:
                vocabulary = file.read().splitlines()
        words = [str(w) for w in _strings(vocabulary)]
        words = words[len(self.specials):] if words[: len(self.specials)] == list(self.specials) else words
        if len(set(words)) != len(words):
            raise ValueError("The passed vocabulary has at least one repeated term.")
        self._tokens, self._weights = list(map(np.str_, words)), None if idf_weights is None else list(map(float, idf_weights))
        self._rebuild()

    def adapt(self, data, batch_size=None, steps=None):
        counts, documents, total = collections.Counter(), collections.Counter(), 0
        for batch in _batches(data):
            for words in self._documents(batch):
                counts.update(words)
                documents.update(set(words))
                total += 1
        for special in ("", *self.specials):
            counts.pop(special, None)
        room = None if self.max_tokens is None else self.max_tokens - len(self.get_specials())
        ranked = sorted(counts, key=lambda w: (-counts[w], self._order(w)))  # equal counts: the last in order first, as in Keras
        self._tokens = list(map(np.str_, ranked[:room]))  # as Keras has them from TensorFlow
        self._weights = [math.log(1 + total / (1 + documents[w])) for w in self._tokens]
        self._rebuild()

    def load_assets(self, dir_path):
        """The vocabulary of a file that Keras has saved with TensorFlow; ours have it in the layer's config."""
        with open(os.path.join(dir_path, "vocabulary.txt"), encoding="utf-8") as file:
            self.set_vocabulary(file.read().split("\n"))

    def encoded(self, rows, width):
        """Rows of indices as multi-hot, counts or tf-idf."""
        out = np.zeros((len(rows), width), "float32")
        for row, indices in zip(out, rows):
            np.add.at(row, np.asarray(indices, int), 1.0)
        if self.output_mode in ("multi_hot", "one_hot"):
            return np.minimum(out, 1.0).astype("int64")
        if self.output_mode == "tf_idf":
            weights = self._weights or [1.0] * len(self._tokens)
            lead = [float(np.mean(weights)) if weights else 1.0] * (len(self.get_vocabulary()) - len(weights))
            known = len(lead) + len(weights)  # of `width`: what pad_to_max_tokens adds stays zero
            out[:, :known] *= np.asarray(lead + list(weights), "float32")
            return out
        return out.astype("int64")

    def _width(self):
        return self.max_tokens if self.pad_to_max_tokens and self.max_tokens else self.vocabulary_size()

    def compute_output_spec(self, inputs, *args, **kwargs):
        return KerasTensor(self._output_shape(inputs.shape), "float32" if self.output_mode == "tf_idf" else "int64")

    def __call__(self, inputs, *args, **kwargs):
        if isinstance(inputs, KerasTensor):
            return super().__call__(inputs, *args, **kwargs)
        if isinstance(inputs, RaggedTensor):
            return inputs.map_values(self.call)
        if getattr(inputs, "is_symbolic", False):
            raise ValueError(f"{type(self).__name__} works on strings, which cannot be inside of a compiled step: "
                             "apply it in the data pipeline, dataset.map(lambda text, label: (layer(text), label)).")
        return self.call(inputs)


class StringLookup(_Lookup):
    def __init__(self, max_tokens=None, num_oov_indices=1, mask_token=None, oov_token="[UNK]", vocabulary=None, idf_weights=None, invert=False,
                 output_mode="int", pad_to_max_tokens=False, sparse=False, encoding="utf-8", name=None, **kwargs):
        self.num_oov_indices, self.mask_token, self.oov_token, self.invert = num_oov_indices, mask_token, oov_token, invert
        super().__init__(max_tokens, vocabulary, idf_weights, output_mode, pad_to_max_tokens, name=name, **kwargs)

    @property
    def specials(self):
        return tuple(self.get_specials())

    def get_specials(self):
        return ([self.mask_token] if self.mask_token is not None else []) + [self.oov_token] * self.num_oov_indices

    def get_vocabulary(self, include_special_tokens=True):
        return (self.get_specials() if include_special_tokens else []) + list(self._tokens)

    def _documents(self, batch):
        return [[w] for w in batch.reshape(-1)] if batch.ndim < 2 else [list(row) for row in batch]

    def call(self, inputs):
        if self.invert:
            words = self.get_vocabulary()
            array = np.asarray(inputs)
            return StringTensor(np.array([words[i] if 0 <= i < len(words) else self.oov_token for i in array.reshape(-1)], object).reshape(array.shape))
        words = _strings(inputs)
        unknown = 1 if self.mask_token is not None else 0
        found = np.array([self._place(w, unknown) for w in words.reshape(-1)], "int64").reshape(words.shape)
        if self.output_mode == "int":
            return to_tensor(found)
        rows = found.reshape(-1, 1) if found.ndim < 2 or self.output_mode == "one_hot" else found
        lead = found.shape[:-1] if found.ndim > 1 and (found.shape[-1] == 1 or self.output_mode != "one_hot") else found.shape
        return to_tensor(self.encoded(rows, self._width()).reshape(*lead, -1))

    def _place(self, word, unknown):
        place = self._index.get(word)
        if place is None and self.num_oov_indices == 0:
            raise ValueError(f"When `num_oov_indices=0` all inputs should be in vocabulary, found OOV value {word!r}")
        return unknown if place is None else place

    def _output_shape(self, shape):
        return tuple(shape) if self.output_mode == "int" else (*shape[:-1], self._width())

    def get_config(self):
        return super().get_config() | {
            "max_tokens": self.max_tokens, "num_oov_indices": self.num_oov_indices, "mask_token": self.mask_token, "oov_token": self.oov_token,
            "vocabulary": list(map(str, self._tokens)) or None, "invert": self.invert, "output_mode": self.output_mode,
            "pad_to_max_tokens": self.pad_to_max_tokens}


class IntegerLookup(StringLookup):
    """The same for whole numbers, whose names in here are their digits."""

    def __init__(self, max_tokens=None, num_oov_indices=1, mask_token=None, oov_token=-1, vocabulary=None, vocabulary_dtype="int64", idf_weights=None,
                 invert=False, output_mode="int", sparse=False, pad_to_max_tokens=False, name=None, **kwargs):
        self.vocabulary_dtype = vocabulary_dtype
        super().__init__(max_tokens, num_oov_indices, None if mask_token is None else str(mask_token), str(oov_token),
                         vocabulary if vocabulary is None or isinstance(vocabulary, str) else np.asarray(vocabulary).tolist(), idf_weights, invert,
                         output_mode, pad_to_max_tokens, name=name, **kwargs)

    def get_vocabulary(self, include_special_tokens=True):
        specials = [int(word) for word in self.get_specials()] if include_special_tokens else []
        return specials + [np.int64(int(word)) for word in self._tokens]

    def _rebuild(self):
        self._index = {str(token): i for i, token in enumerate(self.get_vocabulary())}

    def _order(self, word):
        return -int(word)

    def call(self, inputs):
        if self.invert:
            words, array = self.get_vocabulary(), np.asarray(inputs)
            return to_tensor(np.array([words[i] if 0 <= i < len(words) else int(self.oov_token) for i in array.ravel()], "int64").reshape(array.shape))
        return super().call(np.asarray(inputs).astype("int64"))

    def get_config(self):
        number = lambda token: None if token is None else int(token)
        return super().get_config() | {"mask_token": number(self.mask_token), "oov_token": number(self.oov_token),
                                       "vocabulary": [int(t) for t in self._tokens] or None, "vocabulary_dtype": self.vocabulary_dtype}


class TextVectorization(_Lookup):
    specials = ("", "[UNK]")

    def __init__(self, max_tokens=None, standardize="lower_and_strip_punctuation", split="whitespace", ngrams=None, output_mode="int",
                 output_sequence_length=None, pad_to_max_tokens=False, vocabulary=None, idf_weights=None, sparse=False, ragged=False,
                 encoding="utf-8", name=None, **kwargs):
        if sparse:
            raise ValueError("[TextVectorization] expected dense output, got sparse=True: leave it False.")
        self.ragged = ragged
        self.standardize, self.split, self.ngrams, self.output_sequence_length = standardize, split, ngrams, output_sequence_length
        super().__init__(max_tokens, vocabulary, idf_weights, output_mode, pad_to_max_tokens, name=name, **kwargs)

    def get_specials(self):
        return ["", "[UNK]"] if self.output_mode == "int" else ["[UNK]"]

    def get_vocabulary(self, include_special_tokens=True):
        return (self.get_specials() if include_special_tokens else []) + list(self._tokens)

    def _standardized(self, texts):
        if self.standardize is None:
            return texts
        if callable(self.standardize):
            return list(_strings(self.standardize(StringTensor(texts))))
        if "lower" in self.standardize:
            texts = [t.lower() for t in texts]
        return [PUNCTUATION.sub("", t) for t in texts] if "strip_punctuation" in self.standardize else texts

    def _words(self, text):
        if self.split is None:
            return [text]
        if callable(self.split):
            return [str(w) for w in _strings(self.split(StringTensor(text))).reshape(-1)]
        return list(text) if self.split == "character" else text.split()

    def _documents(self, batch):
        return [self._grams(self._words(text)) for text in self._standardized(list(batch.reshape(-1)))]

    def _grams(self, words):
        if self.ngrams is None:
            return words
        sizes = range(1, self.ngrams + 1) if isinstance(self.ngrams, int) else self.ngrams
        return [" ".join(words[i : i + n]) for n in sizes for i in range(len(words) - n + 1)]

    def call(self, inputs):
        texts = _strings(inputs)
        lead = texts.shape[:-1] if texts.ndim > 1 and texts.shape[-1] == 1 else texts.shape
        unknown = len(self.get_specials()) - 1
        rows = [[self._index.get(w, unknown) for w in words] for words in self._documents(texts)]
        if self.output_mode != "int":
            return to_tensor(self.encoded(rows, self._width()).reshape(*lead, -1))
        if self.ragged:
            return RaggedTensor([np.asarray(row[: self.output_sequence_length], "int64") for row in rows])
        width = self.output_sequence_length or max(map(len, rows), default=0)
        out = np.zeros((len(rows), width), "int64")
        for line, row in zip(out, rows):
            line[: len(row)] = row[:width]
        return to_tensor(out.reshape(*lead, width))

    def _output_shape(self, shape):
        width = self.output_sequence_length if self.output_mode == "int" else self._width()
        return (*(shape[:-1] if len(shape) > 1 else shape), width)

    def get_config(self):
        return super().get_config() | {
            "max_tokens": self.max_tokens, "ragged": self.ragged, "standardize": self.standardize, "split": self.split, "ngrams": self.ngrams,
            "output_mode": self.output_mode, "output_sequence_length": self.output_sequence_length, "pad_to_max_tokens": self.pad_to_max_tokens,
            "vocabulary": list(map(str, self._tokens)) or None, "idf_weights": self._weights}
