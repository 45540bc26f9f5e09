class OptimizeContext:
    def __init__(self, callback=None):
        self.callback = callback
