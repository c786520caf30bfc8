"""Two tasks, one trunk: age and gender from one image, with losses, loss_weights and metrics by name."""
import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import BatchNormalization, Conv2D, Dense, Dropout, Flatten, Input, MaxPool2D, concatenate
from tensorflow.keras.models import Model, load_model
from tensorflow.keras.optimizers import Adam, SGD
from tensorflow.keras.callbacks import Callback, EarlyStopping, LambdaCallback, LearningRateScheduler, TerminateOnNaN
import tensorflow.keras.backend as K

rng = np.random.RandomState(0)
gender = rng.randint(0, 2, 48)
age = rng.randint(10, 80, 48).astype('float32')
X = (rng.rand(48, 12, 12, 1) * 0.3 + gender[:, None, None, None] * 0.3 + age[:, None, None, None] / 200).astype('float32')
meta = rng.rand(48, 3).astype('float32')
age_scaled = age / 80


def build():
    inputs = Input((12, 12, 1), name='image')
    extra = Input((3,), name='meta')
    conv_1 = Conv2D(4, kernel_size=(3, 3), activation='relu', kernel_initializer='he_normal')(inputs)
    maxp_1 = MaxPool2D(pool_size=(2, 2))(conv_1)
    conv_2 = Conv2D(8, kernel_size=(3, 3), padding='same', activation='relu', kernel_regularizer=tf.keras.regularizers.l2(0.001))(maxp_1)
    norm = BatchNormalization(momentum=0.9)(conv_2)
    flatten = Flatten()(norm)
    merged = concatenate([flatten, extra])
    dense_1 = Dense(8, activation='relu')(merged)
    dense_2 = Dense(8, activation='elu', kernel_constraint=tf.keras.constraints.MaxNorm(3))(merged)
    dropout_1 = Dropout(0.0)(dense_1)
    output_1 = Dense(1, activation='sigmoid', name='gender_out')(dropout_1)
    output_2 = Dense(1, activation='relu', name='age_out')(dense_2)
    return Model(inputs=[inputs, extra], outputs=[output_1, output_2], name='age_gender')


model = build()
w = np.random.RandomState(3)
model.set_weights([v if v.ndim == 1 else w.normal(size=v.shape) * 0.15 for v in model.get_weights()])


def r_squared(y_true, y_pred):
    residual = K.sum(K.square(y_true - y_pred))
    total = K.sum(K.square(y_true - K.mean(y_true)))
    return 1 - residual / (total + K.epsilon())


def weighted_mae(y_true, y_pred):
    return K.mean(K.abs(y_true - y_pred) * (1.0 + y_true), axis=-1)


model.compile(optimizer=SGD(learning_rate=0.05, momentum=0.9, nesterov=True),
              loss={'gender_out': 'binary_crossentropy', 'age_out': weighted_mae},
              loss_weights={'gender_out': 1.0, 'age_out': 0.5},
              metrics={'gender_out': ['accuracy', tf.keras.metrics.AUC(name='auc')], 'age_out': ['mae', r_squared]})
model.summary()
print(model.metrics_names, model.output_names, [i.name for i in model.inputs])


class Watch(Callback):
    def on_train_begin(self, logs=None):
        self.losses = []

    def on_batch_end(self, batch, logs=None):
        self.losses.append(float(logs['loss']))

    def on_epoch_end(self, epoch, logs={}):
        rate = K.get_value(self.model.optimizer.learning_rate)
        print('epoch', epoch, 'lr %.4f' % rate, {k: round(float(v), 2) for k, v in sorted(logs.items()) if 'loss' in k})
        if logs.get('gender_out_accuracy') > 2:
            self.model.stop_training = True


watch = Watch()
schedule = LearningRateScheduler(lambda epoch, lr: lr if epoch < 2 else lr * tf.math.exp(-0.1).numpy(), verbose=0)
stop = EarlyStopping(monitor='val_gender_out_loss', mode='min', patience=10, restore_best_weights=True)
shout = LambdaCallback(on_train_end=lambda logs: print('finished'))
history = model.fit(x={'image': X[:40], 'meta': meta[:40]}, y={'gender_out': gender[:40], 'age_out': age_scaled[:40]}, batch_size=10, epochs=4,
                    validation_data=([X[40:], meta[40:]], [gender[40:], age_scaled[40:]]), shuffle=False, verbose=0, callbacks=[watch, schedule, stop, shout, TerminateOnNaN()])
print(sorted(history.history.keys()))
print(len(watch.losses), history.params['epochs'], history.params['steps'])
results = model.evaluate([X[40:], meta[40:]], [gender[40:], age_scaled[40:]], verbose=0, return_dict=True)
print({k: round(v, 2) for k, v in sorted(results.items())})
pred = model.predict([X[40:42], meta[40:42]], verbose=0)
print(type(pred), [p.shape for p in pred], round(pred[1][0][0], 2))
model.save('/tmp/plimsoll_age_gender.keras')
again = load_model('/tmp/plimsoll_age_gender.keras', custom_objects={'r_squared': r_squared, 'weighted_mae': weighted_mae})
print(np.allclose(again.predict([X[:4], meta[:4]], verbose=0)[0], model.predict([X[:4], meta[:4]], verbose=0)[0], atol=1e-5))
sub = Model(model.input, model.get_layer('age_out').output)
print(sub([X[:2], meta[:2]]).shape, [layer.__class__.__name__ for layer in sub.layers][:4], model.loss_weights if hasattr(model, 'loss_weights') else '')
model2 = build()
model2.compile(Adam(1e-3), loss=['binary_crossentropy', 'mse'], loss_weights=[1, 2])
out = model2.train_on_batch([X[:8], meta[:8]], [gender[:8], age_scaled[:8]])
print(len(out), model2.test_on_batch([X[:8], meta[:8]], [gender[:8], age_scaled[:8]], return_dict=True).keys())
