"""Names of layers, for what a step has recorded in them: reports of memory say them."""
from keras.src.backend.common import name_scope as common

from keras_plimsoll.src import engine


class name_scope(common.name_scope):
    _step = None

    def __enter__(self):
        super().__enter__()
        self._step = engine.current_step()
        if self._step is not None:
            self._before = self._step.trace.set_layer(self.name)
        return self

    def __exit__(self, *args, **kwargs):
        if self._step is not None:
            self._step.trace.set_layer(self._before)
            self._step = None
        super().__exit__(*args, **kwargs)
