_is_compiling = False


def is_compiling():
    return _is_compiling
