"""Kaggle-like tabular notebook: pandas, own K-fold, class weights, focal loss, custom F1, callbacks, out-of-fold predictions."""
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import gc
import random

import numpy as np
import pandas as pd
import tensorflow as tf
import tensorflow.keras.backend as K
from tensorflow.keras import Model, layers, regularizers
from tensorflow.keras.callbacks import Callback, EarlyStopping, LearningRateScheduler, ModelCheckpoint, ReduceLROnPlateau
from tensorflow.keras.layers import BatchNormalization, Concatenate, Dense, Dropout, Embedding, Flatten, Input
from tensorflow.keras.models import load_model
from tensorflow.keras.optimizers import Adam
from tensorflow.keras.utils import to_categorical

SEED = 42


def seed_everything(seed):
    random.seed(seed)
    np.random.seed(seed)
    os.environ["PYTHONHASHSEED"] = str(seed)
    tf.random.set_seed(seed)
    tf.keras.utils.set_random_seed(seed)


seed_everything(SEED)
gpus = tf.config.experimental.list_physical_devices("GPU")
for gpu in gpus:
    tf.config.experimental.set_memory_growth(gpu, True)
rng = np.random.default_rng(SEED)
df = pd.DataFrame({"num1": rng.normal(size=120), "num2": rng.exponential(size=120), "cat": rng.choice(list("abcd"), 120), "city": rng.choice(["x", "y"], 120)})
df["target"] = ((df.num1 + (df.cat == "a") * 1.5 - df.num2 * 0.3) > 0).astype(int)
df.loc[::17, "num1"] = np.nan
df["num1"] = df["num1"].fillna(df["num1"].mean())
for c in ("cat", "city"):
    df[c] = df[c].astype("category").cat.codes
for c in ("num1", "num2"):
    df[c] = (df[c] - df[c].mean()) / df[c].std()
print(df.shape, df.target.mean().round(3))


def focal_loss(gamma=2.0, alpha=0.25):
    def loss(y_true, y_pred):
        y_true = tf.cast(y_true, tf.float32)
        y_pred = K.clip(y_pred, K.epsilon(), 1 - K.epsilon())
        pt = tf.where(tf.equal(y_true, 1), y_pred, 1 - y_pred)
        at = tf.where(K.equal(y_true, 1), alpha * K.ones_like(y_pred), (1 - alpha) * K.ones_like(y_pred))
        return K.mean(-at * K.pow(1.0 - pt, gamma) * K.log(pt), axis=-1)

    return loss


class F1(tf.keras.metrics.Metric):
    def __init__(self, name="f1", threshold=0.5, **kwargs):
        super(F1, self).__init__(name=name, **kwargs)
        self.threshold = threshold
        self.p, self.r = tf.keras.metrics.Precision(threshold), tf.keras.metrics.Recall(threshold)

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.p.update_state(y_true, y_pred, sample_weight)
        self.r.update_state(y_true, y_pred, sample_weight)

    def result(self):
        p, r = self.p.result(), self.r.result()
        return 2 * ((p * r) / (p + r + K.epsilon()))

    def reset_state(self):
        self.p.reset_state()
        self.r.reset_state()


def f1_m(y_true, y_pred):
    y_true = K.cast(y_true, "float32")
    tp = K.sum(K.round(K.clip(y_true * y_pred, 0, 1)))
    predicted = K.sum(K.round(K.clip(y_pred, 0, 1)))
    possible = K.sum(K.round(K.clip(y_true, 0, 1)))
    precision, recall = tp / (predicted + K.epsilon()), tp / (possible + K.epsilon())
    return 2 * precision * recall / (precision + recall + K.epsilon())


def build_model():
    cats, embs = [], []
    for c, n in (("cat", 4), ("city", 2)):
        inp = Input(shape=(1,), name=c)
        cats.append(inp)
        embs.append(Flatten()(Embedding(n, 2, name="emb_" + c)(inp)))
    num = Input(shape=(2,), name="num")
    x = Concatenate()(embs + [num])
    x = BatchNormalization()(x)
    x = Dense(16, activation="swish", kernel_regularizer=regularizers.l2(1e-4))(x)
    x = Dropout(0.0)(x)
    out = Dense(1, activation="sigmoid")(x)
    model = Model(inputs=cats + [num], outputs=out)
    w = np.random.default_rng(3)
    for v in model.trainable_variables:
        if "gamma" not in v.path:
            v.assign(w.normal(0, 0.3, v.shape))
    model.compile(optimizer=Adam(learning_rate=1e-2), loss=focal_loss(), metrics=["accuracy", tf.keras.metrics.AUC(name="auc"), F1(), f1_m])
    return model


class Show(Callback):
    def __init__(self, every):
        super().__init__()
        self.every = every

    def on_epoch_end(self, epoch, logs={}):
        if epoch % self.every == 0:
            print(f"epoch {epoch}", {k: round(float(v), 2) for k, v in sorted(logs.items()) if k in ("loss", "val_loss", "f1", "val_auc")})


def split(d):
    return [d["cat"].values, d["city"].values, d[["num1", "num2"]].values]


oof = np.zeros(len(df))
folds = np.arange(len(df)) % 3
for fold in range(3):
    K.clear_session()
    gc.collect()
    tr, va = df[folds != fold], df[folds == fold]
    model = build_model()
    callbacks = [EarlyStopping(monitor="val_loss", patience=3, restore_best_weights=True, mode="min", verbose=0), ReduceLROnPlateau(monitor="val_loss", factor=0.5, patience=1, verbose=0, min_lr=1e-5),
                 ModelCheckpoint(f"fold{fold}.keras", monitor="val_auc", mode="max", save_best_only=True, verbose=0), Show(2)]
    weights = {0: 1.0, 1: float((tr.target == 0).sum() / (tr.target == 1).sum())}
    h = model.fit(split(tr), tr.target, validation_data=(split(va), va.target.values), epochs=4, batch_size=16, shuffle=False, verbose=0, callbacks=callbacks, class_weight=weights)
    best = load_model(f"fold{fold}.keras", custom_objects={"loss": focal_loss(), "F1": F1, "f1_m": f1_m})
    oof[folds == fold] = best.predict(split(va), batch_size=64, verbose=0).ravel()
    print(fold, round(h.history["loss"][-1], 4), round(max(h.history["val_auc"]), 2))
print("accuracy", np.mean((oof > 0.5) == df.target.values).round(2) > 0.5)
auc = tf.keras.metrics.AUC()
auc.update_state(df.target.values, oof)
print(round(auc.result().numpy(), 2) > 0.7, tf.math.confusion_matrix(df.target.values, (oof > 0.5).astype(int)).numpy().sum())
print(to_categorical(df.target.values[:3], 2))
print(tf.keras.backend.floatx(), K.int_shape(model.input[2]), K.image_data_format())
submission = pd.DataFrame({"id": np.arange(len(oof)), "target": oof})
submission.to_csv("submission.csv", index=False)
print(open("submission.csv").readline().strip())
