class SavedModelExportArchive:
    def __init__(self, *args, **kwargs):
        raise NotImplementedError(
            "`export_saved_model` only currently supports the tensorflow, jax and torch backends. A SavedModel is TensorFlow's own format, "
            "which the backend 'plimsoll' cannot write. Use model.save('model.keras')."
        )
