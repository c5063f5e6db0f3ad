#!/usr/bin/env python3
"""Writes tests/data/task: outputs of two networks, what is right, and every task metric of them by NumPy.

Metrics are computed here by their definitions (core/quantize/RULES.md, Q-task), independently of Halftone. Needs numpy and Pillow.
"""

import json
import pathlib

import numpy as np
from PIL import Image

HERE = pathlib.Path(__file__).resolve().parent.parent / "data" / "task"
random = np.random.default_rng(20)


def top(scores, number):
    return np.argsort(-scores, axis=1, kind="stable")[:, :number]


def hits(scores, labels, number):
    return float(np.mean([label in row for label, row in zip(labels, top(scores, number))]))


def common(reference, other, number):
    a, b = top(reference, number), top(other, number)
    return float(np.mean([len(set(x) & set(y)) / number for x, y in zip(a, b)]))


def mean_iou(right, found):
    judged = right != 255
    right, found = right[judged], found[judged]
    values = []
    for one in np.union1d(right, found):
        either = np.logical_or(right == one, found == one).sum()
        values.append(np.logical_and(right == one, found == one).sum() / either)
    return float(np.mean(values))


def psnr(right, found, peak):
    errors = ((found.astype(np.float64) - right.astype(np.float64)) ** 2).reshape(len(right), -1).mean(axis=1)
    return float(np.mean(10 * np.log10(peak**2 / errors)))


def cosine(right, found):
    a = right.astype(np.float64).reshape(len(right), -1)
    b = found.astype(np.float64).reshape(len(found), -1)
    return float(np.mean((a * b).sum(axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)))


def near(values, distance):
    return (values + distance * random.standard_normal(values.shape)).astype(np.float32)


def three(metric, right, reference, other):
    return {"reference": metric(right, reference), "other": metric(right, other), "agreement": metric(reference, other)}


def main():
    HERE.mkdir(exist_ok=True)
    arrays, expected = {}, {}

    scores = random.standard_normal((9, 12)).astype(np.float32)
    other = near(scores, 0.7)
    labels = top(near(scores, 1.0), 1)[:, 0].astype(np.int64)
    arrays.update(scores=scores, scores_other=other, labels=labels)
    for name, number in (("top1", 1), ("top5", 5)):
        expected[name] = {"reference": hits(scores, labels, number), "other": hits(other, labels, number),
                          "agreement": common(scores, other, number)}

    maps = random.standard_normal((3, 4, 6, 5)).astype(np.float32)
    other = near(maps, 0.5)
    masks = near(maps, 0.8).argmax(axis=1).astype(np.int32)
    masks[0, 0, :] = 255
    arrays.update(maps=maps, maps_other=other, masks=masks)
    found, found_other = maps.argmax(axis=1), other.argmax(axis=1)
    expected["miou"] = three(mean_iou, masks, found, found_other)

    right = random.random((3, 3, 9, 10)).astype(np.float32)
    pictures, other = near(right, 0.05), near(right, 0.08)
    arrays.update(pictures=pictures, pictures_other=other, right=right)
    expected["psnr"] = three(lambda a, b: psnr(a, b, 1), right, pictures, other)

    bytes_right = np.round(right * 255).astype(np.uint8)
    arrays.update(bytes_right=bytes_right)
    expected["psnr_of_bytes"] = {"reference": psnr(bytes_right / 255, pictures, 1), "other": psnr(bytes_right / 255, other, 1)}

    right = random.standard_normal((5, 16)).astype(np.float32)
    vectors, other = near(right, 0.1), near(right, 0.2)
    arrays.update(vectors=vectors, vectors_other=other, vectors_right=right)
    expected["cosine"] = three(cosine, right, vectors, other)

    np.savez(HERE / "outputs.npz", **arrays)
    (HERE / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")

    (HERE / "masks").mkdir(exist_ok=True)
    palette = [0, 0, 0, 128, 0, 0, 0, 128, 0, 128, 128, 0] + [1 + k // 3 for k in range(3 * 251)] + [224, 224, 192]
    for k, mask in enumerate(masks.astype(np.uint8)):
        image = Image.fromarray(mask)
        if k != 1:
            image = Image.fromarray(mask, mode="P")
            image.putpalette(palette)
        image.save(HERE / "masks" / f"{k}.png")
    four = Image.fromarray(np.arange(4, dtype=np.uint8).reshape(1, 4), mode="P")
    four.putpalette([9, 9, 9, 8, 8, 8, 7, 7, 7, 6, 6, 6])
    four.save(HERE / "four_colours.png", bits=2)
    twice = Image.fromarray(np.array([[0, 1]], dtype=np.uint8), mode="P")
    twice.putpalette([1, 2, 3, 1, 2, 3])
    twice.save(HERE / "twice.png")
    Image.fromarray(random.integers(0, 255, (2, 2, 3)).astype(np.uint8)).save(HERE / "colour.png")

    (HERE / "right").mkdir(exist_ok=True)
    for k, one in enumerate(bytes_right):
        Image.fromarray(one.transpose(1, 2, 0)).save(HERE / "right" / f"{k}.png")


if __name__ == "__main__":
    main()
