class DistributedDataParallel:
    """Logs what it measures of its reductions: the first ten iterations, and then each hundredth; one that has
    begun is not in the log."""

    def __init__(self):
        self.iteration = 0
        self.waited_ns = 4000000
        self._log = {}

    def forward(self):
        if 1 <= self.iteration <= 10 or self.iteration and self.iteration % 100 == 0:
            self._log = {"iteration": self.iteration, "backward_comm_time": self.waited_ns,
                         "backward_compute_comm_overlap_time": 1000000}
        self.iteration += 1

    def _get_ddp_logging_data(self):
        return self._log
