"""What each op means, in NumPy and SciPy: one function per op, called with (inputs, attributes, dtypes of the
outputs). Floats are computed in float64 from the inputs as they are; integers in their own type."""
from oracles_elementwise import ORACLES as ELEMENTWISE
from oracles_graph import ORACLES as GRAPH, TABLE
from oracles_linalg import ORACLES as LINALG
from oracles_nn import ORACLES as NN
from oracles_rnn import ORACLES as RNN
from oracles_shape import ORACLES as SHAPE
from oracles_train import ORACLES as TRAIN

ORACLES = {**ELEMENTWISE, **SHAPE, **NN, **RNN, **TRAIN, **LINALG, **GRAPH}
TABLE.update(ORACLES)
