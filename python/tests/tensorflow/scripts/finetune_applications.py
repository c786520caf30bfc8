import numpy as np
import tensorflow as tf
from tensorflow.keras import applications
from tensorflow.keras.applications.mobilenet_v2 import MobileNetV2, decode_predictions, preprocess_input
from tensorflow.keras.layers import Dense, Dropout, GlobalAveragePooling2D
from tensorflow.keras.models import Model
from tensorflow.keras.preprocessing import image
from tensorflow.keras.preprocessing.image import img_to_array, load_img

tf.keras.utils.set_random_seed(1)
IMG_SIZE = (32, 32)
base_model = MobileNetV2(input_shape=IMG_SIZE + (3,), include_top=False, weights=None, alpha=0.35)
base_model.trainable = False
print(len(base_model.layers), base_model.output_shape, base_model.layers[1].name, base_model.name)
preprocess = tf.keras.applications.mobilenet_v2.preprocess_input
rescale = tf.keras.layers.Rescaling(1. / 127.5, offset=-1)
batch = np.random.RandomState(0).randint(0, 256, (6, 32, 32, 3)).astype('float32')
print(np.allclose(preprocess(batch.copy()), rescale(batch), atol=1e-6))
inputs = tf.keras.Input(shape=(32, 32, 3))
data_augmentation = tf.keras.Sequential([tf.keras.layers.RandomFlip('horizontal'), tf.keras.layers.RandomRotation(0.2)])
x = data_augmentation(inputs)
x = preprocess_input(x)
x = base_model(x, training=False)
x = GlobalAveragePooling2D()(x)
x = Dropout(0.2)(x)
outputs = Dense(1, activation='sigmoid')(x)
model = tf.keras.Model(inputs, outputs)
print(len(model.trainable_variables), len(model.layers), model.count_params())
model.compile(optimizer=tf.keras.optimizers.Adam(learning_rate=1e-3), loss=tf.keras.losses.BinaryCrossentropy(), metrics=[tf.keras.metrics.BinaryAccuracy(threshold=0.5, name='accuracy')])
kernel_before = base_model.get_layer('Conv1').get_weights()[0]
mean_before = base_model.get_layer('bn_Conv1').moving_mean.numpy().copy()
labels = np.array([0, 1, 0, 1, 1, 0], 'float32')
h = model.fit(batch, labels, epochs=1, batch_size=3, verbose=0)
print('frozen', np.array_equal(kernel_before, base_model.get_layer('Conv1').get_weights()[0]), np.array_equal(mean_before, base_model.get_layer('bn_Conv1').moving_mean.numpy()), sorted(h.history))
base_model.trainable = True
fine_tune_at = 100
for layer in base_model.layers[:fine_tune_at]:
    layer.trainable = False
print(len(model.trainable_variables), sum(int(tf.size(v)) for v in model.trainable_variables))
model.compile(loss='binary_crossentropy', optimizer=tf.keras.optimizers.RMSprop(learning_rate=1e-5), metrics=['accuracy'])
total = 2
history_fine = model.fit(batch, labels, epochs=total, initial_epoch=h.epoch[-1] + 1, verbose=0)
print(history_fine.epoch, np.array_equal(kernel_before, base_model.get_layer('Conv1').get_weights()[0]))

for name, size in (('ResNet50', 32), ('VGG16', 32), ('EfficientNetB0', 32), ('DenseNet121', 32), ('Xception', 71), ('MobileNetV3Small', 32)):
    net = getattr(applications, name)(weights=None, include_top=False, input_shape=(size, size, 3), pooling='avg')
    print(name, net.output_shape, net.count_params(), len(net.layers))
features = applications.VGG16(weights=None, include_top=False, input_shape=(32, 32, 3))
outputs = [features.get_layer(name).output for name in ('block1_conv1', 'block2_conv1', 'block5_conv3')]
extractor = Model(features.input, outputs)
print([o.shape for o in extractor(applications.vgg16.preprocess_input(batch[:1].copy()))])
print(applications.vgg16.preprocess_input(np.full((1, 1, 1, 3), 10.0)).ravel(), applications.resnet50.preprocess_input(np.zeros((1, 1, 3))).ravel(), applications.imagenet_utils.preprocess_input(np.array([[[0., 128., 255.]]]), mode='torch').ravel().round(3))

array = np.zeros((20, 30, 3), 'uint8')
array[:10, :, 0] = 255
tf.keras.utils.save_img('/tmp/_finetune.png', array)
img = load_img('/tmp/_finetune.png', target_size=(8, 8))
arr = img_to_array(img)
arr = np.expand_dims(arr, axis=0)
print(arr.shape, arr.dtype, arr[0, 0, 0], image.img_to_array(image.load_img('/tmp/_finetune.png', color_mode='grayscale')).shape)


def make_gradcam_heatmap(img_array, model, last_conv_layer_name, pred_index=None):
    grad_model = tf.keras.models.Model(model.inputs, [model.get_layer(last_conv_layer_name).output, model.output])
    with tf.GradientTape() as tape:
        last_conv_layer_output, preds = grad_model(img_array)
        if pred_index is None:
            pred_index = tf.argmax(preds[0])
        class_channel = preds[:, pred_index]
    grads = tape.gradient(class_channel, last_conv_layer_output)
    pooled_grads = tf.reduce_mean(grads, axis=(0, 1, 2))
    last_conv_layer_output = last_conv_layer_output[0]
    heatmap = last_conv_layer_output @ pooled_grads[..., tf.newaxis]
    heatmap = tf.squeeze(heatmap)
    heatmap = tf.maximum(heatmap, 0) / tf.math.reduce_max(heatmap)
    return heatmap.numpy()


cnn_in = tf.keras.Input((8, 8, 3))
cnn_out = tf.keras.layers.ReLU()(tf.keras.layers.Conv2D(4, 3, name='last_conv')(cnn_in))
cnn = tf.keras.Model(cnn_in, Dense(3, name='logits')(GlobalAveragePooling2D()(cnn_out)))
r = np.random.RandomState(3)
cnn.set_weights([r.normal(size=w.shape) for w in cnn.get_weights()])
heat = make_gradcam_heatmap(arr / 255., cnn, 'last_conv', 1)
print(heat.shape, heat.round(3)[0])
top = np.zeros((1, 1000), 'float32')
top[0, 281] = 1.0
try:
    print(decode_predictions(top, top=1))
except Exception as e:
    print('decode needs a download')
clone = tf.keras.models.clone_model(cnn)
clone.set_weights(cnn.get_weights())
print(np.allclose(clone(arr), cnn(arr)), [type(l).__name__ for l in clone.layers])
summary = []
cnn.summary(print_fn=lambda s: summary.append(s))
print(sum('last_conv' in s for s in summary) > 0)
