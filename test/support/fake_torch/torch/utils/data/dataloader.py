class DataLoader:
    def __init__(self, dataset):
        self.dataset = dataset

    def __iter__(self):
        return _BaseDataLoaderIter(self)


class _BaseDataLoaderIter:
    def __init__(self, loader):
        self._items = iter(loader.dataset)

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._items)
