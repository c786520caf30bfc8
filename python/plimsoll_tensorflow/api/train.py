from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow.checkpoint import (  # noqa: F401
    Checkpoint, CheckpointManager, latest_checkpoint, list_variables, load_checkpoint, load_variable)
from plimsoll_tensorflow.example_proto import (  # noqa: F401
    BytesList, Example, Feature, FeatureList, FeatureLists, Features, FloatList, Int64List, SequenceExample)


class CheckpointOptions:
    """Taken and without effect: they are about TensorFlow's own files."""

    def __init__(self, **options):
        self.__dict__.update(options)


def get_checkpoint_state(checkpoint_dir, latest_filename=None):
    import types

    found = latest_checkpoint(checkpoint_dir, latest_filename)
    return None if found is None else types.SimpleNamespace(model_checkpoint_path=found)


class ExponentialMovingAverage:
    """Shadows of variables; the zeros that they start from are corrected for as TensorFlow does if `num_updates` is given."""

    def __init__(self, decay, num_updates=None, zero_debias=False, name="ExponentialMovingAverage"):
        self._decay, self._updates, self.name, self._shadows = decay, num_updates, name, {}

    def apply(self, var_list=None):
        from plimsoll_tensorflow.tensor import Variable

        decay = self._decay if self._updates is None else min(self._decay, (1.0 + int(self._updates)) / (10.0 + int(self._updates)))
        for v in var_list:
            if id(v) not in self._shadows:
                self._shadows[id(v)] = (v, Variable(v.value, trainable=False, name=self.name))
            else:
                shadow = self._shadows[id(v)][1]
                shadow.assign_sub((shadow.value - v.value) * (1.0 - decay))

    def average(self, var):
        found = self._shadows.get(id(var))
        return found and found[1]


__getattr__ = _hints.getter("train")
