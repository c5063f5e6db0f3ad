"""Operators of pictures, boxes and signals."""
import numpy as np


def resize(d):
    dtype = d.choice(("float32", "float32", "float32", "uint8", "int8"))
    a = d.fresh((d.integer(1, 2), d.integer(1, 2), d.integer(2, 5), d.integer(2, 5)), dtype, "sum")
    mode = d.choice(("nearest", "linear", "cubic")) if dtype == "float32" else "nearest"
    scales = [1, 1, d.choice((0.5, 1.5, 2, 0.8)), d.choice((0.5, 2, 3, 1.25))]
    if d.opset < 11:
        d.node("Resize", [a, d.constant(scales, "float32")], mode="nearest" if mode == "cubic" else mode)
        return
    attrs = {"mode": mode} | d.some(coordinate_transformation_mode=d.choice(("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric")))
    if mode == "nearest":
        attrs |= d.some(nearest_mode=d.choice(("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")))
    if mode == "cubic":
        attrs |= d.some(cubic_coeff_a=-0.5, exclude_outside=d.integer(0, 1))
    if d.opset >= 18 and mode != "nearest" and d.chance(0.3):
        attrs["antialias"] = 1
    roi = d.constant(np.zeros(0), "float32") if d.opset < 13 else None
    if d.chance(0.5):
        d.node("Resize", [a, roi, d.constant(scales, "float32")], **attrs)
    else:
        sizes = [a.shape[0], a.shape[1], d.integer(1, 8), d.integer(1, 8)]
        d.node("Resize", [a, roi, d.constant([], "float32") if d.opset < 13 else None, d.constant(sizes, "int64")], **attrs)


def upsample(d):
    a = d.fresh((1, d.integer(1, 2), d.integer(1, 4), d.integer(1, 4)), "float32", "sum")
    scales = [1, 1, d.choice((1, 2, 1.5)), d.choice((1, 2, 3))]
    mode = d.choice(("nearest", "linear"))
    if d.opset < 9:
        d.node("Upsample", [a], mode=mode, scales=[float(s) for s in scales])
    else:
        d.node("Upsample", [a, d.constant(scales, "float32")], mode=mode)


def grid_sample(d):
    modes = ("linear", "nearest", "cubic") if d.opset >= 20 else ("bilinear", "nearest", "bicubic")
    a = d.fresh((d.integer(1, 2), d.integer(1, 2), d.integer(2, 4), d.integer(2, 4)), "float32", "sum")
    grid = d.given(d.np.uniform(-1.2, 1.2, (a.shape[0], d.integer(1, 3), d.integer(1, 3), 2)).astype(np.float32))
    d.node("GridSample", [a, grid], **d.some(mode=d.choice(modes), padding_mode=d.choice(("zeros", "border", "reflection")), align_corners=d.integer(0, 1)))


def affine_grid(d):
    n = d.integer(1, 2)
    theta = d.fresh((n, 2, 3), d.choice(("float32", "float64")), "small")
    d.node("AffineGrid", [theta, d.ints([n, d.integer(1, 2), d.integer(2, 4), d.integer(2, 4)])], **d.some(align_corners=d.integer(0, 1)))


def roi_align(d):
    a = d.fresh((2, d.integer(1, 2), 6, 6), "float32", "sum")
    n = d.integer(1, 3)
    start = d.np.uniform(0, 3, (n, 2))
    rois = d.given(np.concatenate([start, start + d.np.uniform(1, 3, (n, 2))], 1).astype(np.float32))
    more = d.some(coordinate_transformation_mode=d.choice(("half_pixel", "output_half_pixel"))) if d.opset >= 16 else {}
    d.node("RoiAlign", [a, rois, d.given(d.np.randint(0, 2, n).astype(np.int64))],
           **d.some(mode=d.choice(("avg", "max")), output_height=d.integer(1, 3), output_width=d.integer(1, 3), sampling_ratio=d.integer(0, 2), spatial_scale=0.5), **more)


def max_roi_pool(d):
    a = d.fresh((1, d.integer(1, 2), 6, 6))
    n = d.integer(1, 3)
    start = d.np.randint(0, 3, (n, 2))
    rois = np.concatenate([np.zeros((n, 1)), start, start + d.np.randint(1, 3, (n, 2))], 1).astype(np.float32)
    d.node("MaxRoiPool", [a, d.given(rois)], pooled_shape=[d.integer(1, 3), d.integer(1, 3)], **d.some(spatial_scale=0.5))


def non_max_suppression(d):
    n, boxes, classes = d.integer(1, 2), d.integer(1, 6), d.integer(1, 2)
    start = d.np.uniform(0, 1, (n, boxes, 2))
    box = np.concatenate([start, start + d.np.uniform(0.1, 1, (n, boxes, 2))], 2).astype(np.float32)
    scores = d.np.permutation(n * classes * boxes).reshape(n, classes, boxes).astype(np.float32) / (n * classes * boxes)
    inputs = [d.given(box), d.given(scores), d.constant([d.integer(0, 4)], "int64"), d.constant([d.choice((0.3, 0.5, 0.7))], "float32")]
    if d.chance(0.5):
        inputs.append(d.constant([d.choice((0.1, 0.4))], "float32"))
    d.node("NonMaxSuppression", inputs, **d.some(center_point_box=d.integer(0, 1)))


def deform_conv(d):
    c, out, k = d.integer(1, 2), d.integer(1, 2), 2
    a = d.fresh((1, c, 4, 4), "float32", "sum")
    offset = d.fresh((1, 2 * k * k, 3, 3), "float32", "small")
    inputs = [a, d.weight((out, c, k, k)), offset]
    if d.chance(0.5):
        inputs.append(d.weight((out,)) if d.chance(0.5) else None)
    if len(inputs) == 4 and d.chance(0.6):
        inputs.append(d.fresh((1, k * k, 3, 3), "float32", "unit"))
    d.node("DeformConv", inputs, kernel_shape=[k, k])


def dft(d):
    n = d.integer(1, 8)
    real = d.chance(0.6)
    a = d.fresh((d.integer(1, 2), n, 1 if real else 2), d.choice(("float32", "float64")), "sum")
    inverse = d.integer(0, 1)
    attrs = d.some(inverse=inverse)
    if real and not attrs.get("inverse") and d.chance(0.4):
        attrs["onesided"] = 1
    length = d.constant(d.integer(1, 8), "int64") if d.chance(0.3) else None
    if d.opset >= 20:
        d.node("DFT", [a, length, d.constant(1, "int64")], **attrs)
    else:
        d.node("DFT", [a, length], axis=1, **attrs)


def stft(d):
    frame, step = d.integer(2, 4), d.integer(1, 3)
    a = d.fresh((d.integer(1, 2), frame + d.integer(0, 6), 1), "float32", "sum")
    window = d.fresh((frame,), "float32", "unit") if d.chance(0.6) else None
    d.node("STFT", [a, d.constant(step, "int64"), window, d.constant(frame, "int64")], **d.some(onesided=d.integer(0, 1)))


def window(op):
    def draw(d):
        d.node(op, [d.constant(d.integer(2, 8), d.choice(("int32", "int64")))], **d.some(periodic=d.integer(0, 1), output_datatype=d.code(d.choice(("float32", "float64")))))
    return draw


def mel(d):
    bins, length, rate = d.integer(2, 4), d.choice((16, 32)), 1600
    values = [d.constant(v, "int64") for v in (bins, length, rate)] + [d.constant(0.0, "float32"), d.constant(d.choice((400.0, 800.0)), "float32")]
    d.node("MelWeightMatrix", values)


OPERATORS = {"Resize": resize, "Upsample": upsample, "GridSample": grid_sample, "AffineGrid": affine_grid, "RoiAlign": roi_align, "MaxRoiPool": max_roi_pool,
             "NonMaxSuppression": non_max_suppression, "DeformConv": deform_conv, "DFT": dft, "STFT": stft, "HannWindow": window("HannWindow"),
             "HammingWindow": window("HammingWindow"), "BlackmanWindow": window("BlackmanWindow"), "MelWeightMatrix": mel}
