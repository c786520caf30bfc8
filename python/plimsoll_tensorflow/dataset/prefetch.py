"""A dataset's elements, made ahead of their reader."""
import queue
import threading


def ahead(iterator, count):
    """The iterator's elements, made by a thread up to `count` ahead. It ends when the reader does."""
    ready, stop = queue.Queue(count), threading.Event()
    end = object()

    def put(item):
        while not stop.is_set():
            try:
                return ready.put(item, timeout=0.1)
            except queue.Full:
                continue

    def work():
        try:
            for x in iterator:
                put((x, None))
                if stop.is_set():
                    return
            put((end, None))
        except BaseException as error:  # noqa: BLE001  it is raised where the element would have been read
            put((end, error))

    threading.Thread(target=work, daemon=True, name="dataset-prefetch").start()
    try:
        while True:
            x, error = ready.get()
            if error is not None:
                raise error
            if x is end:
                return
            yield x
    finally:
        stop.set()
