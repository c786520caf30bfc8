import numpy as np
import pytest
import tensorflow as tf


def test_one_trace_per_signature():
    traces = []

    @tf.function
    def f(x, flag=True):
        traces.append(x.shape)
        return x * 2 if flag else x

    for shape in ((2,), (2,), (3,)):
        assert f(tf.ones(shape)).shape == shape
    f(tf.ones(2), flag=False)
    f(np.ones(2, "float32"))
    assert len(traces) == 3


def test_variables_made_on_the_first_call_stay():
    class Lazy(tf.Module):
        def __init__(self):
            super().__init__()
            self.v = None

        @tf.function
        def __call__(self, x):
            if self.v is None:
                self.v = tf.Variable(10.0)
            self.v.assign_add(x)
            return self.v + 0.0

    lazy = Lazy()
    assert float(lazy(tf.constant(1.0))) == 11.0 and float(lazy(tf.constant(1.0))) == 12.0


def test_code_that_needs_values_runs_op_by_op():
    @tf.function
    def f(x):
        return x * 2 if tf.reduce_sum(x) > 0 else -x

    assert float(f(tf.constant(3.0))) == 6.0 and float(f(tf.constant(-3.0))) == 3.0


def test_a_failed_trace_changes_no_variable():
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        v.assign_add(1.0)
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        f(tf.constant(1.0))
    assert float(v) == 1.0


def test_methods_of_two_objects_have_their_own_variables():
    class Scale(tf.Module):
        def __init__(self, by):
            super().__init__()
            self.by = tf.Variable(by)

        @tf.function
        def __call__(self, x):
            return x * self.by

    a, b = Scale(2.0), Scale(3.0)
    assert float(a(tf.constant(1.0))) == 2.0 and float(b(tf.constant(1.0))) == 3.0


def test_random_numbers_differ_from_call_to_call():
    draw = tf.function(lambda: tf.random.normal([4]))
    assert not np.array_equal(draw(), draw())
    tf.random.set_seed(7)
    first = np.asarray(tf.random.normal([4]))
    tf.random.set_seed(7)
    np.testing.assert_array_equal(first, tf.random.normal([4]))


def test_results_of_several_tensors_have_names():
    found = tf.unique([3, 1, 3])
    assert found.y.numpy().tolist() == [3, 1] and found.idx.numpy().tolist() == [0, 1, 0]
    assert tf.unique_with_counts([3, 1, 3]).count.numpy().tolist() == [2, 1]
    assert tf.linalg.qr(tf.eye(2)).r.shape == (2, 2) and tf.linalg.qr(tf.ones((3, 2)), full_matrices=True).q.shape == (3, 3)
    assert tf.nn.top_k([1.0, 2.0], k=1).indices.numpy().tolist() == [1]


def test_a_confusion_matrix_of_bools_and_floats_counts_classes():
    y, p = np.array([0, 1, 1]), np.array([0.9, 0.2, 0.8])
    assert tf.math.confusion_matrix(y, p > 0.5).numpy().tolist() == [[0, 1], [1, 1]]
    assert tf.math.confusion_matrix(y.astype("float32"), [1.0, 0.0, 1.0]).numpy().tolist() == [[0, 1], [1, 1]]
    for bad in ([-1, 0, 0], [0, 3, 0]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="predictions from 0 to 1"):
            tf.math.confusion_matrix(y, bad, num_classes=2)
