work = []  # called during each backward pass


def backward(tensors, grad_tensors=None):
    for function in work:
        function()
