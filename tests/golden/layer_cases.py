"""The layers that tests/golden/make_layer_goldens.py runs: name -> (layer, inputs, options)."""
import keras

L = keras.layers


def x(*shape, **more):
    return {"shape": list(shape), "dtype": "float32", "low": -1.0, "high": 1.0, **more}


def ids(*shape, high):
    return {"shape": list(shape), "dtype": "int32", "low": 0, "high": high}


CASES = []


def case(name, layer, *inputs, **options):
    CASES.append((name, layer, list(inputs), options))


# Activations, and their layers.
for name in ["linear", "relu", "relu6", "leaky_relu", "elu", "selu", "celu", "gelu", "silu", "swish", "mish", "glu", "sigmoid",
             "hard_sigmoid", "hard_silu", "hard_swish", "log_sigmoid", "sparse_sigmoid", "tanh", "hard_tanh", "tanh_shrink",
             "soft_shrink", "hard_shrink", "softplus", "sparse_plus", "squareplus", "softsign", "exponential", "softmax",
             "log_softmax", "sparsemax"]:
    case(f"activation_{name}", L.Activation(name), x(3, 10, low=-7.0, high=7.0))
case("relu_plain", L.ReLU(), x(3, 5))
case("relu_all", L.ReLU(max_value=0.7, negative_slope=0.2, threshold=0.3), x(4, 6))
case("relu_max", L.ReLU(max_value=6), x(3, 5, low=-8.0, high=8.0))
case("relu_slope", L.ReLU(negative_slope=0.1), x(3, 5))
case("leaky_relu", L.LeakyReLU(negative_slope=0.15), x(3, 5))
case("elu", L.ELU(alpha=0.7), x(3, 5))
case("prelu", L.PReLU(), x(2, 3, 4))
case("prelu_shared", L.PReLU(shared_axes=[1, 2], alpha_regularizer="l2"), x(2, 3, 4, 2))
case("softmax_axis", L.Softmax(axis=1), x(2, 4, 3))
case("softmax_axes", L.Softmax(axis=[1, 2]), x(2, 4, 3))
case("softmax_mask", L.Softmax(), x(2, 5), masks=[True])
case("activity_regularization", L.ActivityRegularization(l1=0.1, l2=0.2), x(3, 4))
case("identity", L.Identity(), x(2, 3))

# Core.
case("dense", L.Dense(4, activation="tanh"), x(3, 5))
case("dense_3d", L.Dense(4, use_bias=False, kernel_regularizer=keras.regularizers.L1L2(0.01, 0.02)), x(2, 3, 5))
case("dense_losses", L.Dense(3, activity_regularizer=keras.regularizers.L2(0.1), bias_regularizer=keras.regularizers.L1(0.1),
                             kernel_regularizer=keras.regularizers.OrthogonalRegularizer(0.3, "columns")), x(4, 3))
case("dense_orthogonal_rows", L.Dense(3, kernel_regularizer=keras.regularizers.OrthogonalRegularizer(0.3)), x(4, 3))
case("embedding", L.Embedding(7, 3), ids(2, 5, high=6))
case("embedding_mask", L.Embedding(4, 3, mask_zero=True, embeddings_regularizer="l2"), ids(3, 6, high=3))
case("masking", L.Masking(mask_value=1.0), ids(3, 4, 2, high=1) | {"dtype": "float32", "low": 0.999999, "high": 1.0})
case("einsum_dense", L.EinsumDense("abc,cd->abd", output_shape=(None, 4), bias_axes="d", activation="relu"), x(2, 3, 5))
case("einsum_dense_heads", L.EinsumDense("btd,dnh->btnh", output_shape=(None, 2, 3), bias_axes="nh"), x(2, 3, 5))
case("einsum_dense_out", L.EinsumDense("...x,xy->...y", output_shape=4, bias_axes=None), x(2, 3, 5))

# Convolutions.
case("conv1d", L.Conv1D(4, 3, activation="relu"), x(2, 8, 3))
case("conv1d_causal", L.Conv1D(4, 3, padding="causal", dilation_rate=2), x(2, 8, 3))
case("conv1d_same_strides", L.Conv1D(4, 4, padding="same", strides=2), x(2, 9, 3))
case("conv1d_first", L.Conv1D(4, 3, data_format="channels_first"), x(2, 3, 8))
case("conv1d_causal_first", L.Conv1D(2, 2, padding="causal", data_format="channels_first"), x(2, 3, 8))
case("conv2d", L.Conv2D(4, 3), x(2, 6, 7, 3))
case("conv2d_same", L.Conv2D(4, (3, 2), padding="same", strides=(2, 1), activation="gelu"), x(2, 6, 7, 3))
case("conv2d_dilated", L.Conv2D(3, 3, padding="same", dilation_rate=(2, 1)), x(2, 7, 7, 2))
case("conv2d_groups", L.Conv2D(6, 3, groups=2, use_bias=False), x(2, 6, 6, 4))
case("conv2d_first", L.Conv2D(4, 3, padding="same", strides=2, data_format="channels_first",
                              activity_regularizer="l2"), x(2, 3, 6, 7))
case("conv3d", L.Conv3D(3, 2), x(2, 4, 5, 4, 2))
case("conv3d_same_first", L.Conv3D(3, (2, 3, 2), padding="same", strides=(1, 2, 2), data_format="channels_first"),
     x(1, 2, 4, 5, 4))
case("conv1d_transpose", L.Conv1DTranspose(3, 3, strides=2), x(2, 5, 2))
case("conv1d_transpose_first", L.Conv1DTranspose(3, 3, strides=2, padding="same", data_format="channels_first"), x(2, 2, 5))
case("conv2d_transpose", L.Conv2DTranspose(3, 3, strides=2, activation="tanh"), x(2, 4, 5, 2))
case("conv2d_transpose_same", L.Conv2DTranspose(3, (3, 4), strides=(2, 3), padding="same"), x(2, 4, 5, 2))
case("conv2d_transpose_output_padding", L.Conv2DTranspose(3, 3, strides=2, padding="same", output_padding=1), x(2, 4, 5, 2))
case("conv2d_transpose_dilated", L.Conv2DTranspose(3, 2, dilation_rate=2), x(2, 4, 5, 2))
case("conv2d_transpose_wide_stride", L.Conv2DTranspose(2, 2, strides=3), x(1, 3, 4, 2))
case("conv2d_transpose_first", L.Conv2DTranspose(3, 3, strides=2, padding="same", data_format="channels_first"), x(2, 2, 4, 5))
case("conv3d_transpose", L.Conv3DTranspose(2, 2, strides=2, padding="same"), x(1, 2, 3, 2, 2))
case("depthwise_conv1d", L.DepthwiseConv1D(3, depth_multiplier=2), x(2, 7, 3))
case("depthwise_conv2d", L.DepthwiseConv2D(3, padding="same", depth_multiplier=2, activation="relu6"), x(2, 5, 6, 3))
case("depthwise_conv2d_strides", L.DepthwiseConv2D(3, strides=2, use_bias=False), x(2, 7, 7, 3))
case("depthwise_conv2d_same_strides", L.DepthwiseConv2D(5, strides=2, padding="same"), x(2, 8, 8, 4))
case("depthwise_conv2d_first", L.DepthwiseConv2D((3, 2), data_format="channels_first", dilation_rate=2), x(2, 3, 7, 6))
case("separable_conv1d", L.SeparableConv1D(4, 3, depth_multiplier=2), x(2, 7, 3))
case("separable_conv2d", L.SeparableConv2D(4, 3, padding="same", depth_multiplier=2, activation="relu"), x(2, 6, 6, 3))
case("separable_conv2d_strides", L.SeparableConv2D(4, 3, strides=2, use_bias=False, pointwise_regularizer="l1"), x(2, 7, 7, 3))
case("separable_conv2d_first", L.SeparableConv2D(4, 3, data_format="channels_first"), x(2, 3, 6, 6))

# Pooling.
for rank, shape in [(1, (7,)), (2, (6, 7)), (3, (4, 5, 4))]:
    for kind in ["Max", "Average"]:
        pool = getattr(L, f"{kind}Pooling{rank}D")
        case(f"{kind}_pooling{rank}d".lower(), pool(2), x(2, *shape, 3))
        if kind == "Max" or rank == 1:  # PyTorch's averages count padding; tests/golden/ops.npz has them
            case(f"{kind}_pooling{rank}d_same".lower(), pool(3, strides=2, padding="same"), x(2, *shape, 3))
        case(f"{kind}_pooling{rank}d_first".lower(), pool(2, strides=1, data_format="channels_first"), x(2, 3, *shape))
        whole = getattr(L, f"Global{kind}Pooling{rank}D")
        case(f"global_{kind}_pooling{rank}d".lower(), whole(), x(2, *shape, 3))
        case(f"global_{kind}_pooling{rank}d_keep_first".lower(), whole(keepdims=True, data_format="channels_first"),
             x(2, 3, *shape))
case("global_average_pooling1d_mask", L.GlobalAveragePooling1D(), x(3, 6, 2), masks=[True])

# Normalization.
for training in [False, True]:
    mode = "train" if training else "infer"
    case(f"batch_normalization_{mode}", L.BatchNormalization(), x(5, 4, 3), training=training)
    case(f"batch_normalization_axis_{mode}", L.BatchNormalization(axis=1, momentum=0.8, epsilon=0.01), x(4, 3, 5, 5),
         training=training)
    case(f"batch_normalization_plain_{mode}", L.BatchNormalization(center=False, scale=False), x(6, 3), training=training)
    case(f"batch_normalization_mask_{mode}", L.BatchNormalization(gamma_regularizer="l2"), x(4, 6, 3), masks=[True],
         training=training)
case("batch_normalization_frozen", L.BatchNormalization(trainable=False), x(5, 4, 3), training=True)
case("layer_normalization", L.LayerNormalization(), x(3, 4, 6))
case("layer_normalization_axes", L.LayerNormalization(axis=[1, 2], epsilon=1e-5), x(3, 4, 6))
case("layer_normalization_plain", L.LayerNormalization(scale=False, beta_regularizer="l1"), x(3, 6))
case("group_normalization", L.GroupNormalization(groups=2), x(2, 3, 3, 4))
case("group_normalization_axis", L.GroupNormalization(groups=3, axis=1, scale=False), x(2, 6, 4))
case("group_normalization_instance", L.GroupNormalization(groups=-1), x(2, 3, 3, 4))
case("unit_normalization", L.UnitNormalization(axis=[1, 2]), x(2, 3, 4))

# Shapes.
case("flatten", L.Flatten(), x(2, 3, 4))
case("flatten_first", L.Flatten(data_format="channels_first"), x(2, 3, 4, 5))
case("flatten_vector", L.Flatten(), x(4))
case("reshape", L.Reshape((4, -1)), x(2, 3, 8))
case("permute", L.Permute((2, 3, 1)), x(2, 3, 4, 5))
case("repeat_vector", L.RepeatVector(3), x(2, 4))
case("cropping1d", L.Cropping1D((1, 2)), x(2, 6, 3))
case("cropping2d", L.Cropping2D(((1, 0), (2, 1))), x(2, 5, 6, 2))
case("cropping2d_first", L.Cropping2D(1, data_format="channels_first"), x(2, 2, 5, 6))
case("cropping3d", L.Cropping3D((1, 0, 1)), x(1, 4, 3, 5, 2))
case("zero_padding1d", L.ZeroPadding1D((1, 2)), x(2, 4, 3))
case("zero_padding1d_first", L.ZeroPadding1D(2, data_format="channels_first"), x(2, 3, 4))
case("zero_padding2d", L.ZeroPadding2D(((1, 0), (2, 1))), x(2, 3, 4, 2))
case("zero_padding2d_first", L.ZeroPadding2D((1, 2), data_format="channels_first"), x(2, 2, 3, 4))
case("zero_padding3d", L.ZeroPadding3D(1), x(1, 2, 3, 2, 2))
case("up_sampling1d", L.UpSampling1D(3), x(2, 4, 3))
case("up_sampling2d", L.UpSampling2D((2, 3)), x(2, 3, 4, 2))
case("up_sampling2d_first", L.UpSampling2D(2, data_format="channels_first"), x(2, 2, 3, 4))
case("up_sampling2d_bilinear", L.UpSampling2D((2, 3), interpolation="bilinear"), x(2, 6, 5, 2))
case("up_sampling2d_bilinear_first", L.UpSampling2D(2, interpolation="bilinear", data_format="channels_first"), x(2, 2, 3, 4))
case("up_sampling3d", L.UpSampling3D((2, 1, 3)), x(1, 2, 3, 2, 2))

# Merging.
for merge in ["Add", "Multiply", "Average", "Maximum", "Minimum"]:
    case(merge.lower(), getattr(L, merge)(), x(2, 3, 4), x(2, 3, 4), x(2, 3, 4), listed=True)
case("subtract", L.Subtract(), x(2, 3, 4), x(2, 3, 4), listed=True)
case("add_broadcast", L.Add(), x(2, 3, 4), x(2, 1, 4), listed=True)
case("multiply_ranks", L.Multiply(), x(2, 3, 4), x(2, 4), listed=True)
case("add_masks", L.Add(), x(2, 3, 4), x(2, 3, 4), listed=True, masks=[True, True])
case("concatenate", L.Concatenate(), x(2, 3, 4), x(2, 3, 2), listed=True)
case("concatenate_axis", L.Concatenate(axis=1), x(2, 3, 4), x(2, 5, 4), x(2, 1, 4), listed=True)
case("concatenate_masks", L.Concatenate(axis=1), x(2, 3, 4), x(2, 5, 4), listed=True, masks=[True, False])
case("dot", L.Dot(axes=1), x(3, 4), x(3, 4), listed=True)
case("dot_normalize", L.Dot(axes=-1, normalize=True), x(3, 2, 4), x(3, 5, 4), listed=True)
case("dot_axes", L.Dot(axes=(2, 1)), x(3, 2, 4), x(3, 4, 5), listed=True)

# Preprocessing.
case("rescaling", L.Rescaling(1 / 127.5, offset=-1.0), x(2, 3, 3, 2, low=0.0, high=255.0))
case("rescaling_bytes", L.Rescaling(1 / 255), {"shape": [2, 3, 3, 1], "dtype": "uint8", "low": 0, "high": 255})
case("rescaling_channels", L.Rescaling([1.0, 2.0, 0.5], offset=[0.1, 0.2, 0.3]), x(2, 3, 3))
case("normalization", L.Normalization(mean=[1.0, 2.0, 3.0], variance=[0.5, 2.0, 1.0]), x(2, 4, 3))
case("normalization_scalar", L.Normalization(mean=0.4, variance=2.5, axis=None, invert=True), x(2, 4))
case("normalization_weights", L.Normalization(axis=[1, -1]), x(2, 4, 3))
case("resizing", L.Resizing(5, 7), x(2, 4, 6, 3))
case("resizing_nearest", L.Resizing(5, 3, interpolation="nearest"), x(2, 4, 6, 3))
case("resizing_crop", L.Resizing(4, 4, crop_to_aspect_ratio=True), x(2, 5, 8, 2))
case("resizing_pad", L.Resizing(4, 4, pad_to_aspect_ratio=True, fill_value=0.5), x(2, 4, 8, 2))
case("resizing_first", L.Resizing(3, 5, data_format="channels_first"), x(2, 2, 4, 4))
case("layer_scale", keras.src.applications.convnext.LayerScale(1e-6, 4), x(2, 3, 4))
case("stochastic_depth", keras.src.applications.convnext.StochasticDepth(0.3), x(2, 3, 4))

# Layers that act only in training pass everything on otherwise.
case("dropout_infer", L.Dropout(0.5, seed=3, noise_shape=(2, 1, 4)), x(2, 3, 4))
case("spatial_dropout1d_infer", L.SpatialDropout1D(0.5), x(2, 3, 4))
case("spatial_dropout2d_infer", L.SpatialDropout2D(0.5, data_format="channels_first", seed=1), x(2, 3, 4, 4))
case("spatial_dropout3d_infer", L.SpatialDropout3D(0.5), x(1, 3, 2, 2, 2))
case("gaussian_noise_infer", L.GaussianNoise(0.5), x(2, 3, 4))
case("gaussian_dropout_infer", L.GaussianDropout(0.5, seed=4), x(2, 3, 4))

# Recurrent.
STATES = {"SimpleRNN": 1, "GRU": 1, "LSTM": 2}
for rnn, count in STATES.items():
    make = getattr(L, rnn)
    name = rnn.lower()
    state = [x(3, 4)] * count
    case(name, make(4), x(3, 5, 2))
    case(f"{name}_sequences", make(4, return_sequences=True, return_state=True), x(3, 5, 2))
    case(f"{name}_backwards", make(4, return_sequences=True, return_state=True, go_backwards=True), x(3, 5, 2))
    case(f"{name}_no_bias_unroll", make(4, use_bias=False, unroll=True), x(3, 5, 2))
    case(f"{name}_other_activations", make(4, activation="relu", return_sequences=True), x(3, 5, 2))
    case(f"{name}_state", make(4), x(3, 5, 2), *state, initial_state=True)
    case(f"{name}_state_backwards", make(4, return_sequences=True, go_backwards=True), x(3, 5, 2), *state, initial_state=True)
    case(f"{name}_mask", make(4, return_sequences=True, return_state=True), x(3, 6, 2), masks=[True])
    case(f"{name}_mask_backwards", make(4, return_sequences=True, go_backwards=True), x(3, 6, 2), masks=[True])
    case(f"{name}_mask_last", make(4), x(3, 6, 2), masks=[True])
    case(f"{name}_mask_zeros", make(4, return_sequences=True, zero_output_for_mask=True), x(3, 6, 2), masks=[True])
    case(f"{name}_regularized", make(4, kernel_regularizer="l2", recurrent_regularizer="l1", bias_regularizer="l2",
                                     activity_regularizer="l2"), x(3, 4, 2))
    if rnn == "SimpleRNN":  # PyTorch cannot differentiate the others past the update of their state
        case(f"{name}_stateful", make(4, stateful=True), x(3, 5, 2))
case("gru_reset_before", L.GRU(4, reset_after=False, return_sequences=True), x(3, 5, 2))
case("gru_reset_before_mask", L.GRU(4, reset_after=False, use_bias=False), x(3, 5, 2), masks=[True])
case("lstm_hard", L.LSTM(4, recurrent_activation="hard_sigmoid", unit_forget_bias=False), x(3, 5, 2))
case("lstm_long", L.LSTM(8, return_sequences=True), x(4, 20, 6))
for mode in ["concat", "sum", "mul", "ave", None]:
    case(f"bidirectional_{mode}", L.Bidirectional(L.LSTM(3, return_sequences=True), merge_mode=mode), x(2, 4, 2))
case("bidirectional_last", L.Bidirectional(L.GRU(3)), x(2, 4, 2))
case("bidirectional_state", L.Bidirectional(L.LSTM(3, return_state=True)), x(2, 4, 2))
case("bidirectional_mask", L.Bidirectional(L.LSTM(3, return_sequences=True)), x(2, 5, 2), masks=[True])
case("bidirectional_initial", L.Bidirectional(L.LSTM(3)), x(2, 4, 2), *[x(2, 3)] * 4, initial_state=True)
case("bidirectional_two", L.Bidirectional(L.LSTM(3), backward_layer=L.GRU(2, go_backwards=True)), x(2, 4, 2))
case("time_distributed_dense", L.TimeDistributed(L.Dense(3, activation="relu")), x(2, 4, 5))
case("time_distributed_conv", L.TimeDistributed(L.Conv2D(3, 2)), x(2, 3, 4, 5, 2))
case("time_distributed_mask", L.TimeDistributed(L.Dense(3)), x(2, 4, 5), masks=[True])

# Attention.
case("attention_self", L.MultiHeadAttention(2, 3), x(2, 4, 6), x(2, 4, 6))
case("attention_cross", L.MultiHeadAttention(2, 3, value_dim=5, output_shape=7), x(2, 4, 6), x(2, 5, 3), x(2, 5, 4))
case("attention_causal", L.MultiHeadAttention(3, 2, use_bias=False), x(2, 4, 6), x(2, 4, 6), constants={"use_causal_mask": True})
case("attention_mask", L.MultiHeadAttention(2, 3), x(2, 4, 6), x(2, 5, 6),
     arguments={"attention_mask": {"shape": [2, 4, 5], "dtype": "bool", "low": 0, "high": 1}})
case("attention_key_masks", L.MultiHeadAttention(2, 3), x(2, 4, 6), x(2, 5, 6), masks=[True, True])
case("attention_axes", L.MultiHeadAttention(2, 3, attention_axes=(2,)), x(2, 3, 4, 6), x(2, 3, 5, 6))
case("attention_axes_two", L.MultiHeadAttention(2, 3, attention_axes=(1, 2)), x(2, 2, 3, 4), x(2, 2, 3, 4))
case("attention_scores", L.MultiHeadAttention(2, 3), x(2, 4, 6), x(2, 5, 6), constants={"return_attention_scores": True})
case("dot_attention", L.Attention(), x(2, 4, 6), x(2, 5, 6), listed=True)
case("dot_attention_scale", L.Attention(use_scale=True, seed=1), x(2, 4, 6), x(2, 5, 3), x(2, 5, 6), listed=True,
     constants={"return_attention_scores": True})
case("dot_attention_causal", L.Attention(), x(2, 4, 6), x(2, 4, 6), listed=True, constants={"use_causal_mask": True})
case("dot_attention_concat", L.Attention(score_mode="concat", use_scale=True), x(2, 4, 6), x(2, 5, 6), listed=True)
case("dot_attention_masks", L.Attention(dropout=0.2), x(2, 4, 6), x(2, 5, 6), listed=True, masks=[True, True])
case("dot_attention_masks_causal", L.Attention(), x(2, 4, 6), x(2, 5, 6), listed=True, masks=[True, True],
     constants={"use_causal_mask": True})
case("additive_attention", L.AdditiveAttention(), x(2, 4, 6), x(2, 5, 6), listed=True)
case("additive_attention_plain", L.AdditiveAttention(use_scale=False), x(2, 4, 6), x(2, 5, 6), listed=True, masks=[True, True])
case("grouped_attention", L.GroupQueryAttention(3, 4, 2), x(2, 4, 6), x(2, 5, 6))
case("grouped_attention_gate", L.GroupQueryAttention(3, 4, 1, use_gate=True, use_bias=False), x(2, 4, 6), x(2, 5, 6), x(2, 5, 6))
case("grouped_attention_window", L.GroupQueryAttention(2, 2, 2, sliding_window=2), x(2, 4, 6), x(2, 4, 6),
     constants={"use_causal_mask": True})
case("grouped_attention_scores", L.GroupQueryAttention(2, 4, 2, dropout=0.3, seed=2), x(2, 4, 6), x(2, 5, 6),
     constants={"return_attention_scores": True})
case("grouped_attention_mask", L.GroupQueryAttention(2, 4, 2), x(2, 4, 6), x(2, 5, 6),
     arguments={"attention_mask": {"shape": [2, 4, 5], "dtype": "bool", "low": 0, "high": 1}})
case("reversible_embedding", L.ReversibleEmbedding(7, 3, tie_weights=False, mask_zero=True), ids(2, 5, high=6))
case("reversible_embedding_back", L.ReversibleEmbedding(7, 3, logit_soft_cap=2.0), x(2, 5, 3), constants={"reverse": True})

# More of normalization, dropout and pooling.
case("rms_normalization", L.RMSNormalization(), x(3, 4, 6))
case("rms_normalization_axes", L.RMSNormalization(axis=[1, 2], epsilon=1e-3), x(3, 4, 6))
case("spectral_normalization_infer", L.SpectralNormalization(L.Dense(3)), x(4, 5))
case("spectral_normalization_train", L.SpectralNormalization(L.Conv2D(3, 2), power_iterations=3), x(2, 4, 4, 2), training=True,
     gradients=False)
case("alpha_dropout_infer", L.AlphaDropout(0.4, seed=2), x(2, 3))
for rank, shape in [(1, (7,)), (2, (6, 7)), (3, (4, 5, 6))]:
    for kind in ["Max", "Average"]:
        pool = getattr(L, f"Adaptive{kind}Pooling{rank}D")
        case(f"adaptive_{kind}_pooling{rank}d".lower(), pool(3), x(2, *shape, 3))
        case(f"adaptive_{kind}_pooling{rank}d_first".lower(), pool((2, 3, 4)[:rank], data_format="channels_first"), x(2, 3, *shape))

# Cells.
for cell, count in [("SimpleRNNCell", 1), ("LSTMCell", 2), ("GRUCell", 1)]:
    make = getattr(L, cell)
    name = cell.lower()
    case(f"rnn_{name}", L.RNN(make(4)), x(3, 5, 2))
    case(f"rnn_{name}_sequences", L.RNN(make(4, activation="relu", use_bias=False), return_sequences=True, return_state=True), x(3, 5, 2))
    case(f"rnn_{name}_mask", L.RNN(make(4), return_sequences=True, go_backwards=True), x(3, 6, 2), masks=[True])
    case(f"rnn_{name}_mask_zeros", L.RNN(make(4), zero_output_for_mask=True), x(3, 6, 2), masks=[True])
    case(f"rnn_{name}_state", L.RNN(make(4, kernel_regularizer="l2", recurrent_regularizer="l1")), x(3, 5, 2), *[x(3, 4)] * count,
         initial_state=True)
case("rnn_grucell_reset_before", L.RNN(L.GRUCell(3, reset_after=False, seed=4)), x(2, 4, 3))
case("rnn_stateful", L.RNN(L.LSTMCell(4), stateful=True), x(3, 5, 2))
case("rnn_stacked", L.RNN([L.LSTMCell(4), L.GRUCell(3), L.LSTMCell(2)]), x(3, 5, 2))
case("rnn_stacked_states", L.RNN(L.StackedRNNCells([L.SimpleRNNCell(4), L.LSTMCell(3)]), return_sequences=True, return_state=True),
     x(3, 5, 2))
case("rnn_stacked_mask", L.RNN([L.LSTMCell(4), L.GRUCell(3)], return_sequences=True), x(3, 5, 2), masks=[True])

# Convolutional LSTMs.
for rank, shape in [(1, (6,)), (2, (5, 4)), (3, (4, 3, 3))]:
    make = getattr(L, f"ConvLSTM{rank}D")
    case(f"conv_lstm{rank}d", make(2, 3, padding="same", return_sequences=True), x(2, 3, *shape, 2))
    case(f"conv_lstm{rank}d_first", make(2, 2, data_format="channels_first", return_state=True), x(2, 3, 2, *shape))
case("conv_lstm2d_strides", L.ConvLSTM2D(2, (2, 3), strides=(2, 1), use_bias=False, activation="relu"), x(2, 3, 6, 5, 2))
case("conv_lstm2d_mask", L.ConvLSTM2D(2, 2, go_backwards=True, return_sequences=True), x(2, 4, 4, 4, 2), masks=[True])
case("conv_lstm2d_dilated", L.ConvLSTM2D(2, 2, dilation_rate=2, kernel_regularizer="l2", unit_forget_bias=False), x(2, 3, 5, 5, 2))

# Images in training, with factors that leave nothing to chance; without training they pass.
def image(*shape, **more):
    return x(*shape, low=0.0, high=255.0, **more)


fixed = {"training": True}
still = {"training": False}  # these layers act when they are not told
# TensorFlow's gradients of projections are those of the way back, and it has none of colours as hue and saturation: make_draw_goldens.py has
# those of JAX.
moved = fixed | {"gradients": False}
case("random_flip_infer", L.RandomFlip("horizontal", seed=3), image(2, 4, 5, 3), **still)
case("random_rotation", L.RandomRotation((0.1, 0.1), seed=1), image(2, 5, 6, 3), **moved)
case("random_rotation_constant", L.RandomRotation((-0.2, -0.2), fill_mode="constant", fill_value=7.0), image(2, 5, 6, 2), **moved)
case("random_rotation_nearest", L.RandomRotation((0.3, 0.3), fill_mode="nearest", interpolation="nearest"), image(2, 5, 4, 3),
     **moved)
case("random_rotation_infer", L.RandomRotation(0.1), image(2, 5, 6, 3), **still)
case("random_zoom", L.RandomZoom((0.3, 0.3), (-0.2, -0.2), fill_mode="nearest"), image(2, 5, 6, 3), **moved)
case("random_zoom_both", L.RandomZoom((0.4, 0.4), fill_mode="constant", fill_value=3.0), image(2, 6, 6, 1), **moved)
case("random_translation", L.RandomTranslation((0.3, 0.3), (-0.25, -0.25)), image(2, 5, 6, 3), **moved)
case("random_translation_wrap", L.RandomTranslation((0.2, 0.2), (0.5, 0.5), fill_mode="wrap", data_format="channels_first"),
     image(2, 3, 5, 6), **moved)
case("random_shear_infer", L.RandomShear(0.2, (0.1, 0.3)), image(2, 5, 6, 3), **still)
case("center_crop", L.CenterCrop(3, 4), image(2, 6, 7, 3))
case("center_crop_larger", L.CenterCrop(6, 4, data_format="channels_first"), image(2, 3, 5, 7))
case("random_crop_infer", L.RandomCrop(3, 4, seed=2), image(2, 6, 7, 3), **still)
case("random_crop_resize", L.RandomCrop(8, 4, seed=2), image(2, 6, 7, 3), **fixed)
case("random_brightness", L.RandomBrightness((0.2, 0.2)), image(2, 4, 5, 3), **fixed)
case("random_brightness_infer", L.RandomBrightness(0.2, seed=3), image(2, 4, 5, 3), **still)
case("random_contrast", L.RandomContrast((-0.4, 0.4)), image(2, 4, 5, 3), **fixed)
case("random_contrast_infer", L.RandomContrast(0.4, value_range=(0, 1)), x(2, 4, 5, 3), **still)
case("random_saturation", L.RandomSaturation((0.3, 0.3), value_range=(0, 1)), x(2, 4, 5, 3, low=0.1, high=0.9), **moved)
case("random_hue_none", L.RandomHue((0.0, 0.0)), image(2, 4, 5, 3), **moved)
case("random_color_degeneration", L.RandomColorDegeneration((0.7, 0.7)), image(2, 4, 5, 3), **fixed)
case("random_sharpness", L.RandomSharpness((0.8, 0.8)), image(2, 4, 5, 3), **fixed)
case("random_posterization", L.RandomPosterization((3, 3)), image(2, 4, 5, 3), gradients=False, **fixed)
case("random_invert", L.RandomInvert((1.0, 1.0)), image(2, 4, 5, 3), **fixed)
case("random_grayscale", L.RandomGrayscale(1.0), image(2, 4, 5, 3), **fixed)
case("random_erasing", L.RandomErasing((1.0, 1.0), scale=(1.0, 1.0), fill_value=9.0), image(2, 4, 5, 3), **fixed)
case("random_erasing_infer", L.RandomErasing(0.5), image(2, 4, 5, 3), **still)
case("random_gaussian_blur", L.RandomGaussianBlur((1.0, 1.0), kernel_size=(5, 5), sigma=(0.8, 0.8)), image(2, 6, 7, 3), **fixed)
case("solarization", L.Solarization(addition_factor=0.0, threshold_factor=0.0), image(2, 4, 5, 3), **fixed)
case("auto_contrast", L.AutoContrast(), image(2, 4, 5, 3))

# Categories.
case("category_encoding", L.CategoryEncoding(6), ids(3, 4, high=5))
case("category_encoding_count", L.CategoryEncoding(6, output_mode="count"), ids(3, 4, high=5), arguments={"count_weights": x(3, 4)})
case("category_encoding_one_hot", L.CategoryEncoding(6, output_mode="one_hot"), ids(4, 1, high=5))
case("discretization", L.Discretization([-0.5, 0.0, 0.1, 0.6]), x(3, 4), gradients=False)
case("discretization_one_hot", L.Discretization([-0.5, 0.1, 0.6], output_mode="one_hot"), x(5, 1), gradients=False)
case("integer_lookup", L.IntegerLookup(vocabulary=[7, 3, 11, 4]), ids(3, 5, high=12))
case("integer_lookup_mask", L.IntegerLookup(vocabulary=[7, 3, 11, 4], mask_token=0, num_oov_indices=3), ids(3, 5, high=12))
case("integer_lookup_count", L.IntegerLookup(vocabulary=[7, 3, 11], output_mode="count"), ids(3, 5, high=12))
case("integer_lookup_invert", L.IntegerLookup(vocabulary=[7, 3, 11], invert=True), ids(3, 5, high=5))

# Histograms. Whole values too: they lie on the edges of the bins.
whole = {"dtype": "int32", "low": 0, "high": 255}
case("equalization", L.Equalization(), image(2, 4, 5, 3), **fixed)
case("equalization_whole", L.Equalization(data_format="channels_first"), image(2, 3, 4, 5) | whole, **fixed)
case("equalization_range", L.Equalization(value_range=(-1, 1), bins=20), x(2, 6, 5, 2), **fixed)
case("equalization_flat", L.Equalization(), image(2, 3, 4, 2) | {"low": 7.0, "high": 7.0}, **fixed)
case("equalization_infer", L.Equalization(), image(2, 4, 5, 3), **still)
case("clahe", L.ContrastLimitedAdaptiveHistogramEqualization(), image(2, 16, 24, 3), gradients=False)
case("clahe_uneven", L.ContrastLimitedAdaptiveHistogramEqualization(tile_grid_size=(3, 4), clip_limit=1.5), image(2, 13, 11, 2),
     gradients=False)
case("clahe_range", L.ContrastLimitedAdaptiveHistogramEqualization((0, 1), clip_limit=0.0, tile_grid_size=(2, 2),
                                                                   data_format="channels_first"), x(2, 1, 9, 8, low=0.0), gradients=False)
case("clahe_whole", L.ContrastLimitedAdaptiveHistogramEqualization(tile_grid_size=(2, 3)), image(1, 12, 12, 3) | whole, gradients=False)

# Bent images: what can be known without the draws. make_warp_goldens.py has the rest.
case("random_perspective_none", L.RandomPerspective(1.0, scale=0.0, fill_value=3.0), image(2, 5, 6, 3), **moved)
case("random_perspective_infer", L.RandomPerspective(0.5, seed=1), image(2, 5, 6, 3), **still)
case("random_elastic_none", L.RandomElasticTransform(1.0, scale=0.0), image(2, 5, 6, 3), **moved)
case("random_elastic_infer", L.RandomElasticTransform(0.5, scale=(0.2, 0.4), fill_mode="mirror", seed=1), image(2, 5, 6, 3), **still)

# Changes made of changes.
case("random_color_jitter", L.RandomColorJitter((0, 1), brightness_factor=(0.1, 0.1), contrast_factor=(-0.2, 0.2),
                                                saturation_factor=(0.4, 0.4), hue_factor=(0.0, 0.0)), x(2, 4, 5, 3, low=0.1, high=0.9), **moved)
case("random_color_jitter_some", L.RandomColorJitter(contrast_factor=(-0.3, 0.3), seed=3), image(2, 4, 5, 3), **fixed)
case("random_color_jitter_infer", L.RandomColorJitter(brightness_factor=0.3, hue_factor=0.2), image(2, 4, 5, 3), **still)
case("rand_augment_infer", L.RandAugment(num_ops=3, factor=0.4, seed=5), image(2, 4, 5, 3), **still)
case("rand_augment_none", L.RandAugment(num_ops=0), image(2, 4, 5, 3), **fixed)
case("aug_mix_infer", L.AugMix(num_chains=2, chain_depth=1, alpha=0.5, all_ops=False, interpolation="nearest"), image(2, 4, 5, 3), **still)
case("aug_mix_none", L.AugMix(chain_depth=0), image(2, 4, 5, 3), **fixed)
case("pipeline", L.Pipeline([L.AutoContrast(), L.RandomContrast((-0.4, 0.4)), L.Rescaling(1 / 255)]), image(2, 4, 5, 3), **fixed)
case("pipeline_weights", L.Pipeline([L.Dense(4), L.Dense(3), L.LayerNormalization()]), x(2, 5))

# Sound.
for mode in ["log", "magnitude", "psd", "real", "imag", "angle", "stft"]:
    case(f"stft_{mode}", L.STFTSpectrogram(mode, frame_length=8, frame_step=3), x(2, 20, 2))
case("stft_same_expand", L.STFTSpectrogram("magnitude", frame_length=6, fft_length=12, padding="same", expand_dims=True, window="hamming",
                                           periodic=True, scaling="spectrum"), x(2, 21, 3))
case("stft_window", L.STFTSpectrogram("magnitude", frame_length=4, window=[0.1, 0.5, 0.5, 0.2], scaling=None), x(2, 9, 1))
case("mel", L.MelSpectrogram(fft_length=64, sequence_stride=16, num_mel_bins=10, sampling_rate=8000), x(2, 200))
case("mel_plain", L.MelSpectrogram(fft_length=32, sequence_length=20, sequence_stride=10, num_mel_bins=6, window="hamming", power_to_db=False,
                                   mag_exp=1.0, min_freq=50.0, max_freq=3000.0, sampling_rate=8000), x(2, 100))
case("mel_one", L.MelSpectrogram(fft_length=30, sequence_stride=7, num_mel_bins=5, window=None, top_db=20.0, ref_power=2.0), x(90))

# Both ways in time with other layers than LSTM and GRU.
case("bidirectional_rnn", L.Bidirectional(L.RNN(L.LSTMCell(3), return_sequences=True)), x(2, 4, 2))
case("bidirectional_rnn_stacked", L.Bidirectional(L.RNN([L.GRUCell(3), L.SimpleRNNCell(2)]), merge_mode="sum"), x(2, 4, 2), masks=[True])
case("bidirectional_rnn_state", L.Bidirectional(L.RNN(L.SimpleRNNCell(3), return_state=True), merge_mode=None), x(2, 4, 2), *[x(2, 3)] * 2,
     initial_state=True)
case("bidirectional_conv_lstm", L.Bidirectional(L.ConvLSTM2D(2, 2, return_sequences=True)), x(2, 3, 4, 5, 2))
case("bidirectional_mixed", L.Bidirectional(L.RNN(L.GRUCell(3)), backward_layer=L.LSTM(2, go_backwards=True)), x(2, 4, 2))
