"""What tf_slim.learning.train prints (package tf_slim), telling every tenth of 40 steps.

  slim_train.py FOLDER
"""
import os
import sys
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf  # noqa: E402
import tf_slim as slim  # noqa: E402

v1 = tf.compat.v1


def pause(x):
    time.sleep(0.02)
    return x


def main():
    v1.disable_eager_execution()
    v1.logging.set_verbosity(v1.logging.INFO)
    # A step takes a while, or the hooks would read the step's number at the very moment that it changes.
    x = tf.numpy_function(pause, [v1.random_normal([16, 4], seed=1)], tf.float32)
    x.set_shape([16, 4])
    w = v1.get_variable("w", [4, 1], initializer=v1.ones_initializer())
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
    train = slim.learning.create_train_op(loss, v1.train.GradientDescentOptimizer(0.01))
    slim.learning.train(train, sys.argv[1], log_every_n_steps=10, number_of_steps=40)


main()
