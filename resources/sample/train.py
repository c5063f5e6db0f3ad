"""Trains the sample model and writes it beside this file. It is deterministic; with the versions below it gives these very files:

    python3.11 -m venv venv && venv/bin/pip install mxnet==1.9.1 numpy==1.23.5 scikit-learn==1.2.2 requests
    venv/bin/python resources/sample/train.py

The data are scikit-learn's handwritten digits (8 x 8 pixels, 1,797 pictures), stretched to the pixel range 0..255 that cameras and image files
give. The network takes such raw pixels: its first operators divide a picture by its root mean square, so that pen pressure and exposure don't
matter. That energy, a sum of 64 squares, is near 10^6, beyond float16's 65,504 but nothing to bfloat16 or float32: in float16 it becomes
infinity, the picture becomes zero and every digit looks the same. A residual network of two stages follows.
"""
import os

os.environ.update(OMP_NUM_THREADS="1", MXNET_SUBGRAPH_BACKEND="NONE")

import json
from pathlib import Path

import mxnet as mx
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import emulate

HERE = Path(__file__).resolve().parent
SEED, EPOCHS, BATCH, RATE = 7, 60, 64, 0.004
HELD_OUT, CALIBRATION = 450, 100


def pictures():
    digits = load_digits()
    pixels = np.rint(digits.images * (255 / 16)).astype(np.float32)[:, None]
    split = train_test_split(pixels, digits.target.astype(np.int64), test_size=HELD_OUT, stratify=digits.target, random_state=SEED)
    return [np.ascontiguousarray(part) for part in split]


def convolve(x, name, channels, kernel=3, stride=1):
    x = mx.sym.Convolution(x, kernel=(kernel, kernel), stride=(stride, stride), pad=(kernel // 2, kernel // 2), num_filter=channels,
                           no_bias=True, name=f"{name}_conv")
    return mx.sym.BatchNorm(x, fix_gamma=False, eps=1e-5, momentum=0.9, name=f"{name}_bn")


def relu(x, name):
    return mx.sym.Activation(x, act_type="relu", name=name)


def residual_block(x, name, channels, stride):
    body = relu(convolve(x, f"{name}_a", channels, stride=stride), f"{name}_a_relu")
    body = convolve(body, f"{name}_b", channels)
    shortcut = x if stride == 1 else convolve(x, f"{name}_shortcut", channels, kernel=1, stride=stride)
    return relu(mx.sym.elemwise_add(body, shortcut, name=f"{name}_add"), f"{name}_relu")


def network():
    """Scores for ten digits, before softmax."""
    data = mx.sym.var("data")
    energy = mx.sym.sum(mx.sym.square(data, name="pixel_square"), axis=(1, 2, 3), keepdims=True, name="energy")
    mean_energy = mx.sym._internal._mul_scalar(energy, scalar=1 / 64, name="mean_energy")
    inverse = mx.sym.rsqrt(mx.sym._internal._plus_scalar(mean_energy, scalar=1, name="mean_energy_plus_one"), name="inverse_rms")
    x = mx.sym.broadcast_mul(data, inverse, name="normalized")
    x = relu(convolve(x, "stem", 16), "stem_relu")
    x = residual_block(x, "stage1", 16, stride=1)
    x = residual_block(x, "stage2", 32, stride=2)
    x = mx.sym.Pooling(x, global_pool=True, pool_type="avg", kernel=(1, 1), name="pool")
    return mx.sym.FullyConnected(mx.sym.Flatten(x, name="flat"), num_hidden=10, name="fc")


def shifted(images, random):
    """Each picture moved by up to one pixel each way; zeros come in."""
    padded = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    moves = random.integers(0, 3, (len(images), 2))
    return np.stack([p[:, y:y + 8, x:x + 8] for p, (y, x) in zip(padded, moves)])


def train(scores, images, labels):
    random = np.random.default_rng(SEED)
    mx.random.seed(SEED)
    np.random.seed(SEED)  # the initialiser draws from here
    module = mx.mod.Module(mx.sym.SoftmaxOutput(scores, name="softmax"), context=mx.cpu())
    module.bind([("data", (BATCH, 1, 8, 8))], [("softmax_label", (BATCH,))])
    module.init_params(mx.init.Xavier(rnd_type="gaussian", factor_type="in", magnitude=2))
    steps = EPOCHS * (len(images) // BATCH)
    schedule = mx.lr_scheduler.CosineScheduler(steps, RATE, final_lr=RATE / 100)
    module.init_optimizer(optimizer="adam", optimizer_params={
        "learning_rate": RATE, "lr_scheduler": schedule, "wd": 1e-4, "rescale_grad": 1 / BATCH})
    for _ in range(EPOCHS):
        order = random.permutation(len(images))
        for start in range(0, len(order) - BATCH + 1, BATCH):
            chosen = order[start:start + BATCH]
            module.forward_backward(mx.io.DataBatch([mx.nd.array(shifted(images[chosen], random))], [mx.nd.array(labels[chosen])]))
            module.update()
    return module.get_params()


def save(symbol, arguments, auxiliary, test_images, test_labels, calibration_images):
    mx.model.save_checkpoint(str(HERE / "digits"), 0, symbol, arguments, auxiliary)
    np.savez(HERE / "digits-test.npz", data=test_images, labels=test_labels)
    np.savez(HERE / "digits-calibration.npz", data=calibration_images)
    (HERE / "preprocess.json").write_text(json.dumps({
        "name": "digits", "format": "mxnet", "task": "handwritten digit classification",
        "symbol": "digits-symbol.json", "params": "digits-0000.params",
        "inputs": [{"name": "data", "dtype": "float32", "layout": "NCHW", "color": "GRAY", "shape": ["N", 1, 8, 8],
                    "mean": [0.0], "scale": [1.0], "note": "value=pixel, 0..255, ink bright on dark"}],
        "outputs": [{"index": 0, "symbol_output": "prob_output", "shape_in_reference": [1, 10], "meaning": "probabilities of 0..9"}],
        "labels": "digits-test.npz"}, indent=1) + "\n")


def main():
    train_images, test_images, train_labels, test_labels = pictures()
    scores = network()
    arguments, auxiliary = train(scores, train_images, train_labels)
    save(mx.sym.softmax(scores, name="prob"), arguments, auxiliary, test_images, test_labels, train_images[:CALIBRATION])

    symbol, arguments, auxiliary = mx.model.load_checkpoint(str(HERE / "digits"), 0)
    executor = symbol.bind(mx.cpu(), dict(arguments, data=mx.nd.array(test_images)), aux_states=auxiliary, grad_req="null")
    predicted = executor.forward()[0].asnumpy().argmax(axis=1)
    print(f"{'MXNet, float32':<28} {100 * np.mean(predicted == test_labels):6.2f} %")
    emulate.main()


if __name__ == "__main__":
    main()
