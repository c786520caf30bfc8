"""Keras's tests in the order in which a backend grows. Paths are below keras/src; "!x" leaves out ids with x in them."""

STAGES = {
    0: ["ops/ops_test.py", "tree", "utils/naming_test.py"] + [
        f"backend/common/{name}_test.py" for name in
        ("name_scope", "global_state", "masking", "stateless_scope", "symbolic_scope", "backend_utils", "keras_tensor", "dtypes")],
    1: ["backend/common/variables_test.py", "ops/core_test.py", "ops/numpy_test.py", "!NumpyDtypeTest", "random", "initializers",
        "constraints", "regularizers", "activations", "backend/tests/compute_output_spec_test.py",
        "backend/common/compute_output_spec_test.py", "ops/operation_test.py", "ops/function_test.py", "ops/node_test.py",
        "ops/symbolic_arguments_test.py", "ops/operation_utils_test.py", "ops/einops_test.py"],
    2: ["ops/numpy_test.py::NumpyDtypeTest"],
    3: ["ops/nn_test.py", "losses", "metrics", "ops/math_test.py", "ops/linalg_test.py"],
    4: ["optimizers", "trainers/compile_utils_test.py", "trainers/epoch_iterator_test.py", "trainers/trainer_test.py"],
    5: ["layers/layer_test.py", "layers/core", "layers/activations", "layers/regularization", "layers/reshaping", "layers/merging",
        "models"],
    6: ["layers/convolutional", "layers/pooling", "layers/normalization"],
    7: ["layers/rnn", "layers/attention", "backend/common/remat_test.py"],
    8: ["saving", "legacy/saving", "callbacks", "dtype_policies", "utils", "!naming_test", "distillation"],
    9: ["ops/image_test.py", "trainers/data_adapters", "quantizers", "wrappers"],
    10: ["layers/preprocessing"],  # most of it needs TensorFlow beside the backend
}
