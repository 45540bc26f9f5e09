skipped = []


def skip_code(code):
    skipped.append(code.co_name)


class OptimizeContext:
    def __init__(self, callback=None):
        self.callback = callback
