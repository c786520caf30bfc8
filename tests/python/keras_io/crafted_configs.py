"""Configs that no Keras wrote, by one who wants the reader to fall: {name: config}. Each must be refused with an Error, those of
HARMLESS may also be read."""

import json

MOST, LEAST = 2**63 - 1, -(2**63)
HARMLESS = {"getitem_step", "inputs_twice", "nested", "wrappers_deep", "conv_strides", "norm_no_axis", "rnn_long", "name_path", "seed",
            "take_beyond", "roll_least"}


def given(name="i", shape=(None, 3)):
    config = {"batch_shape": list(shape), "dtype": "float32", "name": name}
    return {"module": "keras.layers", "class_name": "InputLayer", "config": config, "name": name, "inbound_nodes": []}


def tensor(name, node=0, index=0):
    return {"class_name": "__keras_tensor__", "config": {"shape": [None, 3], "dtype": "float32", "keras_history": [name, node, index]}}


def node(*args, **kwargs):
    return {"args": list(args), "kwargs": kwargs}


def layer(kind, name, config, *nodes, module="keras.layers"):
    return {"module": module, "class_name": kind, "config": {"name": name, **config}, "name": name, "inbound_nodes": list(nodes), "registered_name": None}


def functional(layers, outputs, inputs=("i", 0, 0), name="f"):
    outputs = [outputs, 0, 0] if isinstance(outputs, str) else outputs
    config = {"name": name, "trainable": True, "layers": layers, "input_layers": list(inputs), "output_layers": outputs}
    return {"module": "keras", "class_name": "Functional", "config": config, "registered_name": "Functional"}


def one(kind, config=None, shape=(None, 8, 8, 4)):
    """A chain of one layer."""
    layers = [given(shape=shape), {"module": "keras.layers", "class_name": kind, "config": config or {}}]
    return {"module": "keras", "class_name": "Sequential", "config": {"name": "s", "layers": layers}}


def operation(kind, *args, **kwargs):
    return functional([given(), layer(kind, "a", {}, node(tensor("i"), *args, **kwargs), module="keras.src.ops.numpy")], "a")


def attention(config, *more):
    return functional([given(shape=(None, 4, 3)), layer("MultiHeadAttention", "a", config, node(tensor("i"), *more))], "a")


def dense(*nodes, outputs="d", **more):
    return functional([given(), layer("Dense", "d", {"units": 2}, *nodes)], outputs, **more)


def nested(depth, calls):
    """A model in a model in a model ..., each called so many times."""
    model = functional([given(), layer("Dense", "d", {"units": 3}, node(tensor("i")))], "d", name="m0")
    for level in range(1, depth):
        inside = f"m{level - 1}"
        nodes = [node(tensor("i")), *(node(tensor(inside, call)) for call in range(calls - 1))]
        model = functional([given(), {**model, "name": inside, "inbound_nodes": nodes}], [inside, calls, 0], name=f"m{level}")
    return model


def wrapped(depth):
    inside = {"module": "keras.layers", "class_name": "Dense", "config": {"units": 1}}
    for _ in range(depth):
        inside = {"module": "keras.layers", "class_name": "TimeDistributed", "config": {"layer": inside}}
    return one("TimeDistributed", {"layer": inside}, (None, 2, 2, 2))


def deep(depth):
    return json.loads("[" * depth + "]" * depth)


def part(start, stop, step):
    return {"class_name": "__slice__", "config": {"start": start, "stop": stop, "step": step}}


def old_function(function, inbound):
    layers = [{**given(), "module": None}, {"class_name": "TFOpLambda", "config": {"name": "m", "function": function}, "name": "m", "inbound_nodes": [inbound]}]
    return {"class_name": "Model", "config": {"name": "f", "layers": layers, "input_layers": [["i", 0, 0]], "output_layers": [["m", 0, 0]]}}


def states(*results, inputs):
    """Begins at one result of an LSTM and uses others."""
    lstm = layer("LSTM", "l", {"units": 2, "return_state": True}, node(tensor("i")))
    return functional([given(shape=(None, 4, 3)), lstm, layer("Add", "a", {}, node([tensor("l", 0, i) for i in results]))], "a", inputs)


def operations():
    """Of functions in place of layers: operands, constants, axes, slices."""
    ellipsis = {"class_name": "__ellipsis__", "config": {}}
    return {
        "tensor_beyond": operation("Add", {"tensor": 99999999}),
        "tensor_negative": operation("Add", {"tensor": -1}),
        "tensor_text": operation("Add", {"tensor": "x"}),
        "tensor_there": operation("Add", {"tensor": 0}),
        "tensor_in_list": functional([given(), layer("Concatenate", "a", {}, node([tensor("i"), {"tensor": 7}]), module="keras.src.ops.numpy")], "a"),
        "tensor_of_old_constant": old_function("math.multiply", ["_CONSTANT_VALUE", -1, {"tensor": 88888888}, {"y": ["i", 0, 0]}]),
        "tensor_of_old_argument": old_function("math.add", ["i", 0, 0, {"y": {"tensor": 77777777}}]),
        "args_object": functional([given(), layer("Add", "a", {}, {"args": {"x": tensor("i")}, "kwargs": []}, module="keras.src.ops.numpy")], "a"),
        "args_text": functional([given(), layer("Add", "a", {}, {"args": "hello", "kwargs": 7}, module="keras.src.ops.numpy")], "a"),
        "operand_missing": operation("Add"),
        "constant_ragged": operation("Add", [[1, 2], 3]),
        "constant_deep": operation("Add", deep(40)),
        "reshape_overflow": operation("Reshape", [2**62, 4, -1]),
        "reshape_negative": operation("Reshape", [-5, -7, -9]),
        "reshape_axes": operation("Reshape", [1] * 100),
        "axis_of_33_bits": operation("Softmax", axis=2**32 + 1),
        "mean_axis": operation("Mean", [2**33 + 1]),
        "squeeze_list": operation("Squeeze", [1]),
        "transpose_twice": operation("Transpose", [0, 0]),
        "transpose_beyond": operation("Transpose", [0, 2**40]),
        "repeat_overflow": operation("Repeat", 2**62, 1),
        "tile_many": operation("Tile", [2**40]),
        "tile_axes": operation("Tile", [1] * 100),
        "split_beyond": operation("Split", [-1, 2**62]),
        "split_into_none": operation("Split", 0),
        "pad_huge": operation("Pad", [[0, 0], [2**62, 2**62]]),
        "pad_ragged": operation("Pad", [[0], []]),
        "slice_overflow": operation("Slice", [MOST, MOST], [MOST, MOST]),
        "take_beyond": operation("Take", [2**31, -2**31], 1),
        "one_hot_huge": operation("OneHot", 2**62),
        "einsum_letters": operation("Einsum", subscripts="abcdef->fa"),
        "einsum_twice": operation("Einsum", subscripts="aa->a"),
        "einsum_absent": operation("Einsum", subscripts="ab->abz"),
        "moveaxis_uneven": operation("Moveaxis", [0, 1], [0]),
        "moveaxis_onto_one": operation("Moveaxis", [0, 1], [0, 0]),
        "swapaxes_beyond": operation("Swapaxes", 0, 9),
        "top_k_most": operation("TopK", MOST),
        "roll_least": operation("Roll", LEAST, 1),
        "tensordot_beyond": operation("Tensordot", 1.5, axes=MOST),
        "numpy_unsound": operation("Add", {"class_name": "__numpy__", "config": {"value": [[1], 2], "dtype": "float99"}}),
        "getitem_most": operation("GetItem", [MOST]),
        "getitem_least": operation("GetItem", [LEAST]),
        "getitem_step": operation("GetItem", [part(0, MOST, MOST)]),
        "getitem_step_0": operation("GetItem", [part(LEAST, LEAST, 0)]),
        "getitem_ellipses": operation("GetItem", [ellipsis] * 50 + [1] * 5),
        "getitem_nones": operation("GetItem", [None] * 100),
        "called_twice": functional([given(), layer("Add", "a", {}, node(tensor("i"), 1.0), node(tensor("i"), 2.0), module="keras.src.ops.numpy")],
                                   [["a", 0, 0], ["a", 1, 0]]),
    }


def connections():
    return {
        "circle": functional([given(), layer("Dense", "d", {"units": 2}, node(tensor("e"))), layer("Dense", "e", {"units": 2}, node(tensor("d")))], "d"),
        "itself": dense(node(tensor("d"))),
        "no_call": dense(node(tensor("i")), outputs=["d", 7, 0]),
        "no_result": dense(node(tensor("i")), outputs=["d", 0, 7]),
        "call_of_64_bits": dense(node(tensor("i", 2**63))),
        "call_negative": dense(node(tensor("i")), outputs=["d", -1, -1]),
        "no_layer": dense(node(tensor("i")), outputs="nobody"),
        "names_twice": functional([given()] + 2 * [layer("Dense", "d", {"units": 2}, node(tensor("i")))], "d"),
        "other_result_of_input": states(0, 1, inputs=("l", 0, 0)),
        "first_result_of_input": states(0, 1, inputs=("l", 0, 1)),
        "begins_inside": functional([given(), layer("Dense", "d", {"units": 2}, node(tensor("i"))), layer("Dense", "e", {"units": 2}, node(tensor("d")))],
                                    "e", inputs=("d", 0, 0)),
        "inputs_none": dense(node(tensor("i")), inputs=[]),
        "inputs_twice": dense(node(tensor("i")), inputs=[["i", 0, 0], ["i", 0, 0]]),
        "outputs_deep": functional([given()], deep(30)),
        "node_deep": dense(node(deep(200))),
        "states_many": functional([given(shape=(None, 4, 3)), layer("LSTM", "d", {"units": 2}, node(tensor("i"), initial_state=[tensor("i")] * 1000))], "d"),
        "nested": nested(40, 1),
        "nested_twice": nested(40, 2),
        "nested_thrice": nested(25, 3),
        "wrappers_deep": wrapped(60),
        "layers_object": {"class_name": "Functional", "config": {"name": "s", "layers": {"a": 1}, "input_layers": [], "output_layers": []}},
        "layers_numbers": {"class_name": "Sequential", "config": [1, 2, 3]},
        "class_number": {"class_name": "Sequential", "config": {"name": "s", "layers": [{"class_name": 7, "config": {}}]}},
    }


def sizes():
    return {
        "input_large": one("Dense", {"units": 2}, (None, 2**62)),
        "input_product": one("Dense", {"units": 2}, (None, 2**31, 2**31, 2**31)),
        "input_unsigned": one("Dense", {"units": 2}, (None, 2**64 - 1)),
        "input_empty": one("Flatten", {}, (None, 2**40, 2**40, 0)),
        "input_axes": one("Flatten", {}, (None,) + (1,) * 20),
        "steps_empty": one("TimeDistributed", {"layer": {"class_name": "Flatten", "config": {}}}, (2**40, 2**40, 0, 3)),
        **{f"units_{n}": one("Dense", {"units": n}, (None, 3)) for n in (2**64 - 5, 2**62, -3, 0)},
        "groups_0": one("Conv2D", {"filters": 4, "kernel_size": 3, "groups": 0}),
        "groups_negative": one("Conv2D", {"filters": 4, "kernel_size": 3, "groups": -2}),
        "strides_0": one("Conv2D", {"filters": 4, "kernel_size": 3, "strides": 0}),
        "conv_strides": one("Conv2D", {"filters": 4, "kernel_size": 3, "strides": 2**62}),
        "conv_dilation": one("Conv2D", {"filters": 4, "kernel_size": 3, "dilation_rate": 2**62}),
        "conv_kernel": one("Conv2D", {"filters": 4, "kernel_size": 2**40}),
        "transpose_strides": one("Conv2DTranspose", {"filters": 4, "kernel_size": 3, "strides": 2**40}),
        "transpose_padding": one("Conv2DTranspose", {"filters": 4, "kernel_size": 3, "strides": 2, "output_padding": 2**62}),
        "separable": one("SeparableConv2D", {"filters": 4, "kernel_size": 3, "depth_multiplier": 2**62}),
        "depthwise": one("DepthwiseConv2D", {"kernel_size": 3, "depth_multiplier": 2**61}),
        "pool_0": one("MaxPooling2D", {"pool_size": 0}),
        "pool_negative": one("MaxPooling2D", {"pool_size": -1, "strides": -1}),
        "pool_strides": one("MaxPooling2D", {"pool_size": 2, "strides": [LEAST, 1]}),
        "up_large": one("UpSampling2D", {"size": 2**61}),
        "up_negative": one("UpSampling2D", {"size": -2}),
        "pad_large": one("ZeroPadding2D", {"padding": 2**62}),
        "pad_negative": one("ZeroPadding2D", {"padding": -9}),
        "pad_three": one("ZeroPadding2D", {"padding": [[1, 2, 3], [4]]}),
        "crop_large": one("Cropping2D", {"cropping": 2**62}),
        "crop_negative": one("Cropping2D", {"cropping": [[-(2**62), 1], [0, 0]]}),
        "resize_large": one("Resizing", {"height": 2**40, "width": 2**40}),
        "resize_cropped": one("Resizing", {"height": 2**62, "width": 3, "crop_to_aspect_ratio": True}),
        "resize_padded": one("Resizing", {"height": 2**62, "width": 3, "pad_to_aspect_ratio": True}),
        "repeat": one("RepeatVector", {"n": 2**62}, (None, 3)),
        "reshape_two": one("Reshape", {"target_shape": [-1, -1]}, (None, 3)),
        "reshape_large": one("Reshape", {"target_shape": [2**62, 2**62]}, (None, 3)),
        "embedding": one("Embedding", {"input_dim": 2**40, "output_dim": 2**40}, (None, 3)),
        "noise": one("Dropout", {"rate": 0.5, "noise_shape": [2**62, -5]}, (None, 3)),
        "rnn_long": one("SimpleRNN", {"units": 2}, (None, 2**31, 3)),
        "scale": one("LayerScale", {"init_values": 1, "projection_dim": 2**62}, (None, 3)),
        "heads_0": attention({"num_heads": 0, "key_dim": 0}, tensor("i")),
        "heads_many": attention({"num_heads": 2**32, "key_dim": 2**31}, tensor("i")),
        "heads_axes": attention({"num_heads": 2, "key_dim": 2, "attention_axes": [2**40, -7]}, tensor("i")),
        "heads_alone": attention({"num_heads": 2, "key_dim": 2}),
    }


def arguments():
    sequence, plain = (None, 4, 3), (None, 3)
    return {
        "group_0": one("GroupNormalization", {"groups": 0}, sequence),
        "group_least": one("GroupNormalization", {"groups": LEAST}, sequence),
        "batch_axis": one("BatchNormalization", {"axis": 2**32}, sequence),
        "norm_axis_twice": one("LayerNormalization", {"axis": [1, 1, 1]}, sequence),
        "norm_no_axis": one("LayerNormalization", {"axis": []}, sequence),
        "normalization": one("Normalization", {"axis": [7], "mean": [1, 2], "variance": [1]}, plain),
        "permute": one("Permute", {"dims": [2, 2, 2**33]}),
        "prelu": one("PReLU", {"shared_axes": [5, -9, 2**40]}, sequence),
        "concatenate": functional([given(), layer("Concatenate", "c", {"axis": 2**40}, node([tensor("i"), tensor("i")]))], "c"),
        "dot": functional([given(), layer("Dot", "c", {"axes": [9, -(2**40)]}, node([tensor("i"), tensor("i")]))], "c"),
        "einsum_letters": one("EinsumDense", {"equation": "ab,bc->aczzzz", "output_shape": [3]}, plain),
        "einsum_long": one("EinsumDense", {"equation": "a" * 1000 + ",b->" + "c" * 500, "output_shape": [3]}, plain),
        "einsum_dots": one("EinsumDense", {"equation": "...x...,...y->...", "output_shape": [3]}, plain),
        "both_ways_dense": one("Bidirectional", {"layer": {"class_name": "Dense", "config": {"units": 1}}}, sequence),
        "both_ways_nothing": one("Bidirectional", {"layer": None}, sequence),
        "policy": one("Dense", {"units": 1, "dtype": {"class_name": "DTypePolicy", "config": {"name": 9}}}, plain),
        "initializer": one("Dense", {"units": 1, "kernel_initializer": {"class_name": {"class_name": 1}}}, plain),
        "name_number": one("Dense", {"units": 1, "name": 9}, plain),
        "name_path": one("Dense", {"units": 1, "name": "../../etc/passwd"}, plain),
        "seed": one("Dropout", {"rate": 0.5, "seed": MOST}, plain),
        "required": one("Dense", {}, plain),
        "truth": one("Dense", {"units": 1, "use_bias": 1}, plain),
    }


def configs():
    return operations() | connections() | sizes() | arguments()
