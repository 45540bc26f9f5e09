"""What an Estimator prints: its logging is these hooks of tf.compat.v1.train, which TensorFlow still has.

  hooks.py FOLDER [absl]    with absl the lines have absl's prefix instead of INFO:tensorflow:
"""
import os
import sys
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf  # noqa: E402

v1 = tf.compat.v1


def pause(x):
    time.sleep(0.02)
    return x


def main():
    if "absl" in sys.argv:
        from absl import logging
        logging.use_absl_handler()
    v1.disable_eager_execution()
    v1.logging.set_verbosity(v1.logging.INFO)
    step = v1.train.get_or_create_global_step()
    # A step takes a while, or the hooks would read the step's number at the very moment that it changes.
    x = tf.numpy_function(pause, [v1.random_normal([16, 4], seed=1)], tf.float32)
    x.set_shape([16, 4])
    w = v1.get_variable("w", [4, 1], initializer=v1.ones_initializer())
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
    train = v1.train.GradientDescentOptimizer(0.01).minimize(loss, global_step=step)
    # As Estimator has it: tensorflow_estimator/python/estimator/estimator.py, _train_with_estimator_spec.
    hooks = [v1.train.LoggingTensorHook({"loss": loss, "step": step}, every_n_iter=10),
             v1.train.StopAtStepHook(num_steps=50)]
    with v1.train.MonitoredTrainingSession(checkpoint_dir=sys.argv[1], hooks=hooks, log_step_count_steps=10,
                                           save_summaries_steps=None, save_summaries_secs=None) as session:
        while not session.should_stop():
            _, last = session.run([train, loss])
    v1.logging.info("Loss for final step: %s.", last)


main()
