from keras.tree import assert_same_structure, flatten, is_nested, map_structure, pack_sequence_as  # noqa: F401

from plimsoll_tensorflow import hints as _hints

__getattr__ = _hints.getter("nest")
