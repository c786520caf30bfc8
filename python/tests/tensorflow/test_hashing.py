"""Strings in buckets, as TensorFlow 2.21 puts them."""
import numpy as np
import pytest
import tensorflow as tf

BUCKETS = {"": 377723, "a": 291400, "abc": 152962, "hello": 497363, "u11": 660100, "x" * 17: 200771, "y" * 40: 641401, "z" * 100: 111982}


def test_buckets_of_strings():
    assert tf.strings.to_hash_bucket_fast(list(BUCKETS), 1000003).numpy().tolist() == list(BUCKETS.values())


def test_the_layer():
    layer = tf.keras.layers.Hashing(num_bins=1000003)
    assert layer(np.array(list(BUCKETS))).numpy().tolist() == list(BUCKETS.values())
    assert layer(np.array([[17], [4]])).shape == (2, 1)
    masked = tf.keras.layers.Hashing(num_bins=1000004, mask_value="")(tf.constant(list(BUCKETS))).numpy()
    assert masked.tolist() == [0] + [n + 1 for n in list(BUCKETS.values())[1:]]
    hot = tf.keras.layers.Hashing(num_bins=3, output_mode="one_hot")(np.array(["a", "b"])).numpy()
    assert hot.shape == (2, 3) and hot.sum() == 2


def test_hashes_with_a_key_are_tensorflows():
    words = ["", "a", "abcdefg", "abcdefgh", "the quick brown fox", "é"]
    assert tf.strings.to_hash_bucket_strong(words, 1000003, [1, 2]).numpy().tolist() == [383377, 332029, 330372, 19760, 998175, 803174]
    assert tf.strings.to_hash_bucket_strong(words, 97, [2**40 + 5, 12345]).numpy().tolist() == [35, 33, 38, 30, 58, 13]
    assert tf.keras.layers.Hashing(num_bins=50, salt=133137)(tf.constant(words)).numpy().tolist() == [48, 39, 47, 32, 18, 13]
    assert tf.keras.layers.Hashing(num_bins=50, salt=[133137, 42], mask_value="a")(tf.constant([words])).numpy().tolist() == [[34, 0, 34, 18, 34, 24]]
