"""The examples and guides of keras.io that run.py runs: path, kind, and the files that a shell command would have fetched."""
import itertools

EXAMPLES = {
    "vision": ["mnist_convnet", "autoencoder", "image_classification_with_vision_transformer", "eanet", "mlp_image_classification", "cct",
               "knowledge_distillation", "perceiver_image_classification", "siamese_contrastive", "attention_mil_classification",
               "temporal_latent_bottleneck", "masked_image_modeling", "focal_modulation_network", "consistency_training", "convmixer",
               "cutmix", "mixup", "token_learner", "vit_small_ds", "swin_transformers", "conv_lstm", "gradient_centralization",
               "image_classification_from_scratch", "oxford_pets_image_segmentation", "involution",
               "learnable_resizer"],
    "generative": ["vq_vae", "pixelcnn", "lstm_character_level_text_generation", "text_generation_with_miniature_gpt"],
    "nlp": ["bidirectional_lstm_imdb", "addition_rnn", "lstm_seq2seq", "text_classification_with_switch_transformer",
            "text_classification_with_transformer", "neural_machine_translation_with_transformer", "pretrained_word_embeddings",
            "text_classification_from_scratch"],
    "timeseries": ["timeseries_anomaly_detection", "timeseries_classification_from_scratch", "timeseries_classification_transformer",
                   "timeseries_weather_forecasting", "eeg_signal_classification"],
    "structured_data": ["imbalanced_classification", "collaborative_filtering_movielens", "deep_neural_decision_forests",
                        "tabtransformer",
                        "wide_deep_cross_networks", "classification_with_grn_and_vsn", "structured_data_classification_from_scratch",
                        "structured_data_classification_with_feature_space"],
    "graph": ["gat_node_classification", "gnn_citations", "node2vec_movielens"],
    "audio": ["stft"],
    "keras_recipes": ["antirectifier", "sklearn_metric_callbacks", "reproducibility_recipes"],
    "guides": ["functional_api", "sequential_model", "customizing_saving_and_serialization", "serialization_and_saving",
               "customizing_quantization", "quantization_overview", "writing_quantization_compatible_layers",
               "making_new_layers_and_models_via_subclassing", "training_with_built_in_methods", "intro_to_keras_for_engineers",
               "writing_your_own_callbacks", "transfer_learning", "_working_with_rnns", "keras_tuner/getting_started",
               "keras_tuner/tailor_the_search_space", "keras_tuner/failed_trials", "keras_tuner/visualize_tuning"],
}

# Those that call another framework's own functions on the model's tensors: its gradient tape, its ops in a layer.
BOUND_TO = {
    "TensorFlow": ["examples/generative/vae", "examples/generative/conditional_gan", "examples/generative/wgan_gp",
                   "examples/generative/cyclegan",
                   "examples/generative/dcgan_overriding_train_step", "examples/generative/deep_dream",
                   "examples/generative/neural_style_transfer",
                   "examples/rl/actor_critic_cartpole", "examples/rl/ddpg_pendulum", "examples/rl/deep_q_network_breakout",
                   "examples/rl/ppo_cartpole",
                   "examples/keras_recipes/endpoint_layer_pattern", "examples/keras_recipes/subclassing_conv_layers", "examples/keras_recipes/trainer_pattern",
                   "examples/keras_recipes/debugging_tips", "examples/vision/grad_cam", "examples/vision/integrated_gradients",
                   "examples/vision/visualizing_what_convnets_learn", "examples/vision/reptile", "examples/vision/nerf",
                   "examples/timeseries/timeseries_traffic_forecasting", "guides/custom_train_step_in_tensorflow",
                   "guides/writing_a_custom_training_loop_in_tensorflow", "guides/distributed_training_with_tensorflow"],
    "JAX": ["guides/custom_train_step_in_jax", "guides/writing_a_custom_training_loop_in_jax", "guides/distributed_training_with_jax",
            "guides/distribution", "guides/define_custom_kernel"],
    "PyTorch": ["guides/custom_train_step_in_torch", "guides/writing_a_custom_training_loop_in_torch",
                "guides/distributed_training_with_torch"],
}

NEEDS = {
    "text_generation_with_miniature_gpt": ["aclImdb"], "text_classification_from_scratch": ["aclImdb"],
    "image_classification_from_scratch": ["PetImages"], "oxford_pets_image_segmentation": ["pet_masks"],
    "eeg_signal_classification": ["eeg-data.csv"],
}

# More rows than a data set has here (to train on, to test on), for examples that cut or reshape by its real sizes.
FULL = {"mnist": (60000, 10000)}
ROWS = {"masked_image_modeling": {"cifar10": (40200, 128)}, "token_learner": {"cifar10": (40200, 128)},
        "siamese_contrastive": {"mnist": (30200, 128)}, "functional_api": FULL, "training_with_built_in_methods": FULL,
        "making_new_layers_and_models_via_subclassing": FULL}

LARGE = {"stft", "pixelcnn", "functional_api", "eeg_signal_classification", "image_classification_from_scratch",
         "oxford_pets_image_segmentation", "conv_lstm",
         "transfer_learning", "focal_modulation_network", "gradient_centralization", "swin_transformers",
         "perceiver_image_classification",
         "temporal_latent_bottleneck", "masked_image_modeling", "consistency_training", "token_learner"}


def all_examples():
    """(path below the checkout, kind, needed files, rows of data sets), one of each kind in turn, large models last."""
    turns = [pair for names in itertools.zip_longest(*EXAMPLES.values()) for pair in zip(EXAMPLES, names)]
    for kind, name in sorted(turns, key=lambda pair: pair[1] in LARGE):
        folder = "guides" if kind == "guides" else f"examples/{kind}"
        if name is not None:
            yield f"{folder}/{name}.py", kind, NEEDS.get(name, []), ROWS.get(name, {})
