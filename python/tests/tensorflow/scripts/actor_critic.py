import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

seed = 42
tf.random.set_seed(seed)
np.random.seed(seed)
eps = np.finfo(np.float32).eps.item()


class Corridor:
    """Walk right to reach the goal."""

    def reset(self):
        self.at, self.time = 0, 0
        return np.array([self.at / 5.0, 1.0], "float32")

    def step(self, action):
        self.at, self.time = max(0, self.at + (1 if action == 1 else -1)), self.time + 1
        done = self.at >= 5 or self.time >= 30
        return np.array([self.at / 5.0, 1.0], "float32"), 1.0 if self.at >= 5 else -0.1, done


class ActorCritic(tf.keras.Model):
    def __init__(self, num_actions, num_hidden_units):
        super().__init__()
        self.common = layers.Dense(num_hidden_units, activation="relu")
        self.actor = layers.Dense(num_actions)
        self.critic = layers.Dense(1)

    def call(self, inputs):
        x = self.common(inputs)
        return self.actor(x), self.critic(x)


env, model = Corridor(), ActorCritic(2, 16)
optimizer = tf.keras.optimizers.Adam(learning_rate=0.02)
huber_loss = tf.keras.losses.Huber(reduction="sum")


def run_episode():
    state, done = env.reset(), False
    action_probs, values, rewards = [], [], []
    while not done:
        action_logits_t, value = model(tf.expand_dims(state, 0))
        action = tf.random.categorical(action_logits_t, 1)[0, 0]
        action_probs_t = tf.nn.softmax(action_logits_t)
        values.append(tf.squeeze(value))
        action_probs.append(action_probs_t[0, int(action)])
        state, reward, done = env.step(int(action))
        rewards.append(reward)
    return tf.stack(action_probs), tf.stack(values), rewards


def get_expected_return(rewards, gamma=0.95):
    returns, total = [], 0.0
    for r in rewards[::-1]:
        total = r + gamma * total
        returns.insert(0, total)
    returns = tf.convert_to_tensor(returns, dtype=tf.float32)
    return (returns - tf.math.reduce_mean(returns)) / (tf.math.reduce_std(returns) + eps)


lengths = []
for episode in range(25):
    with tf.GradientTape() as tape:
        action_probs, values, rewards = run_episode()
        returns = get_expected_return(rewards)
        action_probs, values, returns = [tf.expand_dims(x, 1) for x in [action_probs, values, returns]]
        advantage = returns - values
        actor_loss = -tf.math.reduce_sum(tf.math.log(action_probs) * tf.stop_gradient(advantage))
        loss = actor_loss + huber_loss(values, returns)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    lengths.append(len(rewards))
print("episodes", len(lengths), "shortest possible reached", min(lengths) == 5)
print(len(model.trainable_variables), [g is None for g in grads])

q_values = tf.constant([[1.0, 2.0], [3.0, 0.5]])
masks = tf.one_hot([1, 0], 2)
print(tf.reduce_sum(tf.multiply(q_values, masks), axis=1), tf.argmax(q_values, axis=1), tf.reduce_max(q_values, axis=1))
target = tf.keras.models.clone_model(tf.keras.Sequential([layers.Input((2,)), layers.Dense(2)]))
target.set_weights([w * 0 + 1 for w in target.get_weights()])
print(target(tf.constant([[1.0, 2.0]])))
