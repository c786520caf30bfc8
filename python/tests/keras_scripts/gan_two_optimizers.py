# A train_step with two optimizers and two sets of variables, and metrics of its own
import keras
import numpy as np
from keras import layers, ops

rng = np.random.default_rng(12)


def dense_net(name, *sizes, last):
    net = keras.Sequential([keras.Input((sizes[0],)), *[layers.Dense(n, "leaky_relu") for n in sizes[1:-1]], layers.Dense(sizes[-1], last)], name=name)
    for v in net.trainable_variables:
        v.assign(rng.normal(size=v.shape) * 0.4)
    return net


class GAN(keras.Model):
    def __init__(self):
        super().__init__()
        self.generator = dense_net("generator", 3, 8, 2, last=None)
        self.critic = dense_net("critic", 2, 8, 1, last=None)
        self.g_loss, self.c_loss = keras.metrics.Mean("g_loss"), keras.metrics.Mean("c_loss")
        self.built = True

    @property
    def metrics(self):
        return [self.g_loss, self.c_loss]

    def compile(self, g_optimizer, c_optimizer):
        super().compile(optimizer=g_optimizer)
        self.c_optimizer = c_optimizer
        self.optimizer.build(self.generator.trainable_variables)
        c_optimizer.build(self.critic.trainable_variables)

    def losses_of(self, noise, real, generator, critic):
        made = generator(noise)
        cross = keras.losses.BinaryCrossentropy(from_logits=True)
        on_real, on_made = critic(real), critic(made)
        c = cross(ops.ones_like(on_real) * 0.9, on_real) + cross(ops.zeros_like(on_made), on_made)
        return cross(ops.ones_like(on_made), on_made), c

    def train_step(self, *args):
        if keras.backend.backend() == "jax":
            return self.jax_step(*args)
        import plimsoll

        noise, real = args[0]
        g_vars, c_vars = self.generator.trainable_variables, self.critic.trainable_variables
        _, c = self.losses_of(noise, real, self.generator, self.critic)
        self.c_optimizer.apply(plimsoll.gradients(c, c_vars), c_vars)
        g, _ = self.losses_of(noise, real, self.generator, self.critic)
        self.optimizer.apply(plimsoll.gradients(g, g_vars), g_vars)
        self.g_loss.update_state(g)
        self.c_loss.update_state(c)
        return {m.name: m.result() for m in self.metrics}

    def jax_step(self, state, batch):
        import jax

        trainable, rest, optimizer, metrics = state
        noise, real = batch
        count = len(self.generator.trainable_variables)
        g_values, c_values = trainable[:count], trainable[count:]
        c_state = [v.value for v in self.c_optimizer.variables]
        call = lambda net, values: lambda x: net.stateless_call(values, [], x)[0]
        c, grads = jax.value_and_grad(lambda values: self.losses_of(noise, real, call(self.generator, g_values), call(self.critic, values))[1])(c_values)
        c_values, c_state = self.c_optimizer.stateless_apply(c_state, grads, c_values)
        g, grads = jax.value_and_grad(lambda values: self.losses_of(noise, real, call(self.generator, values), call(self.critic, c_values))[0])(g_values)
        g_values, optimizer = self.optimizer.stateless_apply(optimizer, grads, g_values)
        for v, value in zip(self.c_optimizer.variables, c_state):
            v.assign(value)
        g_metrics = self.g_loss.stateless_update_state(metrics[:2], g)
        c_metrics = self.c_loss.stateless_update_state(metrics[2:], c)
        logs = {"g_loss": self.g_loss.stateless_result(g_metrics), "c_loss": self.c_loss.stateless_result(c_metrics)}
        return logs, (g_values + c_values, rest, optimizer, g_metrics + c_metrics)


gan = GAN()
gan.compile(keras.optimizers.Adam(0.02, beta_1=0.5), keras.optimizers.RMSprop(0.01, momentum=0.5))
gan.run_eagerly = keras.backend.backend() == "jax"  # there the second optimizer's state is outside of the step's
noise = rng.normal(size=(20, 3)).astype("float32")
real = (rng.normal(size=(20, 2)) * 0.3 + [1.0, -1.0]).astype("float32")
history = gan.fit(noise, real, batch_size=8, epochs=3, shuffle=False, verbose=0)
for name in ("g_loss", "c_loss"):
    print(name, [f"{v:.4f}" for v in history.history[name]])
print("iterations", int(gan.optimizer.iterations), int(gan.c_optimizer.iterations))
print([f"{np.abs(ops.convert_to_numpy(v)).sum():.4f}" for v in gan.trainable_variables])
