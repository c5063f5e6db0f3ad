#!/usr/bin/env python3
"""Writes tests/data/weights/goldens.npz: small matrices and what formats of weights make of them (core/quantize/RULES.md, W-formats).

int and uint codes of 4 and 8 bits in blocks are held to ONNX Runtime's own quantizer (its C++ binding), which this script asserts; all else is computed
here by definition, in float32, with ml_dtypes' casts for floats of 8 and 4 bits. Needs numpy, ml_dtypes and onnxruntime 1.22 or newer."""
import pathlib

import ml_dtypes
import numpy as np
from onnxruntime.capi._pybind_state import quantize_matmul_4bits, quantize_matmul_8bits

F = np.float32
OUT = pathlib.Path(__file__).resolve().parent.parent / "data" / "weights" / "goldens.npz"
NF4 = np.array([-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
                -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
                0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0], F)


def half_away(x):
    return np.sign(x) * np.floor(np.abs(x) + F(0.5))


def divided(a, b):
    return a / np.where(b == 0, F(1), b)


def integers(b, bits, symmetric, clip=F(1)):
    """Of blocks [outputs, blocks, B]: values, scales, zero points."""
    h, n = 2 ** (bits - 1), 2**bits - 1
    low, high = b.min(-1), b.max(-1)
    if symmetric:
        end = np.where(np.abs(high) > np.abs(low), high, low) * clip
        s = (end / F(-h)).astype(F)
        z = np.full(s.shape, h, F)
    else:
        low, high = np.minimum(low, 0) * clip, np.maximum(high, 0) * clip
        s = ((high - low) / F(n)).astype(F)
        z = np.clip(half_away(np.where(s != 0, divided(-low, s), 0)), 0, n).astype(F)
    inverse = np.where(s != 0, divided(F(1), s), 0).astype(F)
    q = np.clip(half_away(b * inverse[..., None] + z[..., None]), 0, n)
    return ((q - z[..., None]) * s[..., None]).astype(F), s, z, q


def by_amax(b, top, cast):
    s = (np.abs(b).max(-1) / F(top)).astype(F)
    c = np.clip(divided(b, s[..., None]), -top, top).astype(cast)
    return (c.astype(F) * s[..., None]).astype(F)


def channel_bytes(b):
    s = (np.abs(b).max(-1) / F(127)).astype(F)
    return (np.clip(np.rint(divided(b, s[..., None])), -127, 127) * s[..., None]).astype(F)


def mx(b, exponent, top, cast):
    amax = np.abs(b).max(-1).astype(np.float64)
    e = np.where(amax > 0, np.clip(np.floor(np.log2(np.where(amax > 0, amax, 1))) - exponent, -127, 127), 0)
    s = 2.0**e
    c = np.clip((b / s[..., None]).astype(F), -top, top).astype(cast)
    return (c.astype(np.float64) * s[..., None]).astype(F)


def nvfp4(b):
    largest = np.abs(b).max()
    g = F(largest / F(6 * 448)) if largest > 0 else F(1)
    s = (np.clip(np.abs(b).max(-1) / F(6) / g, 0, 448).astype(ml_dtypes.float8_e4m3fn).astype(F) * g).astype(F)
    c = np.clip(divided(b, s[..., None]), -6, 6).astype(ml_dtypes.float4_e2m1fn)
    return (c.astype(F) * s[..., None]).astype(F)


def nf4(b):
    amax = np.abs(b).max(-1)
    c = np.abs(divided(b, amax[..., None])[..., None] - NF4).argmin(-1)
    return (NF4[c] * amax[..., None]).astype(F)


def blocks(w, size):
    fill = -w.shape[0] % size
    return np.pad(w, ((0, fill), (0, 0))).T.reshape(w.shape[1], -1, size).astype(F)


def searched(b, bits, symmetric):
    """Least squared error of each block over the ranges of W-methods."""
    least = None
    for k in range(26):
        value = integers(b, bits, symmetric, F((50 - k) / 50))[0]
        error = ((b.astype(np.float64) - value) ** 2).sum(-1)
        least = error if least is None else np.minimum(least, error)
    return least


def check_runtime(w, bits, symmetric, s, z, q):
    k, n = w.shape
    count = -(-k // 32)
    packed = np.zeros((n, count, 32 * bits // 8), np.uint8)
    scales = np.zeros(n * count, F)
    zeros = np.zeros(n * -(-count * bits // 8), np.uint8)
    (quantize_matmul_4bits if bits == 4 else quantize_matmul_8bits)(packed, np.ascontiguousarray(w), scales, zeros, 32, n, k, symmetric)
    codes = np.stack([packed & 15, packed >> 4], -1).reshape(n, count, 32) if bits == 4 else packed
    assert np.array_equal(scales.reshape(n, count), s)
    assert np.array_equal(codes.reshape(n, -1)[:, :k], q.reshape(n, -1)[:, :k])


def main():
    random = np.random.default_rng(48)
    matrices = {"normal": random.standard_normal((96, 12)) * 0.02, "odd": random.standard_normal((100, 7)) * 0.3,
                "halves": random.integers(-16, 17, (64, 8)) / 2, "signs": np.abs(random.standard_normal((64, 6))) * ([1, -1] * 3)}
    matrices["odd"][3] *= 40
    matrices["odd"][32:64, 2] = 0
    matrices["odd"][:, 5] = 0
    saved = {}
    for name, w in matrices.items():
        w = w.astype(F)
        saved[name] = w
        for size in (16, 32, 64, 0):
            b = blocks(w, size or w.shape[0])
            values = {}
            for bits in (2, 4, 8):
                for symmetric in (True, False):
                    key = f"{'int' if symmetric else 'uint'}{bits}"
                    values[key], s, z, q = integers(b, bits, symmetric)
                    if size == 32 and bits > 2:
                        check_runtime(w, bits, symmetric, s, z, q)
                    if size == 32 and bits < 8:
                        saved[f"{name}|{key}/32|least"] = searched(b, bits, symmetric)
            values["nf4"] = nf4(b)
            if size == 0:
                values["int8"] = channel_bytes(b)
                values["fp8_e4m3"] = by_amax(b, 448, ml_dtypes.float8_e4m3fn)
                values["fp8_e5m2"] = by_amax(b, 57344, ml_dtypes.float8_e5m2)
            if size == 32:
                values["mxfp8"] = mx(b, 8, 448, ml_dtypes.float8_e4m3fn)
                values["mxfp4"] = mx(b, 2, 6, ml_dtypes.float4_e2m1fn)
            if size == 16:
                values["nvfp4"] = nvfp4(b)
            for key, value in values.items():
                suffix = "" if key in ("mxfp8", "mxfp4", "nvfp4") else f"/{size or 'channel'}"
                saved[f"{name}|{key}{suffix}|value"] = value.reshape(w.shape[1], -1)[:, : w.shape[0]].T.copy()
    OUT.parent.mkdir(exist_ok=True)
    np.savez_compressed(OUT, **saved)


main()
