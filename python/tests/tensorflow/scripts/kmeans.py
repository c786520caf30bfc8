# K-means and PCA with plain TensorFlow
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(7)
points = tf.constant(np.concatenate([rng.normal(c, 0.3, (30, 2)) for c in ((0, 0), (3, 3), (0, 4))]), dtype=tf.float32)
k = 3
centroids = tf.Variable(tf.gather(points, [0, 40, 80]))


@tf.function
def assign_clusters(points, centroids):
    distances = tf.reduce_sum(tf.square(tf.subtract(points[:, tf.newaxis], centroids)), axis=2)
    return tf.argmin(distances, axis=1, output_type=tf.int32), tf.reduce_min(distances, axis=1)


for i in range(10):
    assignments, d = assign_clusters(points, centroids)
    sums = tf.math.unsorted_segment_sum(points, assignments, k)
    counts = tf.math.bincount(assignments, minlength=k, dtype=tf.float32)
    new = sums / counts[:, None]
    shift = tf.reduce_max(tf.norm(new - centroids, axis=1))
    centroids.assign(new)
    if shift < 1e-5:
        print("converged after", i)
        break
print(np.round(centroids.numpy(), 3))
print("sizes", tf.math.bincount(assignments).numpy(), "inertia %.3f" % tf.reduce_sum(d))
means = tf.math.unsorted_segment_mean(points, assignments, k)
tf.debugging.assert_near(means, centroids, atol=1e-4)
order = tf.argsort(assignments, stable=True)
print(tf.math.segment_max(tf.gather(d, order), tf.gather(assignments, order)).shape)

mean = tf.reduce_mean(points, axis=0, keepdims=True)
centred = points - mean
s, u, v = tf.linalg.svd(centred)
print("singular values", np.round(s.numpy(), 3), u.shape, v.shape)
cov = tf.linalg.matmul(centred, centred, transpose_a=True) / tf.cast(tf.shape(points)[0] - 1, tf.float32)
eigenvalues, eigenvectors = tf.linalg.eigh(cov)
print("explained", np.round((eigenvalues / tf.reduce_sum(eigenvalues)).numpy(), 4))
print(np.allclose(s.numpy() ** 2 / 89, eigenvalues.numpy()[::-1], rtol=1e-3))
projected = tf.linalg.matvec(centred, eigenvectors[:, -1])
print(projected.shape, "%.3f" % tf.math.reduce_variance(projected), "%.3f" % abs(float(tf.math.reduce_std(projected))))

i = tf.constant(0)
total = tf.constant(0.0)
cond = lambda i, total: tf.less(i, 5)
body = lambda i, total: (tf.add(i, 1), total + tf.cast(i, tf.float32) ** 2)
i, total = tf.while_loop(cond, body, [i, total])
print(i.numpy(), total.numpy())
hist = tf.histogram_fixed_width(d, [0.0, 1.0], nbins=5)
print(hist.numpy(), tf.reduce_sum(hist).numpy())
with tf.GradientTape() as t:
    t.watch(mean)
    inertia = tf.reduce_sum((points - mean) ** 2)
print(np.round(t.gradient(inertia, mean).numpy(), 2) + 0.0)
probs = tf.math.softmax(-tf.reduce_sum((points[:4, None] - centroids) ** 2, -1))
print(tf.math.argmax(probs, 1).numpy(), tf.math.cumulative_logsumexp(tf.constant([0.0, 1.0, 2.0])).numpy().round(4))
values, counts = np.unique(assignments, return_counts=True)
print(dict(zip(values.tolist(), counts.tolist())))
