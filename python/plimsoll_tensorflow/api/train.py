from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow.checkpoint import Checkpoint, CheckpointManager, latest_checkpoint  # noqa: F401
from plimsoll_tensorflow.example_proto import BytesList, Example, Feature, Features, FloatList, Int64List  # noqa: F401

__getattr__ = _hints.getter("train")
