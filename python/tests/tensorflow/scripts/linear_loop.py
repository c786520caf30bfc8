import tensorflow as tf

TRUE_W, TRUE_B, NUM_EXAMPLES = 3.0, 2.0, 201
x = tf.linspace(-2, 2, NUM_EXAMPLES)
x = tf.cast(x, tf.float32)


def f(x):
    return x * TRUE_W + TRUE_B


y = f(x)


class MyModel(tf.Module):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.w = tf.Variable(5.0)
        self.b = tf.Variable(0.0)

    def __call__(self, x):
        return self.w * x + self.b


model = MyModel()
print("Variables:", model.variables)
assert model(3.0).numpy() == 15.0


def loss(target_y, predicted_y):
    return tf.reduce_mean(tf.square(target_y - predicted_y))


print("Untrained model loss: %1.6f" % loss(y, model(x)).numpy())


def train(model, x, y, learning_rate):
    with tf.GradientTape() as t:
        current_loss = loss(y, model(x))
    dw, db = t.gradient(current_loss, [model.w, model.b])
    model.w.assign_sub(learning_rate * dw)
    model.b.assign_sub(learning_rate * db)


def report(model, loss):
    return f"W = {model.w.numpy():1.2f}, b = {model.b.numpy():1.2f}, loss={loss:2.5f}"


for epoch in range(10):
    train(model, x, y, learning_rate=0.1)
    current_loss = loss(y, model(x))
    print(f"Epoch {epoch:2d}:")
    print("    ", report(model, current_loss))


class Dense(tf.Module):
    def __init__(self, in_features, out_features, name=None):
        super().__init__(name=name)
        self.w = tf.Variable(tf.ones([in_features, out_features]), name='w')
        self.b = tf.Variable(tf.zeros([out_features]), name='b')

    def __call__(self, x):
        return tf.nn.relu(tf.matmul(x, self.w) + self.b)


class Sequential(tf.Module):
    def __init__(self, name=None):
        super().__init__(name=name)
        self.dense_1 = Dense(in_features=3, out_features=3)
        self.dense_2 = Dense(in_features=3, out_features=2)

    def __call__(self, x):
        return self.dense_2(self.dense_1(x))


net = Sequential(name="the_model")
print("Model results:", net(tf.constant([[2.0, 2.0, 2.0]])))
print(len(net.variables), len(net.trainable_variables), net.name)
with tf.GradientTape() as tape:
    out = tf.reduce_sum(net(tf.constant([[1.0, 2.0, 3.0]])))
for var, g in zip(net.trainable_variables, tape.gradient(out, net.trainable_variables)):
    print(var.name.split(":")[0], var.shape, g.numpy().tolist())
