# Face-recognition style embedding with a batch-hard triplet loss
import numpy as np
import tensorflow as tf
from tensorflow.keras import Model, layers
from tensorflow.keras import backend as K


def pairwise_distances(embeddings, squared=False):
    dot_product = tf.matmul(embeddings, tf.transpose(embeddings))
    square_norm = tf.linalg.diag_part(dot_product)
    distances = tf.expand_dims(square_norm, 1) - 2.0 * dot_product + tf.expand_dims(square_norm, 0)
    distances = tf.maximum(distances, 0.0)
    if not squared:
        mask = tf.cast(tf.equal(distances, 0.0), tf.float32)
        distances = distances + mask * 1e-16
        distances = tf.sqrt(distances)
        distances = distances * (1.0 - mask)
    return distances


def masks(labels):
    indices_not_equal = tf.logical_not(tf.cast(tf.eye(tf.shape(labels)[0]), tf.bool))
    labels_equal = tf.equal(tf.expand_dims(labels, 0), tf.expand_dims(labels, 1))
    return tf.logical_and(indices_not_equal, labels_equal), tf.logical_not(labels_equal)


def batch_hard_triplet_loss(labels, embeddings, margin=0.5):
    pdist = pairwise_distances(embeddings)
    positive, negative = (tf.cast(m, tf.float32) for m in masks(labels))
    hardest_positive = tf.reduce_max(tf.multiply(positive, pdist), axis=1, keepdims=True)
    max_dist = tf.reduce_max(pdist, axis=1, keepdims=True)
    hardest_negative = tf.reduce_min(pdist + max_dist * (1.0 - negative), axis=1, keepdims=True)
    triplet = tf.maximum(hardest_positive - hardest_negative + margin, 0.0)
    return tf.reduce_mean(triplet)


rng = np.random.default_rng(0)
centers = rng.normal(size=(4, 12))
y = np.arange(64) % 4
x = (centers[y] + rng.normal(size=(64, 12)) * 0.3).astype("float32")

inputs = layers.Input(shape=(12,))
h = layers.Dense(24, activation=tf.nn.leaky_relu)(inputs)
h = layers.Dense(8)(h)
outputs = layers.Lambda(lambda t: tf.math.l2_normalize(t, axis=1))(h)
model = Model(inputs, outputs)
model.set_weights([rng.normal(size=w.shape) * 0.3 for w in model.get_weights()])
print("norms", np.round(tf.norm(model(x[:3]), axis=1).numpy(), 4))
print("loss before: %.4f" % batch_hard_triplet_loss(tf.constant(y), model(x)))

opt = tf.keras.optimizers.SGD(0.2, momentum=0.9)
for step in range(8):
    with tf.GradientTape() as tape:
        loss = batch_hard_triplet_loss(y, model(x, training=True))
    variables = model.trainable_weights
    grads = tape.gradient(loss, variables)
    grads, norm = tf.clip_by_global_norm(grads, 5.0)
    opt.apply_gradients(zip(grads, variables))
    if step % 2 == 0:
        tf.print("step", step, "loss", tf.round(loss * 1000) / 1000)
print("loss after below before:", float(batch_hard_triplet_loss(y, model(x))) < 0.6)


def contrastive_loss(y_true, y_pred):
    margin = 1
    return K.mean(y_true * K.square(y_pred) + (1 - y_true) * K.square(K.maximum(margin - y_pred, 0)))


print("contrastive", K.eval(contrastive_loss(tf.constant([1.0, 0.0]), tf.constant([0.3, 0.4]))))


def euclidean(vects):
    a, b = vects
    return K.sqrt(K.maximum(K.sum(K.square(a - b), axis=1, keepdims=True), K.epsilon()))


left, right = layers.Input((12,)), layers.Input((12,))
distance = layers.Lambda(euclidean, output_shape=(1,))([model(left), model(right)])
siamese = Model([left, right], distance)
siamese.compile(loss=contrastive_loss, optimizer="rmsprop")
d = siamese.predict([x[:8], x[4:12]], verbose=0)
print(d.shape, siamese.count_params())
