class DataLoader:
    def __init__(self, dataset):
        self.dataset = dataset

    def __iter__(self):
        return _BaseDataLoaderIter(self)


class _BaseDataLoaderIter:
    _num_workers, _prefetch_factor, _persistent_workers = 0, None, False

    def __init__(self, loader):
        self._dataset = loader.dataset
        self._sampler_iter = iter(loader.dataset)
        self._num_yielded = 0

    def __iter__(self):
        return self

    def __len__(self):
        return len(self._dataset)

    def __next__(self):
        item = next(self._sampler_iter)
        self._num_yielded += 1
        return item
