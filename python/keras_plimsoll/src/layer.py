class BackendLayer:
    pass
