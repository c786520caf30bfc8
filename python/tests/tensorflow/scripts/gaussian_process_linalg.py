"""Gaussian process regression, Kalman filter and PCA from scratch: tf.linalg as people use it."""
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
x = np.linspace(-3, 3, 15)[:, None]
y = np.sin(x) + 0.05 * rng.normal(size=x.shape)
X, Y = tf.constant(x, tf.float64), tf.constant(y, tf.float64)
log_len, log_amp, log_noise = (tf.Variable(v, dtype=tf.float64, name=n) for v, n in ((0.0, "len"), (0.0, "amp"), (-2.0, "noise")))


def rbf(a, b):
    d = tf.reduce_sum(tf.math.squared_difference(a[:, tf.newaxis, :], b[tf.newaxis, :, :]), axis=-1)
    return tf.exp(2 * log_amp) * tf.exp(-0.5 * d / tf.exp(2 * log_len))


@tf.function
def nll():
    K = rbf(X, X) + tf.exp(2 * log_noise) * tf.eye(tf.shape(X)[0], dtype=tf.float64)
    L = tf.linalg.cholesky(K)
    alpha = tf.linalg.cholesky_solve(L, Y)
    n = tf.cast(tf.shape(X)[0], tf.float64)
    return 0.5 * tf.squeeze(tf.matmul(Y, alpha, transpose_a=True)) + tf.reduce_sum(tf.math.log(tf.linalg.diag_part(L))) + 0.5 * n * tf.math.log(tf.constant(2 * np.pi, tf.float64))


opt = tf.keras.optimizers.Adam(0.05)
for i in range(12):
    with tf.GradientTape() as tape:
        loss = nll()
    g = tape.gradient(loss, [log_len, log_amp, log_noise])
    opt.apply_gradients(zip(g, [log_len, log_amp, log_noise]))
    if i % 4 == 0:
        tf.print(i, tf.round(loss * 100) / 100)
print(log_len.numpy().round(2), log_amp.dtype, log_noise.name)
Xs = tf.cast(tf.linspace(-2.0, 2.0, 5)[:, None], tf.float64)
K = rbf(X, X) + tf.exp(2 * log_noise) * tf.eye(15, dtype=tf.float64)
mean = tf.matmul(rbf(Xs, X), tf.linalg.solve(K, Y))
v = tf.linalg.triangular_solve(tf.linalg.cholesky(K), rbf(X, Xs), lower=True)
var = tf.linalg.diag_part(rbf(Xs, Xs)) - tf.reduce_sum(v**2, axis=0)
print(mean.numpy().ravel().round(2), var.shape)

A = tf.constant(rng.normal(size=(4, 4)).astype("float32"))
S = A @ tf.transpose(A) + 4.0 * tf.eye(4)
s, u, vt = tf.linalg.svd(A)
print(tf.reduce_max(tf.abs(u @ tf.linalg.diag(s) @ tf.linalg.adjoint(vt) - A)).numpy() < 1e-4, s.numpy().round(3))
e, ev = tf.linalg.eigh(S)
print(e.numpy().round(2), tf.linalg.eigvalsh(S).numpy().round(2))
sign, logdet = tf.linalg.slogdet(A)
print(sign.numpy(), logdet.numpy().round(3), tf.linalg.det(S).numpy().round(1), tf.linalg.trace(S).numpy().round(2))
print(tf.linalg.inv(S).numpy().round(3)[0], tf.linalg.matrix_rank(A).numpy())
q, r = tf.linalg.qr(A)
print(tf.reduce_max(tf.abs(q @ r - A)).numpy() < 1e-5, tf.linalg.band_part(tf.ones((3, 3)), -1, 0).numpy().tolist())
print(tf.linalg.norm(A, ord="fro", axis=[-2, -1]).numpy().round(3), tf.linalg.normalize(A[0])[0].numpy().round(3), tf.linalg.cross([1.0, 0, 0], [0, 1.0, 0]).numpy())
print(tf.linalg.matvec(A, tf.ones(4)).numpy().round(2), tf.linalg.set_diag(tf.zeros((2, 2)), [1.0, 2.0]).numpy().tolist(), tf.linalg.tensor_diag([1, 2]).numpy().tolist())
print("", tf.linalg.sqrtm(S).numpy().round(2)[0], tf.linalg.matrix_transpose(A).shape)
lu, p = tf.linalg.lu(A)
print(lu.shape, p.dtype.name, tf.linalg.lstsq(A, tf.ones((4, 1))).shape, tf.linalg.global_norm([tf.ones(3), tf.ones(1)]).numpy())
print(tf.linalg.einsum("ij,jk->ik", A, S).shape, tf.linalg.l2_normalize([3.0, 4.0]).numpy(), tf.linalg.diag([1.0, 2.0], k=1).numpy().tolist(), tf.linalg.logdet(S).numpy().round(3))

data = tf.constant(rng.normal(size=(30, 4)) @ rng.normal(size=(4, 4)), tf.float32)
centred = data - tf.reduce_mean(data, 0, keepdims=True)
cov = tf.matmul(centred, centred, transpose_a=True) / tf.cast(tf.shape(data)[0] - 1, tf.float32)
val, vec = tf.linalg.eigh(cov)
proj = tf.matmul(centred, tf.reverse(vec, axis=[1])[:, :2])
print(tf.math.reduce_variance(proj, axis=0).numpy().round(1), tf.math.reduce_std(data).numpy().round(3))
state, P = tf.zeros((2, 1)), tf.eye(2)
F, H, Q, R = tf.constant([[1.0, 1.0], [0.0, 1.0]]), tf.constant([[1.0, 0.0]]), 0.01 * tf.eye(2), tf.constant([[0.5]])
for z in [1.0, 2.1, 2.9, 4.2]:
    state, P = F @ state, F @ P @ tf.transpose(F) + Q
    gain = P @ tf.transpose(H) @ tf.linalg.inv(H @ P @ tf.transpose(H) + R)
    state = state + gain * (z - H @ state)
    P = (tf.eye(2) - gain @ H) @ P
print(tf.squeeze(state).numpy().round(3))
print(tf.math.betainc(2.0, 3.0, 0.5).numpy().round(4), tf.math.igamma(2.0, 1.0).numpy().round(4), tf.math.zeta(3.0, 1.0).numpy().round(4), tf.math.erfinv(0.5).numpy().round(4), tf.math.bessel_i0(1.0).numpy().round(4),
      tf.math.lbeta([1.0, 2.0]).numpy().round(4), tf.math.cumulative_logsumexp([1.0, 2.0]).numpy().round(3), tf.math.softplus(1.0).numpy().round(4), tf.math.ndtri(0.9).numpy().round(4), tf.math.polygamma(1.0, 2.0).numpy().round(4))
op = tf.linalg.LinearOperatorFullMatrix(S)
print(op.solve(tf.ones((4, 1))).numpy().round(3).ravel(), tf.linalg.LinearOperatorDiag([1.0, 2.0]).to_dense().numpy().tolist())
