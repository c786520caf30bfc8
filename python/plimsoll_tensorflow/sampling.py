"""tf.nn's losses over a sample of the classes, by TensorFlow's formula: logits less the logarithm of how often a class is drawn."""
from keras import ops as k

from plimsoll_tensorflow.api import random
from plimsoll_tensorflow.ops import cast, static, tensor


def _logits(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, remove_accidental_hits, seed):
    """(logits, labels), a column for each true class and then one for each that was drawn."""
    weights = k.concatenate([tensor(w) for w in weights], 0) if isinstance(weights, (list, tuple)) else tensor(weights)
    biases, inputs, num_true = tensor(biases), tensor(inputs), static(num_true)
    labels = k.reshape(cast(tensor(labels), "int64"), [-1, num_true])
    drawn, true_expected, drawn_expected = sampled_values or random.log_uniform_candidate_sampler(labels, num_true, num_sampled, True, num_classes, seed=seed)
    drawn = tensor(drawn)
    true_expected = k.reshape(tensor(true_expected), [-1, num_true])
    row = lambda places: k.take(weights, places, 0)
    true = k.einsum("bd,btd->bt", inputs, row(labels)) + k.take(biases, labels, 0) - k.log(true_expected)
    sampled = k.matmul(inputs, k.transpose(row(drawn))) + k.take(biases, drawn, 0) - k.log(tensor(drawn_expected))
    if remove_accidental_hits:
        hits = k.any(k.equal(k.expand_dims(labels, 2), k.reshape(drawn, [1, 1, -1])), 1)
        sampled = k.where(hits, -3.4028234663852886e38, sampled)
    return k.concatenate([true, sampled], 1), k.concatenate([k.ones_like(true) / num_true, k.zeros_like(sampled)], 1)


def sampled_softmax_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None, remove_accidental_hits=True, seed=None, name=None):
    logits, truth = _logits(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, remove_accidental_hits, seed)
    return -k.sum(k.stop_gradient(truth) * k.log_softmax(logits), 1)


def nce_loss(weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None, remove_accidental_hits=False, name=None):
    logits, truth = _logits(weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, remove_accidental_hits, None)
    return k.sum(k.relu(logits) - logits * truth + k.log1p(k.exp(-k.abs(logits))), 1)
