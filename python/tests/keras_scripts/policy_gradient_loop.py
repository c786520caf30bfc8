# Reinforcement learning without an environment package: REINFORCE by sample weights, double DQN with a target network
import collections

import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(17)


class Corridor:
    def __init__(self, length=6):
        self.length = length

    def reset(self):
        self.at, self.steps = 0, 0
        return self.state()

    def state(self):
        return np.eye(self.length, dtype="float32")[self.at]

    def step(self, action):
        self.at = min(max(self.at + (1 if action == 1 else -1), 0), self.length - 1)
        self.steps += 1
        done = self.at == self.length - 1 or self.steps >= 12
        return self.state(), 1.0 if self.at == self.length - 1 else -0.05, done


def net(outputs, activation=None):
    r = np.random.default_rng(1)
    model = keras.Sequential([keras.Input((6,)), layers.Dense(8, "relu"), layers.Dense(outputs, activation)])
    model.set_weights([r.normal(size=w.shape) * 0.3 for w in model.get_weights()])
    return model


env, policy = Corridor(), net(2, "softmax")
policy.compile(keras.optimizers.Adam(0.02), "sparse_categorical_crossentropy")
for episode in range(6):
    states, actions, rewards, done, s = [], [], [], False, env.reset()
    while not done:
        p = np.asarray(policy(s[None]))[0].astype("float64")
        a = int(rng.random() < p[1])
        states.append(s)
        s, r, done = env.step(a)
        actions.append(a)
        rewards.append(r)
    returns = np.zeros(len(rewards), "float32")
    running = 0.0
    for i in reversed(range(len(rewards))):
        running = rewards[i] + 0.95 * running
        returns[i] = running
    returns -= returns.mean()
    loss = policy.train_on_batch(np.array(states), np.array(actions), sample_weight=returns)
    print(episode, len(rewards), f"{sum(rewards):.2f}", f"{float(loss):.4f}")

online, target = net(2), net(2)
online.compile(keras.optimizers.RMSprop(0.005), keras.losses.Huber())
memory = collections.deque(maxlen=100)
s = env.reset()
for step in range(80):
    a = int(rng.random() < 0.5) if rng.random() < 0.3 else int(np.argmax(online.predict_on_batch(s[None])[0]))
    s2, r, done = env.step(a)
    memory.append((s, a, r, s2, done))
    s = env.reset() if done else s2
    if len(memory) >= 16 and step % 4 == 0:
        batch = [memory[i] for i in rng.choice(len(memory), 16, replace=False)]
        bs, ba, br, bs2, bd = (np.array(z) for z in zip(*batch))
        best = np.argmax(online.predict(bs2, verbose=0), axis=1)
        q = online.predict(bs, verbose=0)
        q[np.arange(16), ba] = br + 0.9 * (1 - bd) * target.predict(bs2, verbose=0)[np.arange(16), best]
        loss = online.fit(bs, q, epochs=1, verbose=0).history["loss"][0]
    if step % 20 == 19:
        target.set_weights([0.5 * a + 0.5 * b for a, b in zip(target.get_weights(), online.get_weights())])
        print(step, f"{loss:.4f}")


# PPO's clipped objective as a loss over packed targets
def ppo(packed, probs):
    action, old, advantage = packed[:, 0], packed[:, 1], packed[:, 2]
    chosen = ops.sum(probs * ops.one_hot(ops.cast(action, "int32"), 2), axis=-1)
    ratio = ops.exp(ops.log(chosen + 1e-8) - old)
    entropy = -ops.sum(probs * ops.log(probs + 1e-8), axis=-1)
    return -ops.mean(ops.minimum(ratio * advantage, ops.clip(ratio, 0.8, 1.2) * advantage)) - 0.01 * ops.mean(entropy)


actor = net(2, "softmax")
actor.compile(keras.optimizers.Adam(0.01), ppo)
obs = np.eye(6, dtype="float32")[rng.integers(0, 6, 32)]
probs = actor.predict(obs, verbose=0)
act = (rng.random(32) < probs[:, 1]).astype("float32")
packed = np.stack([act, np.log(probs[np.arange(32), act.astype(int)]), np.where(act == 1, 1.0, -0.5)], axis=1).astype("float32")
print([f"{v:.5f}" for v in actor.fit(obs, packed, epochs=4, batch_size=16, shuffle=False, verbose=0).history["loss"]])
