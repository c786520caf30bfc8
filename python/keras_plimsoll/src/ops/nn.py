"""keras.ops.nn over the ops of the engine, one file per subject."""
from keras_plimsoll.src.ops._activations import (  # noqa: F401
    celu,
    elu,
    gelu,
    glu,
    hard_shrink,
    hard_sigmoid,
    hard_silu,
    hard_tanh,
    leaky_relu,
    log_sigmoid,
    log_softmax,
    relu,
    relu6,
    selu,
    sigmoid,
    silu,
    soft_shrink,
    softmax,
    softplus,
    softsign,
    sparse_plus,
    sparse_sigmoid,
    sparsemax,
    squareplus,
    tanh,
    tanh_shrink,
    threshold,
)
from keras_plimsoll.src.ops._attention import dot_product_attention  # noqa: F401
from keras_plimsoll.src.ops._convolution import conv, conv_transpose, depthwise_conv, separable_conv  # noqa: F401
from keras_plimsoll.src.ops._ctc import ctc_decode, ctc_loss  # noqa: F401
from keras_plimsoll.src.ops._losses import (  # noqa: F401
    binary_crossentropy,
    categorical_crossentropy,
    multi_hot,
    one_hot,
    psnr,
    sparse_categorical_crossentropy,
)
from keras_plimsoll.src.ops._normalization import batch_normalization, layer_normalization, moments  # noqa: F401
from keras_plimsoll.src.ops._pooling import (  # noqa: F401
    adaptive_average_pool,
    adaptive_max_pool,
    average_pool,
    depth_to_space,
    fold,
    max_pool,
    space_to_depth,
    unfold,
)
