"""Reinforcement learning on TensorFlow: Huber DQN loop, A2C with TensorArray, PPO epochs, soft target updates, noise."""
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

rng = np.random.default_rng(3)
eps = np.finfo(np.float32).eps.item()


class Env:
    def reset(self):
        self.x, self.t = 0.0, 0
        return np.array([self.x, 0.0], np.float32)

    def step(self, a):
        self.x += 0.3 if a == 1 else -0.3
        self.t += 1
        return np.array([self.x, self.t / 10], np.float32), np.array(1.0 - abs(self.x), np.float32), np.array(self.t >= 6 or abs(self.x) > 1, np.int32)


env = Env()


def fixed(model, seed):
    r = np.random.default_rng(seed)
    model.set_weights([r.normal(0, 0.4, w.shape) for w in model.get_weights()])
    return model


def create_q_model():
    inputs = layers.Input(shape=(2,))
    x = layers.Dense(16, activation="relu")(inputs)
    return fixed(keras.Model(inputs=inputs, outputs=layers.Dense(2, activation="linear")(x)), 1)


model, model_target = create_q_model(), create_q_model()
optimizer = keras.optimizers.Adam(learning_rate=0.01, clipnorm=1.0)
loss_function = keras.losses.Huber()
states = rng.normal(size=(32, 2)).astype("float32")
actions = rng.integers(0, 2, 32)
for step in range(4):
    future_rewards = model_target.predict(states + 0.1, verbose=0)
    updated_q_values = np.ones(32, "float32") + 0.9 * tf.reduce_max(future_rewards, axis=1)
    updated_q_values = updated_q_values * (1 - (np.arange(32) % 7 == 0)) - (np.arange(32) % 7 == 0)
    masks = tf.one_hot(actions, 2)
    with tf.GradientTape() as tape:
        q_values = model(states)
        q_action = tf.reduce_sum(tf.multiply(q_values, masks), axis=1)
        loss = loss_function(updated_q_values, q_action)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    print(f"{loss:.4f}", end=" ")
model_target.set_weights(model.get_weights())
print()


class ActorCritic(tf.keras.Model):
    def __init__(self, num_actions, hidden):
        super().__init__()
        self.common = layers.Dense(hidden, activation="relu")
        self.actor = layers.Dense(num_actions)
        self.critic = layers.Dense(1)

    def call(self, inputs: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        x = self.common(inputs)
        return self.actor(x), self.critic(x)


ac = ActorCritic(2, 16)
ac(tf.zeros((1, 2)))
fixed(ac, 2)


@tf.numpy_function(Tout=[tf.float32, tf.float32, tf.int32])
def env_step(action):
    s, r, d = env.step(action)
    return s, r, d


def run_episode(initial_state, model, max_steps):
    action_probs = tf.TensorArray(dtype=tf.float32, size=0, dynamic_size=True)
    values = tf.TensorArray(dtype=tf.float32, size=0, dynamic_size=True)
    rewards = tf.TensorArray(dtype=tf.float32, size=0, dynamic_size=True)
    state, shape = initial_state, initial_state.shape
    for t in tf.range(max_steps):
        state = tf.expand_dims(state, 0)
        logits, value = model(state)
        action = tf.argmax(logits, axis=1)[0]
        probs = tf.nn.softmax(logits)
        values = values.write(t, tf.squeeze(value))
        action_probs = action_probs.write(t, probs[0, action])
        state, reward, done = env_step(action)
        state.set_shape(shape)
        rewards = rewards.write(t, reward)
        if tf.cast(done, tf.bool):
            break
    return action_probs.stack(), values.stack(), rewards.stack()


def get_expected_return(rewards, gamma, standardize=True):
    n = tf.shape(rewards)[0]
    returns = tf.TensorArray(dtype=tf.float32, size=n)
    rewards = tf.cast(rewards[::-1], dtype=tf.float32)
    discounted_sum = tf.constant(0.0)
    shape = discounted_sum.shape
    for i in tf.range(n):
        discounted_sum = rewards[i] + gamma * discounted_sum
        discounted_sum.set_shape(shape)
        returns = returns.write(i, discounted_sum)
    returns = returns.stack()[::-1]
    if standardize:
        returns = (returns - tf.math.reduce_mean(returns)) / (tf.math.reduce_std(returns) + eps)
    return returns


huber = tf.keras.losses.Huber(reduction=tf.keras.losses.Reduction.SUM if hasattr(tf.keras.losses, "Reduction") else "sum")
opt = tf.keras.optimizers.Adam(0.01)


@tf.function
def train_step(initial_state, model, optimizer, gamma, max_steps):
    with tf.GradientTape() as tape:
        action_probs, values, rewards = run_episode(initial_state, model, max_steps)
        returns = get_expected_return(rewards, gamma)
        action_probs, values, returns = [tf.expand_dims(x, 1) for x in [action_probs, values, returns]]
        advantage = returns - values
        loss = -tf.math.reduce_sum(tf.math.log(action_probs) * advantage) + huber(values, returns)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return tf.math.reduce_sum(rewards)


for i in range(3):
    print(round(float(train_step(tf.constant(env.reset()), ac, opt, 0.99, 8)), 3), end=" ")
print()


def logprobabilities(logits, a):
    return tf.reduce_sum(tf.one_hot(a, 2) * tf.nn.log_softmax(logits), axis=1)


actor = fixed(keras.Sequential([layers.Input((2,)), layers.Dense(8, activation=tf.tanh), layers.Dense(2)]), 5)
old = logprobabilities(actor(states), actions)
advantage = tf.constant(rng.normal(size=32), tf.float32)
popt = keras.optimizers.Adam(3e-2)


@tf.function
def train_policy(observation, action, logp_old, adv, clip_ratio=0.2):
    with tf.GradientTape() as tape:
        ratio = tf.exp(logprobabilities(actor(observation), action) - logp_old)
        min_advantage = tf.where(adv > 0, (1 + clip_ratio) * adv, (1 - clip_ratio) * adv)
        policy_loss = -tf.reduce_mean(tf.minimum(ratio * adv, min_advantage))
    policy_grads = tape.gradient(policy_loss, actor.trainable_variables)
    popt.apply_gradients(zip(policy_grads, actor.trainable_variables))
    kl = tf.reduce_mean(logp_old - logprobabilities(actor(observation), action))
    return tf.reduce_sum(kl)


for _ in range(5):
    kl = train_policy(states, actions, old, advantage)
    if kl > 0.015:
        break
print(round(float(kl), 4))


def update_target(target, original, tau):
    for a, b in zip(target.variables, original.variables):
        a.assign(b * tau + a * (1 - tau))


update_target(model_target, create_q_model(), 0.5)
print(np.round([float(tf.reduce_sum(v)) for v in model_target.variables], 3))
std = tf.exp(tf.constant([-0.5]))
print(tf.clip_by_value(tf.random.normal((1, 2)) * std, -1, 1).shape, tf.random.categorical(tf.math.log([[0.0, 1.0]]), 1).numpy(), tf.squeeze(tf.constant([[2.0]])).numpy())
with tf.GradientTape(persistent=True) as tape:
    v = actor(states)
    a, b = tf.reduce_mean(v), tf.reduce_sum(v**2)
print(len(tape.gradient(a, actor.trainable_variables)), tape.gradient(b, actor.trainable_variables, unconnected_gradients=tf.UnconnectedGradients.ZERO)[0].shape)
grads, norm = tf.clip_by_global_norm(tape.gradient(b, actor.trainable_variables), 0.5)
print(round(float(norm), 2), round(float(tf.linalg.global_norm(grads)), 3), [g.shape for g in grads][:2])
