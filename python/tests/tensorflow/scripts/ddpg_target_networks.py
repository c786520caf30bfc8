"""An actor and a critic with slowly moving targets, on a made-up one-dimensional control task."""
import collections
import random

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

random.seed(0)
np.random.seed(0)
num_states, num_actions, upper_bound, lower_bound = 2, 1, 2.0, -2.0


class Cart:
    def reset(self):
        self.s = np.array([1.0, 0.0])
        return self.s.copy(), {}

    def step(self, action):
        x, v = self.s
        v = 0.9 * v + 0.1 * float(np.clip(action, -2, 2).item())
        x = x + 0.1 * v
        self.s = np.array([x, v])
        return self.s.copy(), -(x * x + 0.1 * v * v), abs(x) > 3, False, {}


class OUActionNoise:
    def __init__(self, mean, std_deviation, theta=0.15, dt=1e-2, x_initial=None):
        self.theta, self.mean, self.std_dev, self.dt, self.x_initial = theta, mean, std_deviation, dt, x_initial
        self.reset()

    def __call__(self):
        x = self.x_prev + self.theta * (self.mean - self.x_prev) * self.dt + self.std_dev * np.sqrt(self.dt) * np.random.normal(size=self.mean.shape)
        self.x_prev = x
        return x

    def reset(self):
        self.x_prev = self.x_initial if self.x_initial is not None else np.zeros_like(self.mean)


class Buffer:
    def __init__(self, buffer_capacity=1000, batch_size=32):
        self.buffer_capacity, self.batch_size, self.buffer_counter = buffer_capacity, batch_size, 0
        self.state_buffer = np.zeros((self.buffer_capacity, num_states))
        self.action_buffer = np.zeros((self.buffer_capacity, num_actions))
        self.reward_buffer = np.zeros((self.buffer_capacity, 1))
        self.next_state_buffer = np.zeros((self.buffer_capacity, num_states))

    def record(self, obs_tuple):
        index = self.buffer_counter % self.buffer_capacity
        self.state_buffer[index], self.action_buffer[index], self.reward_buffer[index], self.next_state_buffer[index] = obs_tuple[0], obs_tuple[1], obs_tuple[2], obs_tuple[3]
        self.buffer_counter += 1

    @tf.function
    def update(self, state_batch, action_batch, reward_batch, next_state_batch):
        with tf.GradientTape() as tape:
            target_actions = target_actor(next_state_batch, training=True)
            y = reward_batch + gamma * target_critic([next_state_batch, target_actions], training=True)
            critic_value = critic_model([state_batch, action_batch], training=True)
            critic_loss = keras.ops.mean(keras.ops.square(y - critic_value))
        critic_grad = tape.gradient(critic_loss, critic_model.trainable_variables)
        critic_optimizer.apply_gradients(zip(critic_grad, critic_model.trainable_variables))
        with tf.GradientTape() as tape:
            actions = actor_model(state_batch, training=True)
            critic_value = critic_model([state_batch, actions], training=True)
            actor_loss = -keras.ops.mean(critic_value)
        actor_grad = tape.gradient(actor_loss, actor_model.trainable_variables)
        actor_optimizer.apply_gradients(zip(actor_grad, actor_model.trainable_variables))
        return critic_loss

    def learn(self):
        record_range = min(self.buffer_counter, self.buffer_capacity)
        batch_indices = np.random.choice(record_range, self.batch_size)
        state_batch = keras.ops.convert_to_tensor(self.state_buffer[batch_indices])
        action_batch = keras.ops.convert_to_tensor(self.action_buffer[batch_indices])
        reward_batch = keras.ops.convert_to_tensor(self.reward_buffer[batch_indices])
        reward_batch = keras.ops.cast(reward_batch, dtype="float32")
        next_state_batch = keras.ops.convert_to_tensor(self.next_state_buffer[batch_indices])
        return self.update(state_batch, action_batch, reward_batch, next_state_batch)


def update_target(target, original, tau):
    target_weights = target.get_weights()
    original_weights = original.get_weights()
    for i in range(len(target_weights)):
        target_weights[i] = original_weights[i] * tau + target_weights[i] * (1 - tau)
    target.set_weights(target_weights)


def soft_update(target_weights, weights, tau):
    for (a, b) in zip(target_weights, weights):
        a.assign(b * tau + a * (1 - tau))


def get_actor():
    last_init = keras.initializers.RandomUniform(minval=-0.003, maxval=0.003)
    inputs = layers.Input(shape=(num_states,))
    out = layers.Dense(16, activation="relu")(inputs)
    outputs = layers.Dense(1, activation="tanh", kernel_initializer=last_init)(out)
    outputs = outputs * upper_bound
    return keras.Model(inputs, outputs)


def get_critic():
    state_input = layers.Input(shape=(num_states,))
    state_out = layers.Dense(16, activation="relu")(state_input)
    action_input = layers.Input(shape=(num_actions,))
    action_out = layers.Dense(8, activation="relu")(action_input)
    concat = layers.Concatenate()([state_out, action_out])
    out = layers.Dense(16, activation="relu")(concat)
    return keras.Model([state_input, action_input], layers.Dense(1)(out))


def policy(state, noise_object):
    sampled_actions = keras.ops.squeeze(actor_model(state))
    noise = noise_object()
    sampled_actions = sampled_actions.numpy() + noise
    legal_action = np.clip(sampled_actions, lower_bound, upper_bound)
    return [np.squeeze(legal_action)]


actor_model, critic_model, target_actor, target_critic = get_actor(), get_critic(), get_actor(), get_critic()
r = np.random.RandomState(5)
for m in (actor_model, critic_model):
    m.set_weights([r.normal(size=w.shape) * 0.3 for w in m.get_weights()])
target_actor.set_weights(actor_model.get_weights())
target_critic.set_weights(critic_model.get_weights())
critic_optimizer, actor_optimizer = keras.optimizers.Adam(0.002), keras.optimizers.Adam(0.001)
gamma, tau = 0.99, 0.005
ou_noise = OUActionNoise(mean=np.zeros(1), std_deviation=float(0.2) * np.ones(1))
buffer, env, ep_reward_list = Buffer(), Cart(), []
for ep in range(2):
    prev_state, _ = env.reset()
    episodic_reward, losses = 0, collections.deque(maxlen=5)
    for _ in range(20):
        tf_prev_state = keras.ops.expand_dims(keras.ops.convert_to_tensor(prev_state), 0)
        action = policy(tf_prev_state, ou_noise)
        state, reward, done, truncated, _ = env.step(action[0])
        buffer.record((prev_state, action, reward, state))
        episodic_reward += reward
        losses.append(float(buffer.learn()))
        update_target(target_actor, actor_model, tau)
        soft_update(target_critic.variables, critic_model.variables, tau)
        if done or truncated:
            break
        prev_state = state
    ep_reward_list.append(episodic_reward)
    print("Episode * {} * Avg Reward is ==> {:.3f}, loss {:.4f}".format(ep, np.mean(ep_reward_list[-40:]), np.mean(losses)))
print(np.round(target_critic.get_weights()[-1], 4), np.round(critic_model.get_weights()[-1], 4))
logits = tf.constant([[1.0, 2.0, 0.5], [0.0, 0.0, 5.0]])
actions = tf.constant([1, 2])
log_probs = tf.nn.log_softmax(logits)
picked = tf.reduce_sum(tf.one_hot(actions, 3) * log_probs, axis=1)
ratio = tf.exp(picked - tf.constant([-0.5, -0.1]))
advantages = tf.constant([1.0, -0.5])
clipped = tf.where(advantages > 0, (1 + 0.2) * advantages, (1 - 0.2) * advantages)
print(picked.numpy(), tf.reduce_mean(tf.minimum(ratio * advantages, clipped)).numpy())
idx = tf.stack([tf.range(2), actions], axis=1)
print(tf.gather_nd(logits, idx).numpy(), tf.gather(logits, actions, axis=1, batch_dims=1).numpy(), tf.squeeze(tf.random.categorical(logits * 100, 1), -1).numpy(), tf.reduce_sum(-tf.exp(log_probs) * log_probs, 1).numpy())
returns = tf.TensorArray(dtype=tf.float32, size=3)
rewards, total = tf.constant([1., 2., 3.])[::-1], tf.constant(0.0)
for i in tf.range(3):
    total = rewards[i] + 0.5 * total
    returns = returns.write(i, total)
print(returns.stack()[::-1].numpy())
