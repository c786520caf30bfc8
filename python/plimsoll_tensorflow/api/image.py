from plimsoll_tensorflow import hints as _hints
from plimsoll_tensorflow import images as _images
from plimsoll_tensorflow.image_boxes import (  # noqa: F401
    combined_non_max_suppression, crop_and_resize, draw_bounding_boxes, non_max_suppression, non_max_suppression_overlaps, non_max_suppression_padded,
    non_max_suppression_with_scores)
from plimsoll_tensorflow.image_measures import image_gradients, sobel_edges, ssim  # noqa: F401

globals().update({name: f for name, f in vars(_images).items()
                  if getattr(f, "__module__", "") == _images.__name__ and not name.startswith("_")})
random_flip_left_right, random_flip_up_down = _images.random_flip_left_right, _images.random_flip_up_down
decode_jpeg = decode_png = decode_bmp = decode_gif = _images.decode_image
adjust_brightness, adjust_contrast, adjust_gamma = _images.adjust_brightness, _images.adjust_contrast, _images.adjust_gamma
random_crop = _images.random_crop
globals().update({name: f for name, f in vars(_images).items() if name.startswith("stateless_")})
__getattr__ = _hints.getter("image")
