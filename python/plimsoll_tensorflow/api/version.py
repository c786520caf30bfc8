VERSION = "2.21.0+plimsoll"  # the TensorFlow whose names these are
GIT_VERSION = COMPILER_VERSION = "plimsoll"
GRAPH_DEF_VERSION = 0
