"""Trains a small booster on generated data and prints its rounds.

  boosting.py xgboost|lightgbm|lightgbm_early
"""
import sys

import numpy

ROUNDS = 23


def data(seed):
    random = numpy.random.default_rng(seed)
    x = random.normal(size=(200, 4))
    return x, (x[:, 0] + random.normal(size=200) > 0).astype(int)


def xgboost_rounds():
    import xgboost
    train, test = (xgboost.DMatrix(x, label=y) for x, y in (data(1), data(2)))
    xgboost.train({"objective": "binary:logistic", "max_depth": 2, "nthread": 1}, train, ROUNDS,
                  evals=[(train, "train"), (test, "eval")])


def lightgbm_rounds(*callbacks):
    import lightgbm
    train = lightgbm.Dataset(*data(1))
    test = lightgbm.Dataset(*data(2), reference=train)
    lightgbm.train({"objective": "binary", "num_leaves": 4, "num_threads": 1, "learning_rate": 0.3}, train, ROUNDS,
                   valid_sets=[train, test], callbacks=[lightgbm.log_evaluation(), *callbacks])


def lightgbm_early():
    """Stops when the test set did not improve for three rounds, and repeats the line of the best."""
    import lightgbm
    lightgbm_rounds(lightgbm.early_stopping(3))


{"xgboost": xgboost_rounds, "lightgbm": lightgbm_rounds, "lightgbm_early": lightgbm_early}[sys.argv[1]]()
