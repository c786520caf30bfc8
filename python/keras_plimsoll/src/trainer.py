"""fit, evaluate and predict: each kind of step is traced once for a batch of given shapes, and run as one Program of the engine."""
import functools
import warnings
import weakref

import numpy as np
from keras.src import backend, callbacks as callbacks_module, optimizers as optimizers_module, tree
from keras.src.backend import config
from keras.src.backend.common.keras_tensor import KerasTensor
from keras.src.trainers import trainer as base_trainer
from keras.src.trainers.data_adapters import array_slicing, data_adapter_utils
from keras.src.trainers.epoch_iterator import EpochIterator
from keras.src.utils import traceback_utils
from keras.src.utils.python_utils import is_default, pythonify_logs

from keras_plimsoll.src import planner, tensors
from keras_plimsoll.src.feed import feed_of
from keras_plimsoll.src.functions import gradients
from keras_plimsoll.src.nan_gate import gate_step
from keras_plimsoll.src.ops.core import convert_to_numpy, convert_to_tensor
from keras_plimsoll.src.steps import EagerSteps, Steps, Workshop, attempt, is_array, run_outside
from plimsoll import memory, watch
from plimsoll.tracing import stretch

FOREVER = float("inf")
BAR_SECONDS = 0.05  # between updates of the progress bar
SAVERS = (callbacks_module.ModelCheckpoint, callbacks_module.BackupAndRestore)


def _watches(callback, kind):
    """Whether a callback wants to see each batch."""
    if isinstance(callback, callbacks_module.ProgbarLogger):
        return False
    hooks = [f"on_{kind}_batch_begin", f"on_{kind}_batch_end"]
    if isinstance(callback, SAVERS) and callback.save_freq == "epoch":
        saver = next(s for s in SAVERS if isinstance(callback, s))
        return any(getattr(type(callback), hook) is not getattr(saver, hook) for hook in hooks)
    hooks += ["on_batch_begin", "on_batch_end"] if kind == "train" else []
    return not all(is_default(getattr(callback, hook)) for hook in hooks)


def _sets_things_up(callback):
    """Whether a callback is called before the first batch, and may set what the step is traced with."""
    own = isinstance(callback, (callbacks_module.ProgbarLogger, callbacks_module.History))
    return not own and not all(is_default(getattr(callback, hook)) for hook in ("on_epoch_begin", "on_train_batch_begin", "on_batch_begin"))


class _Pace:
    """How many batches at most, and for how many seconds, run before callbacks are called."""

    def __init__(self, callbacks, kind, steps_per_execution):
        self.watched = any(_watches(c, kind) for c in callbacks.callbacks)
        self.each = steps_per_execution
        self.bar = any(isinstance(c, callbacks_module.ProgbarLogger) and c.verbose == 1 for c in callbacks.callbacks)
        self.seconds = BAR_SECONDS if self.bar and not self.watched else FOREVER

    def most(self, at, batches):
        if self.watched:
            return self.each
        return 1 if self.bar and at == 0 else batches  # the bar leaves the first step out of its mean

    def end(self, begin, end):
        return begin + self.each - 1 if self.watched else end - 1


_NO_DATA = "Expected at least one record, got none: the data is empty, or ended before its first batch."


class Trainer(base_trainer.Trainer):
    def __init__(self):
        super().__init__()
        self.train_function = None
        self.test_function = None
        self.predict_function = None

    def train_step(self, data):
        x, y, sample_weight = data_adapter_utils.unpack_x_y_sample_weight(data)
        y_pred = self(x, training=True) if self._call_has_training_arg else self(x)
        loss = self._compute_loss(x=x, y=y, y_pred=y_pred, sample_weight=sample_weight, training=True)
        self._loss_tracker.update_state(loss, sample_weight=_batch_size(x))
        scaled = loss if self.optimizer is None else self.optimizer.scale_loss(loss)
        if self.trainable_weights:
            trainable = self.trainable_weights[:]
            grads = gradients(scaled, trainable)
            gate_step(loss, grads, self.optimizer, trainable)
            self.optimizer.apply(grads, trainable)
        else:
            warnings.warn("The model does not have any trainable weights.")
        return self.compute_metrics(x, y, y_pred, sample_weight=sample_weight)

    def test_step(self, data):
        x, y, sample_weight = data_adapter_utils.unpack_x_y_sample_weight(data)
        y_pred = self(x, training=False) if self._call_has_training_arg else self(x)
        loss = self._compute_loss(x=x, y=y, y_pred=y_pred, sample_weight=sample_weight, training=False)
        self._loss_tracker.update_state(loss, sample_weight=_batch_size(x))
        return self.compute_metrics(x, y, y_pred, sample_weight=sample_weight)

    def predict_step(self, data):
        x, _, _ = data_adapter_utils.unpack_x_y_sample_weight(data)
        return self(x, training=False) if self._call_has_training_arg else self(x)

    def _without_losses(self, step):
        """What layers add to their losses in a step is gone with it: outside it has no values."""

        @functools.wraps(step)
        def run(data):
            try:
                return step(data)
            finally:
                self._clear_losses()

        return run

    def _forget_other_layers(self):
        """A Sequential that was added to or popped from since is another model: what was traced of it goes."""
        if self.__dict__.get("_traced_of") is not getattr(self, "_functional", None):
            self.train_function = self.test_function = self.predict_function = None
            self.__dict__["_traced_of"] = self._functional

    def make_train_function(self, force=False):
        self._forget_other_layers()
        if self.train_function is None or force:
            self.train_function = _over_batches(self._steps(self.train_step), self._refusing("train"))
        return self.train_function

    def make_test_function(self, force=False):
        self._forget_other_layers()
        if self.test_function is None or force:
            self.test_function = _over_batches(self._steps(self.test_step), self._refusing("test"))
        return self.test_function

    def make_predict_function(self, force=False):
        self._forget_other_layers()
        if self.predict_function is None or force:
            self.predict_function = _concatenated(self._steps(self.predict_step))
        return self.predict_function

    def _steps(self, function):
        function = self._without_losses(function)
        if self.run_eagerly:
            return EagerSteps(function)
        if getattr(self, "_workshop", None) is None:
            self._workshop = Workshop()
        return Steps(function, self._workshop)

    def _largest_batch(self, iterator):
        self._symbolic_build(iterator=iterator, optimizer=False)
        iterator.reset()
        return planner.largest_batch(self, _feed(iterator, self.make_train_function()))

    def _prepare(self, feed, kind="train", what="[fit] a batch", validation=None):
        """The Programs of the first batch and of a smaller last one; a refusal says what would fit."""
        steps = getattr(self, f"{kind}_function").steps

        def ready():
            if memory.is_drawn() and feed.full and feed.rest:
                feed.ready(steps, feed.full)
            feed.ready(steps, 0)

        refused, _ = attempt(ready)
        if refused is not None:
            raise self._refusal(feed, refused, kind, what, validation)

    def _prepare_validation(self, feed, training):
        refused, _ = attempt(lambda: self._prepare(feed, "test", "[fit] validation with a batch"))
        if refused is None:
            return
        if training is None:
            raise refused
        plan = self._plan(feed, "test", training, "train")
        room = memory.memory_use().limit - memory.memory_use().engine
        if plan.more(1, least=True) > room:  # with no batch of validation: it is training that does not fit
            raise self._refusal(training, refused, validation=feed)
        raise plan.refusal(feed.most, refused, "[fit] validation with a batch")

    def _plan(self, feed, kind, beside=None, beside_kind=None):
        other = None if beside is None else (self._plan(beside, beside_kind), beside.most)
        return planner.Plan(self, feed.types, feed.spec, feed.count, kind, other)

    def _refusal(self, feed, error, kind="train", what="[fit] a batch", validation=None):
        if feed is None:
            return error
        return attempt(lambda: self._plan(feed, kind, validation, "test").refusal(feed.most, error, what))[1] or error

    def _refusing(self, kind):
        """Makes a refusal of a batch that nobody knew of before."""
        model = weakref.ref(self)

        def refusal(batch, error):
            plan, rows = planner.plan_of(model(), batch, kind)
            return attempt(lambda: plan.refusal(rows, error, f"[{kind}] a batch"))[1] or error

        return refusal

    def _build_to_train(self, iterator):
        refused, _ = attempt(lambda: self._symbolic_build(iterator=iterator))
        iterator.reset()
        if refused is None:
            return
        feed = _feed(iterator, self.make_train_function())  # what does not fit is what the optimizer keeps
        if feed is not None:
            raise self._refusal(feed, refused)
        raise self._refusing("train")(next(_batches(iterator)), refused)

    def _current(self, kind, function, batch):
        """After a compile() in a callback the next batch, which batch() gives, is that of the new optimizer, losses and metrics."""
        if getattr(self, f"{kind}_function") is not None:
            return function
        self._symbolic_build(data_batch=batch())
        made = getattr(self, f"make_{kind}_function")()
        if type(made.steps) is not type(function.steps):
            raise ValueError("[fit] run_eagerly cannot change in a callback: call compile(run_eagerly=...) before fit()")
        made.steps.nans = getattr(function.steps, "nans", None)
        return made

    def _run_batches(self, kind, iterator, feed, function, callbacks, guard=watch.Unwatched(), prepare=None):
        """Over one epoch: the logs of its last batch. `prepare`: called once the callbacks of the first batch have set what they want to be traced."""
        begin_hook, end_hook = (getattr(callbacks, f"on_{kind}_batch_{edge}") for edge in ("begin", "end"))
        stop = {"train": "stop_training", "test": "stop_evaluating"}[kind]
        logs = {}
        if feed is None:
            for begin, end, data in watch.waited_for(iterator, guard):
                begin_hook(begin)
                function = self._current(kind, function, lambda: data[0] if isinstance(data, (list, tuple)) else None)
                guard.step()
                logs = function(data)
                guard.callbacks()
                end_hook(end, pythonify_logs(logs))
                if getattr(self, stop):
                    break
            return logs
        at, pace = 0, _Pace(callbacks, kind, self.steps_per_execution)
        feed.begin_epoch()
        while at < feed.batches and not getattr(self, stop):
            begin = at
            begin_hook(begin)
            function = self._current(kind, function, feed.sample)
            guard.step()
            if prepare is not None:
                prepare(feed)
                prepare = None
            at, logs = feed.run(function.steps, begin, pace.most(begin, feed.batches), pace.seconds)
            guard.callbacks()
            end_hook(pace.end(begin, at), pythonify_logs(logs))
        return logs

    def _symbolic_build(self, iterator=None, data_batch=None, optimizer=True):
        """Makes all variables of the model, its metrics, its loss and its optimizer, without running anything."""
        if type(self).call.__qualname__ == "Model.call":  # it has a train_step of its own, whose trace makes what is missing
            return
        unbuilt_model = not all(layer.built for layer in self._flatten_layers())
        unbuilt_metrics = self._compile_metrics is not None and not self._compile_metrics.built
        unbuilt_loss = self._compile_loss is not None and not self._compile_loss.built
        if unbuilt_model or unbuilt_metrics or unbuilt_loss:
            if data_batch is None:
                for _, _, data_or_iterator in iterator:
                    data_batch = data_or_iterator[0] if isinstance(data_or_iterator, (list, tuple)) else next(data_or_iterator)
                    break
            if data_batch is None:
                raise ValueError(_NO_DATA)

            if any(isinstance(leaf, tensors.outside) for leaf in tree.flatten(data_batch)):
                run_outside(self._without_losses(self.test_step), data_batch)  # what the engine cannot trace is built by calling it
                self.reset_metrics()
                unbuilt_model = unbuilt_metrics = unbuilt_loss = False

        if unbuilt_model or unbuilt_metrics or unbuilt_loss:
            def symbolic(x):
                return KerasTensor(x.shape, backend.standardize_dtype(x.dtype)) if is_array(x) else x

            x, y, sample_weight = data_adapter_utils.unpack_x_y_sample_weight(tree.map_structure(symbolic, data_batch))
            try:
                y_pred = backend.compute_output_spec(self, x, training=False) if self._call_has_training_arg else \
                    backend.compute_output_spec(self, x)
            except ValueError:
                raise
            except Exception as error:
                raise RuntimeError(
                    "Unable to automatically build the model. Please build it yourself before calling fit/evaluate/predict. "
                    "A model is 'built' when its variables have been created and its `self.built` attribute is True. "
                    "Usually, calling the model on a batch of data is the right way to build it.\n"
                    f"Exception encountered:\n'{error}'"
                ) from error
            if unbuilt_metrics:
                backend.compute_output_spec(self.compute_metrics, x, y, y_pred, sample_weight=sample_weight)
            if unbuilt_loss:
                backend.compute_output_spec(self._compute_loss, x, y, y_pred, sample_weight=sample_weight, training=False)
        if optimizer and self.optimizer is not None and not self.optimizer.built:
            _build_whole(self.optimizer, self.trainable_variables)
        self._post_build()

    @traceback_utils.filter_traceback
    def fit(self, x=None, y=None, batch_size=None, epochs=1, verbose="auto", callbacks=None, validation_split=0.0,
            validation_data=None, shuffle=True, class_weight=None, sample_weight=None, initial_epoch=0, steps_per_epoch=None,
            validation_steps=None, validation_batch_size=None, validation_freq=1):
        self._assert_compile_called("fit")
        epochs = min(epochs, config.max_epochs() or epochs)
        self._eval_epoch_iterator = None
        val_x = val_y = val_sample_weight = None
        if validation_split and validation_data is None:
            (x, y, sample_weight), validation_data = array_slicing.train_validation_split(
                (x, y, sample_weight), validation_split=validation_split)
        if validation_data is not None:
            val_x, val_y, val_sample_weight = data_adapter_utils.unpack_x_y_sample_weight(validation_data)
        epoch_iterator = functools.partial(
            EpochIterator, x=x, y=y, sample_weight=sample_weight, steps_per_epoch=steps_per_epoch, shuffle=shuffle,
            class_weight=class_weight, steps_per_execution=self.steps_per_execution)
        if batch_size == "max":
            batch_size = self._largest_batch(epoch_iterator(batch_size=1))
        iterator = epoch_iterator(batch_size=batch_size)
        self._build_to_train(iterator)
        callbacks = self._callbacks_of(callbacks, verbose, epochs, iterator.num_batches)
        self.stop_training = False
        function = self.make_train_function()
        feed = _feed(iterator, function)
        function.steps.nans = watch.begin()
        callbacks.on_train_begin()
        validation_iterator = functools.partial(
            EpochIterator, x=val_x, y=val_y, sample_weight=val_sample_weight, batch_size=validation_batch_size or batch_size,
            steps_per_execution=self.steps_per_execution, steps_per_epoch=validation_steps, shuffle=False)
        validation_feed = None
        if validation_data is not None and memory.is_drawn():  # what does not fit is refused before the first batch
            self._eval_epoch_iterator = validation_iterator()
            if (validation_feed := _feed(self._eval_epoch_iterator, self.make_test_function())) is not None:
                self._prepare_validation(validation_feed, feed)
        if feed is not None and memory.is_drawn():
            self._prepare(feed, validation=validation_feed)
            if any(map(_sets_things_up, callbacks.callbacks)):  # what they set is to be traced: once more then, as where no line is
                function.steps.programs.clear()
        training_logs, logs, prepare = {}, {}, self._prepare
        initial_epoch = self._initial_epoch or initial_epoch
        for epoch in range(initial_epoch, epochs):
            self.reset_metrics()
            callbacks.on_epoch_begin(epoch)
            with iterator.catch_stop_iteration(), stretch(f"epoch {epoch + 1}"), watch.stall_guard() as guard:
                logs = self._run_batches("train", iterator, feed, function, callbacks, guard, prepare)
            function, prepare = self.train_function or function, None
            epoch_logs = dict(pythonify_logs(self._get_metrics_result_or_logs(logs)))
            if validation_data is not None and self._should_eval(epoch, validation_freq):
                if getattr(self, "_eval_epoch_iterator", None) is None:
                    self._eval_epoch_iterator = validation_iterator()
                val_logs = self.evaluate(x=val_x, y=val_y, sample_weight=val_sample_weight,
                                         batch_size=validation_batch_size or batch_size, steps=validation_steps,
                                         callbacks=callbacks, return_dict=True, _use_cached_eval_dataset=True)
                epoch_logs.update({f"val_{name}": value for name, value in pythonify_logs(val_logs).items()})
            callbacks.on_epoch_end(epoch, epoch_logs)
            training_logs = epoch_logs
            if self.stop_training:
                break
        if isinstance(self.optimizer, optimizers_module.Optimizer) and epochs > 0:
            self.optimizer.finalize_variable_values(self.trainable_weights)
        self._eval_epoch_iterator = None
        callbacks.on_train_end(logs=training_logs)
        return self.history

    @traceback_utils.filter_traceback
    def evaluate(self, x=None, y=None, batch_size=None, verbose="auto", sample_weight=None, steps=None, callbacks=None,
                 return_dict=False, **kwargs):
        self._assert_compile_called("evaluate")
        cached = kwargs.pop("_use_cached_eval_dataset", False)
        if kwargs:
            raise ValueError(f"Arguments not recognized: {kwargs}")
        if cached:
            iterator = self._eval_epoch_iterator
        else:
            iterator = EpochIterator(x=x, y=y, sample_weight=sample_weight, batch_size=batch_size, steps_per_epoch=steps,
                                     shuffle=False, steps_per_execution=self.steps_per_execution)
        self._symbolic_build(iterator=iterator)
        iterator.reset()
        callbacks = self._callbacks_of(callbacks, verbose, 1, iterator.num_batches)
        feed = _feed(iterator, self.make_test_function())
        self.stop_evaluating = False
        callbacks.on_test_begin()
        self.reset_metrics()
        if feed is not None:
            self._prepare(feed, "test", "[evaluate] a batch")
        logs = self._run_batches("test", iterator, feed, self.test_function, callbacks)
        logs = pythonify_logs(self._get_metrics_result_or_logs(logs))
        callbacks.on_test_end(logs)
        return logs if return_dict else self._flatten_metrics_in_order(logs)

    @traceback_utils.filter_traceback
    def predict(self, x, batch_size=None, verbose="auto", steps=None, callbacks=None):
        iterator = EpochIterator(x=x, batch_size=batch_size, steps_per_epoch=steps, shuffle=False,
                                 steps_per_execution=self.steps_per_execution)
        if not all(layer.built for layer in self._flatten_layers()):
            for _, _, data in iterator:
                self(data_adapter_utils.unpack_x_y_sample_weight(data[0])[0])
                break
            iterator.reset()
        callbacks = self._callbacks_of(callbacks, verbose, 1, iterator.num_batches)
        feed = _feed(iterator, self.make_predict_function())
        refused, places = attempt(lambda: None if feed is None else feed.places_for(self.predict_function.steps))
        if refused is not None:
            raise self._refusal(feed, refused, "predict", "[predict] a batch")
        self.stop_predicting = False
        callbacks.on_predict_begin()
        if places is None:
            outputs = self._predict_batches(iterator, callbacks)
        else:
            outputs = self._predict_rows(feed, *places, callbacks)
        callbacks.on_predict_end()
        return outputs

    def _predict_batches(self, iterator, callbacks):
        outputs, batch_outputs = None, None
        for begin, end, data in iterator:
            callbacks.on_predict_batch_begin(begin)
            batch_outputs = self.predict_function(data)
            if outputs is None:
                outputs = tree.map_structure(lambda part: [part], batch_outputs)
            else:
                tree.map_structure_up_to(batch_outputs, lambda parts, part: parts.append(part), outputs, batch_outputs)
            callbacks.on_predict_batch_end(end, {"outputs": batch_outputs})
            if self.stop_predicting:
                break
        if outputs is None:
            raise ValueError(_NO_DATA)
        return tree.map_structure_up_to(batch_outputs, np.concatenate, outputs)

    def _predict_rows(self, feed, arrays, spec, callbacks):
        at, pace, rows = 0, _Pace(callbacks, "predict", self.steps_per_execution), lambda batches: batches * feed.batch_size
        while at < feed.batches and not self.stop_predicting:
            begin = at
            callbacks.on_predict_batch_begin(begin)
            at, _ = feed.run(self.predict_function.steps, begin, pace.most(begin, feed.batches), pace.seconds, arrays)
            part = spec.unflatten([a[rows(begin):rows(at)] for a in arrays])
            callbacks.on_predict_batch_end(pace.end(begin, at), {"outputs": part})
        return spec.unflatten(arrays if at == feed.batches else [a[:rows(at)] for a in arrays])

    def train_on_batch(self, x, y=None, sample_weight=None, class_weight=None, return_dict=False):
        self._assert_compile_called("train_on_batch")
        if class_weight is not None:
            if sample_weight is not None:
                raise ValueError("Arguments `sample_weight` and `class_weight` cannot be specified at the same time. "
                                 f"Received: sample_weight={sample_weight}, class_weight={class_weight}")
            sample_weight = data_adapter_utils.class_weight_to_sample_weights(y, class_weight)
        data = _without_none((x, y, sample_weight))
        refused, _ = attempt(lambda: self._symbolic_build(data_batch=data))
        if refused is not None:
            raise self._refusing("train")(data, refused)
        self.reset_metrics()
        train_function = self.make_train_function()
        train_function.steps.nans = watch.begin()
        logs = pythonify_logs(train_function([data]))
        return logs if return_dict else self._flatten_metrics_in_order(logs)

    def test_on_batch(self, x, y=None, sample_weight=None, return_dict=False):
        self._assert_compile_called("test_on_batch")
        data = _without_none((x, y, sample_weight))
        self._symbolic_build(data_batch=data)
        self.reset_metrics()
        logs = pythonify_logs(self.make_test_function()([data]))
        return logs if return_dict else self._flatten_metrics_in_order(logs)

    def predict_on_batch(self, x):
        return self.make_predict_function()([(x,)])

    def _callbacks_of(self, callbacks, verbose, epochs, steps):
        if isinstance(callbacks, callbacks_module.CallbackList):
            return callbacks
        return callbacks_module.CallbackList(callbacks, add_history=True, add_progbar=verbose != 0, verbose=verbose,
                                             epochs=epochs, steps=steps, model=self)


def _build_whole(optimizer, variables):
    """Builds all of an optimizer or leaves it as it was: one that met the line half-way would say that it is built, and lack the rest."""
    parts = [part for part in (optimizer, getattr(optimizer, "inner_optimizer", None)) if part is not None]
    before = [(dict(part.__dict__), list(part._variables), dict(part._trainable_variables_indices),
               {name: set(ids) for name, ids in part._tracker.stored_ids.items()}) for part in parts]
    try:
        optimizer.build(variables)
    except BaseException:
        for part, (members, own, indices, tracked) in zip(parts, before):
            part.__dict__.clear()
            part.__dict__.update(members)
            part._variables[:] = own  # the tracker holds this very list
            part._trainable_variables_indices.clear()
            part._trainable_variables_indices.update(indices)
            part._tracker.stored_ids = tracked
        raise


def _without_none(data):
    x, y, sample_weight = data
    arrays = lambda part: tree.map_structure(lambda a: a if is_array(a) or a is None else np.asarray(a), part)
    if sample_weight is not None:
        return arrays(x), arrays(y), arrays(sample_weight)
    return (arrays(x), arrays(y)) if y is not None else (arrays(x),)


def _batch_size(x):
    return next(i for i in tree.flatten(x) if i is not None).shape[0]


def _batches(iterator):
    for _, _, data in iterator:
        yield from data if isinstance(data, (list, tuple)) else data


def _over_batches(one, refusal):
    """What Keras calls with a list of batches, for steps_per_execution. refusal(batch, error) has the numbers."""

    def function(data):
        logs = None
        for batch in data:
            refused, logs = attempt(lambda: one(batch))
            if refused is not None:
                raise refusal(batch, refused) if isinstance(one, Steps) else refused
        return logs

    function.steps = one
    return function


def _concatenated(one):
    def function(data):
        outputs = [tree.map_structure(convert_to_numpy, one(batch)) for batch in data]
        return outputs[0] if len(outputs) == 1 else tree.map_structure(lambda *parts: np.concatenate(parts), *outputs)

    function.steps = one
    return function


def _feed(iterator, function):
    if iterator.num_batches == 0:
        raise ValueError(_NO_DATA)
    return feed_of(iterator) if isinstance(getattr(function, "steps", None), Steps) else None
