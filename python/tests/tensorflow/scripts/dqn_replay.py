# Deep Q-learning on a corridor, with a replay buffer and a target network
import collections
import random

import numpy as np
import tensorflow as tf
from tensorflow import keras

random.seed(0)
np.random.seed(0)


class Corridor:
    n = 6

    def reset(self):
        self.at = 0
        return self.state()

    def state(self):
        s = np.zeros(self.n, np.float32)
        s[self.at] = 1
        return s

    def step(self, action):
        self.at = max(0, self.at - 1) if action == 0 else self.at + 1
        done = self.at == self.n - 1
        return self.state(), 1.0 if done else -0.01, done


Transition = collections.namedtuple("Transition", "state action reward next_state done")
memory = collections.deque(maxlen=500)
rng = np.random.default_rng(1)


def build():
    model = keras.Sequential([keras.Input((Corridor.n,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)])
    return model


q_net, target_net = build(), build()
q_net.set_weights([rng.normal(size=w.shape).astype("float32") * 0.3 for w in q_net.get_weights()])
target_net.set_weights(q_net.get_weights())
optimizer = keras.optimizers.Adam(learning_rate=5e-3, clipnorm=1.0)
huber = keras.losses.Huber()
gamma, batch_size = 0.95, 16


@tf.function
def train_step(states, actions, rewards, next_states, dones):
    next_actions = tf.argmax(q_net(next_states), axis=1)
    next_q = tf.reduce_sum(target_net(next_states) * tf.one_hot(next_actions, 2), axis=1)
    target = rewards + (1.0 - dones) * gamma * next_q
    with tf.GradientTape() as tape:
        q = tf.gather(q_net(states), actions, batch_dims=1)
        loss = huber(tf.stop_gradient(target), q)
    grads = tape.gradient(loss, q_net.trainable_variables)
    optimizer.apply_gradients(zip(grads, q_net.trainable_variables))
    return loss


env, losses, steps = Corridor(), [], 0
for episode in range(12):
    state = env.reset()
    for t in range(25):
        action = int(random.random() < 0.6) if random.random() < 0.5 else int(tf.argmax(q_net(state[None]), axis=-1)[0])
        next_state, reward, done = env.step(action)
        memory.append(Transition(state, action, reward, next_state, float(done)))
        state = next_state
        steps += 1
        if len(memory) >= batch_size:
            batch = Transition(*zip(*random.sample(memory, batch_size)))
            loss = train_step(tf.convert_to_tensor(np.stack(batch.state)), tf.constant(batch.action), tf.constant(batch.reward, tf.float32),
                              tf.stack(batch.next_state), tf.constant(batch.done, dtype=tf.float32))
            losses.append(float(loss))
        if steps % 20 == 0:
            for a, b in zip(target_net.variables, q_net.variables):
                a.assign(b * 0.5 + a * 0.5)
        if done:
            break
print(steps, len(memory), f"{losses[0]:.4f} {losses[5]:.4f} {np.mean(losses[-10:]):.3f}")
q = q_net.predict(np.eye(Corridor.n, dtype="float32"), verbose=0)
print(q.shape, q.argmax(axis=1)[:5])
print("greedy goes right:", bool((q[:5, 1] > q[:5, 0]).all()))
