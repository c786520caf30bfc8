"""Deep Q-learning with train_on_batch, a target network and a replay buffer on a corridor."""
from collections import deque

import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(0)


class Corridor:
    def reset(self):
        self.s = 3
        return self.obs()

    def obs(self):
        o = np.zeros(7, "float32")
        o[self.s] = 1
        return o

    def step(self, a):
        self.s += 1 if a else -1
        done = self.s in (0, 6)
        return self.obs(), float(self.s == 6), done


def build():
    m = keras.Sequential([layers.Input((7,)), layers.Dense(16, activation="relu"), layers.Dense(2, activation="linear")])
    w = np.random.default_rng(1)
    m.set_weights([w.normal(0, 0.3, p.shape) for p in m.get_weights()])
    m.compile(loss=keras.losses.Huber(), optimizer=keras.optimizers.Adam(learning_rate=0.01))
    return m


model, target = build(), build()
memory, env, epsilon, gamma = deque(maxlen=200), Corridor(), 1.0, 0.9
rewards, losses = [], []
for episode in range(8):
    state, done, total, t = env.reset(), False, 0, 0
    while not done and t < 15:
        q = model.predict(state[None], verbose=0)[0]
        action = int(rng.integers(2)) if rng.random() < epsilon else int(np.argmax(q))
        nxt, reward, done = env.step(action)
        memory.append((state, action, reward, nxt, done))
        state, total, t = nxt, total + reward, t + 1
    rewards.append(total)
    if len(memory) >= 16:
        idx = rng.choice(len(memory), 16, replace=False)
        s, a, r, n, d = map(np.array, zip(*[memory[i] for i in idx]))
        future = target.predict_on_batch(n)
        targets = model.predict_on_batch(s)
        targets[np.arange(16), a] = r + gamma * (1 - d) * future.max(1)
        losses.append(round(float(model.train_on_batch(s, targets)), 3))
    epsilon = max(0.1, epsilon * 0.8)
    if episode % 3 == 0:
        target.set_weights(model.get_weights())
print(rewards, losses, round(epsilon, 3))
print(np.round(model(np.eye(7, dtype="float32")[2:5]), 2).shape)


class Actor(keras.Model):
    """Clipped PPO objective through compute_loss."""

    def __init__(self):
        super().__init__()
        self.pi = layers.Dense(2, kernel_initializer="zeros")
        self.entropy = keras.metrics.Mean(name="entropy")

    def call(self, x):
        return self.pi(x)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        action, advantage, old = y["action"], y["advantage"], y["old"]
        logp = ops.log_softmax(y_pred)
        chosen = ops.sum(ops.one_hot(action, 2) * logp, axis=-1)
        ratio = ops.exp(chosen - old)
        clipped = ops.clip(ratio, 0.8, 1.2)
        entropy = -ops.mean(ops.sum(ops.exp(logp) * logp, -1))
        self.entropy.update_state(entropy)
        return -ops.mean(ops.minimum(ratio * advantage, clipped * advantage)) - 0.01 * entropy


actor = Actor()
actor.compile(keras.optimizers.Adam(0.05, global_clipnorm=0.5))
s = np.eye(7, dtype="float32")[rng.integers(1, 6, 32)]
a = rng.integers(0, 2, 32)
y = {"action": a.astype("int32"), "advantage": (a * 2.0 - 1).astype("float32"), "old": np.full(32, np.log(0.5), "float32")}
h = actor.fit(s, y, epochs=3, batch_size=16, shuffle=False, verbose=0)
print({k: np.round(v, 3).tolist() for k, v in sorted(h.history.items())})
print(ops.convert_to_numpy(ops.argmax(actor(s[:4]), -1)))
