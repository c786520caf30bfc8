"""Translation with attention: custom standardisation, TextVectorization, cross attention, masked loss, greedy translation, an exported module."""
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(1)
context_raw = np.array(["¿Todavía está en casa?", "Hola.", "Es la verdad.", "Me gusta el café.", "Corre!", "¿Quién es?", "Ella lee un libro.", "Vamos a casa."])
target_raw = np.array(["Are you still at home?", "Hi.", "It is the truth.", "I like coffee.", "Run!", "Who is it?", "She reads a book.", "We go home."])
BATCH_SIZE = 4
is_train = rng.uniform(size=(len(target_raw),)) < 2
train_raw = tf.data.Dataset.from_tensor_slices((context_raw[is_train], target_raw[is_train])).batch(BATCH_SIZE)
for c, t in train_raw.take(1):
    print(c[:2], t[0].numpy().decode())


def tf_lower_and_split_punct(text):
    text = tf.strings.lower(text)
    text = tf.strings.regex_replace(text, "[^ a-z.?!,¿áéíóúñ]", "")
    text = tf.strings.regex_replace(text, "[.?!,¿]", r" \0 ")
    text = tf.strings.strip(text)
    return tf.strings.join(["[START]", text, "[END]"], separator=" ")


example_text = tf.constant("¿Todavía está en casa?")
print(example_text.numpy().decode())
print(tf_lower_and_split_punct(example_text).numpy().decode())
print(tf.strings.length(example_text).numpy(), tf.strings.length(example_text, unit="UTF8_CHAR").numpy())
context_tp = tf.keras.layers.TextVectorization(standardize=tf_lower_and_split_punct, max_tokens=100, ragged=True)
context_tp.adapt(train_raw.map(lambda c, t: c))
print(context_tp.get_vocabulary()[:6])
target_tp = tf.keras.layers.TextVectorization(standardize=tf_lower_and_split_punct, max_tokens=100, ragged=True)
target_tp.adapt(train_raw.map(lambda c, t: t))
tokens = context_tp(context_raw[:2])
print(tokens[:, :4])
vocab = np.array(context_tp.get_vocabulary())
print(" ".join(vocab[tokens[0].numpy()]))


def process_text(context, target):
    context = context_tp(context).to_tensor()
    target = target_tp(target)
    return (context, target[:, :-1].to_tensor()), target[:, 1:].to_tensor()


train_ds = train_raw.map(process_text, tf.data.AUTOTUNE)
for (ex_c, ex_i), ex_o in train_ds.take(1):
    print(ex_c.shape, ex_i[0].numpy(), ex_o[0].numpy())
UNITS = 8


class Encoder(tf.keras.layers.Layer):
    def __init__(self, tp, units):
        super().__init__()
        self.embedding = tf.keras.layers.Embedding(tp.vocabulary_size(), units, mask_zero=True)
        self.rnn = tf.keras.layers.Bidirectional(merge_mode="sum", layer=tf.keras.layers.GRU(units, return_sequences=True, recurrent_initializer="glorot_uniform"))

    def call(self, x):
        return self.rnn(self.embedding(x))

    def convert_input(self, texts):
        texts = tf.convert_to_tensor(texts)
        if len(texts.shape) == 0:
            texts = tf.convert_to_tensor(texts)[tf.newaxis]
        return self(context_tp(texts).to_tensor())


class CrossAttention(tf.keras.layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__()
        self.mha = tf.keras.layers.MultiHeadAttention(key_dim=units, num_heads=1, **kwargs)
        self.layernorm, self.add = tf.keras.layers.LayerNormalization(), tf.keras.layers.Add()

    def call(self, x, context):
        attn_output, attn_scores = self.mha(query=x, value=context, return_attention_scores=True)
        attn_scores = tf.reduce_mean(attn_scores, axis=1)
        self.last_attention_weights = attn_scores
        return self.layernorm(self.add([x, attn_output]))


class Decoder(tf.keras.layers.Layer):
    def __init__(self, tp, units):
        super().__init__()
        self.vocab_size = tp.vocabulary_size()
        self.word_to_id = tf.keras.layers.StringLookup(vocabulary=tp.get_vocabulary(), mask_token="", oov_token="[UNK]")
        self.id_to_word = tf.keras.layers.StringLookup(vocabulary=tp.get_vocabulary(), mask_token="", oov_token="[UNK]", invert=True)
        self.start_token, self.end_token = self.word_to_id("[START]"), self.word_to_id("[END]")
        self.units = units
        self.embedding = tf.keras.layers.Embedding(self.vocab_size, units, mask_zero=True)
        self.rnn = tf.keras.layers.GRU(units, return_sequences=True, return_state=True)
        self.attention = CrossAttention(units)
        self.output_layer = tf.keras.layers.Dense(self.vocab_size)

    def call(self, context, x, state=None, return_state=False):
        x = self.embedding(x)
        x, state = self.rnn(x, initial_state=state)
        x = self.attention(x, context)
        logits = self.output_layer(x)
        return (logits, state) if return_state else logits

    def get_initial_state(self, context):
        batch_size = tf.shape(context)[0]
        start_tokens = tf.fill([batch_size, 1], self.start_token)
        done = tf.zeros([batch_size, 1], dtype=tf.bool)
        return start_tokens, done, self.rnn.get_initial_state(batch_size)[0]

    def tokens_to_text(self, tokens):
        words = self.id_to_word(tokens)
        result = tf.strings.reduce_join(words, axis=-1, separator=" ")
        result = tf.strings.regex_replace(result, r"^ *\[START\] *", "")
        return tf.strings.regex_replace(result, r" *\[END\] *$", "")

    def get_next_token(self, context, next_token, done, state, temperature=0.0):
        logits, state = self(context, next_token, state=state, return_state=True)
        if temperature == 0.0:
            next_token = tf.argmax(logits, axis=-1)
        else:
            next_token = tf.random.categorical(logits[:, -1, :] / temperature, num_samples=1)
        done = done | (next_token == self.end_token)
        next_token = tf.where(done, tf.constant(0, dtype=tf.int64), next_token)
        return next_token, done, state


class Translator(tf.keras.Model):
    def __init__(self, units):
        super().__init__()
        self.encoder, self.decoder = Encoder(context_tp, units), Decoder(target_tp, units)

    def call(self, inputs):
        context, x = inputs
        return self.decoder(self.encoder(context), x)

    def translate(self, texts, *, max_length=5, temperature=0.0):
        context = self.encoder.convert_input(texts)
        tokens, attention = [], []
        next_token, done, state = self.decoder.get_initial_state(context)
        for _ in range(max_length):
            next_token, done, state = self.decoder.get_next_token(context, next_token, done, state, temperature)
            tokens.append(next_token)
            attention.append(self.decoder.attention.last_attention_weights)
            if tf.executing_eagerly() and tf.reduce_all(done):
                break
        tokens = tf.concat(tokens, axis=-1)
        self.last_attention_weights = tf.concat(attention, axis=1)
        return self.decoder.tokens_to_text(tokens)


def masked_loss(y_true, y_pred):
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")(y_true, y_pred)
    mask = tf.cast(y_true != 0, loss.dtype)
    return tf.reduce_sum(loss * mask) / tf.reduce_sum(mask)


def masked_acc(y_true, y_pred):
    y_pred = tf.cast(tf.argmax(y_pred, axis=-1), y_true.dtype)
    match, mask = tf.cast(y_true == y_pred, tf.float32), tf.cast(y_true != 0, tf.float32)
    return tf.reduce_sum(match) / tf.reduce_sum(mask)


model = Translator(UNITS)
print(model((ex_c, ex_i)).shape)
w = np.random.default_rng(3)
for v in model.trainable_variables:
    if "gamma" not in v.path:
        v.assign(w.normal(0, 0.3, v.shape))
model.compile(optimizer=tf.keras.optimizers.SGD(0.1), loss=masked_loss, metrics=[masked_acc, masked_loss])
h = model.fit(train_ds.repeat(), epochs=2, steps_per_epoch=4, validation_data=train_ds, validation_steps=1, verbose=0)
for k in sorted(h.history):
    print(k, np.round(h.history[k], 2))
out = model.translate(["¿Quién es?", "Hola."])
print(out.shape, out.dtype, model.last_attention_weights.shape)


class Export(tf.Module):
    def __init__(self, model):
        self.model = model

    @tf.function(input_signature=[tf.TensorSpec(dtype=tf.string, shape=[None])])
    def translate(self, inputs):
        return self.model.translate(inputs)


exported = Export(model)
print(bool(tf.reduce_all(exported.translate(tf.constant(["Hola.", "Es la verdad."])) == model.translate(["Hola.", "Es la verdad."]))))
