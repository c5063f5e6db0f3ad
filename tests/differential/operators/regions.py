"""Boxes, regions of pictures, sampling, pictures themselves, and sequences of labels."""
import numpy as np

from operators.layers import reaches_beyond


def boxes(d, *shape, scale=1.0):
    corner = d.np.uniform(0, 0.6, shape + (2,))
    return np.concatenate([corner, corner + d.np.uniform(0.05, 0.4, shape + (2,))], -1).astype("float32") * np.float32(scale)


def rois(d, count, pictures, size, turned=False):
    places = d.np.randint(0, pictures, (count, 1)).astype("float32")
    if turned:
        return np.concatenate([places, d.np.uniform(0, size, (count, 2)), d.np.uniform(1, size, (count, 2)), d.np.uniform(-90, 90, (count, 1))],
                              1).astype("float32")
    corner = d.np.uniform(-1, size * 0.6, (count, 2))
    return np.concatenate([places, corner, corner + d.np.uniform(0.2, size * 0.7, (count, 2))], 1).astype("float32")


def picture(d, channels=None, dtype="float32"):
    return d.tensor(shape=(d.integer(1, 2), channels or d.integer(1, 3), d.integer(4, 7), d.integer(4, 7)), dtype=dtype)


def roi_pool(op):
    def draw(d):
        pooled = (d.integer(1, 3), d.integer(1, 3))
        attrs = {"pooled_size": pooled, "spatial_scale": d.choice((1.0, 0.5, 0.75))}
        channels = None
        if op == "_contrib_ROIAlign":
            attrs |= d.some(sample_ratio=d.integer(1, 3), aligned=d.chance(0.5))
            if d.chance(0.2):
                attrs["position_sensitive"] = True
                channels = pooled[0] * pooled[1] * d.integer(1, 2)
        if op == "_contrib_RROIAlign":
            attrs |= d.some(sampling_ratio=d.integer(1, 2))
        data = picture(d, channels)
        d.node(op, [data, d.given(rois(d, d.integer(1, 3), data.shape[0], 7, "RROI" in op))], attrs)
    return draw


def position_pool(op):
    def draw(d):
        group, outputs, pooled = d.integer(1, 3), d.integer(1, 2), d.integer(1, 3)
        data = picture(d, group * group * outputs)
        attrs = {"output_dim": outputs, "pooled_size": pooled, "group_size": group, "spatial_scale": d.choice((1.0, 0.5))}
        inputs = [data, d.given(rois(d, 2, data.shape[0], 7))]
        if "Deformable" in op:
            part = d.integer(1, 3)
            attrs |= {"part_size": part, "sample_per_part": d.integer(1, 3), "trans_std": d.choice((0.1, 0.5))}
            if d.chance(0.3):
                attrs["no_trans"] = True
            else:
                inputs.append(d.fresh((2, 2 * d.choice((1, outputs)), part, part), kind="small"))
        d.node(op, inputs, attrs)
    return draw


def box_prior(d):
    data = d.tensor(rank=4, dtype="float32")
    sizes = tuple(round(d.rng.uniform(0.1, 1.2), 3) for _ in range(d.integer(1, 3)))
    ratios = tuple(d.choice((0.5, 1.0, 2.0, 3.0, 0.333)) for _ in range(d.integer(1, 3)))
    d.node("_contrib_MultiBoxPrior", [data], d.some(sizes=sizes, ratios=ratios, clip=d.chance(0.5), steps=d.choice(((0.2, 0.3), (-1.0, -1.0), (0.0, 0.2))),
                                                    offsets=d.choice(((0.5, 0.5), (0.2, 0.7)))))


def detection(d):
    batch, classes, count = d.integer(1, 2), d.integer(2, 4), d.integer(1, 8)
    scores = d.np.uniform(0, 1, (batch, classes, count)).astype("float32")
    inputs = [d.given(scores / scores.sum(1, keepdims=True)), d.fresh((batch, 4 * count), kind="small"), d.given(boxes(d, 1, count))]
    d.node("_contrib_MultiBoxDetection", inputs, d.some(nms_threshold=d.choice((0.1, 0.3, 0.7)), threshold=d.choice((0.1, 0.4)), clip=d.chance(0.5),
                                                        force_suppress=d.chance(0.5), nms_topk=d.choice((-1, 3)), background_id=d.integer(0, 1)))


def target(d):
    batch, classes, count, objects = d.integer(1, 2), d.integer(1, 3), d.integer(1, 8), d.integer(1, 3)
    kinds = d.np.randint(-1, classes, (batch, objects, 1))
    kinds[:, 0] = 0
    kinds = np.where(np.minimum.accumulate(kinds, 1) < 0, -1, kinds)
    labels = np.concatenate([kinds, np.where(kinds < 0, -1, boxes(d, batch, objects))], -1).astype("float32")
    inputs = [d.given(boxes(d, 1, count)), d.given(labels), d.fresh((batch, classes + 1, count))]
    d.node("_contrib_MultiBoxTarget", inputs, d.some(overlap_threshold=d.choice((0.3, 0.6)), ignore_label=-2.0) |
           (d.some(negative_mining_ratio=d.choice((1.0, 3.0)), negative_mining_thresh=0.4) if d.chance(0.5) else {}))


def nms(d):
    batch, count, width = d.integer(1, 2), d.integer(1, 7), d.integer(6, 7)
    rows = np.zeros((batch, count, width), "float32")
    rows[..., 0] = d.np.randint(0, 3, (batch, count))
    rows[..., 1] = d.np.permutation(batch * count).reshape(batch, count) / 20.0 - (0.1 if d.chance(0.3) else 0)
    rows[..., 2:6] = boxes(d, batch, count)
    attrs = d.some(overlap_thresh=d.choice((0.1, 0.3, 0.7)), valid_thresh=d.choice((0.0, 0.12)), topk=d.choice((-1, 2, 4)), id_index=0,
                   force_suppress=d.chance(0.5), in_format=d.choice(("center", "corner")), out_format=d.choice(("center", "corner")))
    if d.chance(0.2) and "id_index" in attrs:
        attrs["background_id"] = d.integer(0, 1)
    d.node("_contrib_box_nms", [d.given(rows)], {"coord_start": 2, "score_index": 1} | attrs)


def iou(d):
    lead = d.dims(d.integer(0, 1))
    d.node("_contrib_box_iou", [d.given(boxes(d, *lead, d.integer(1, 4))), d.given(boxes(d, d.integer(1, 4)))],
           d.some(format=d.choice(("center", "corner"))))


def decode(d):
    count = d.integer(1, 5)
    d.node("_contrib_box_decode", [d.fresh((d.integer(1, 2), count, 4), kind="small"), d.given(boxes(d, 1, count))],
           d.some(format=d.choice(("center", "corner")), clip=d.choice((0.5, 4.0)), std0=0.1, std1=0.1, std2=0.2, std3=0.2))


def encode(d):
    batch, count, objects = d.integer(1, 2), d.integer(1, 4), d.integer(1, 3)
    inputs = [d.given(d.np.randint(-1, 2, (batch, count)).astype("float32")), d.given(d.np.randint(0, objects, (batch, count)).astype("float32")),
              d.given(boxes(d, batch, count)), d.given(boxes(d, batch, objects)), d.fresh((4,), kind="small"), d.fresh((4,), kind="positive")]
    d.node("_contrib_box_encode", inputs)


def matching(d):
    shape = (d.integer(1, 2), d.integer(1, 4), d.integer(1, 4))
    scores = d.np.permutation(int(np.prod(shape))).reshape(shape) / 10.0
    d.node("_contrib_bipartite_matching", [d.given(scores.astype("float32"))],
           {"threshold": d.choice((0.05, 0.55))} | d.some(is_ascend=d.chance(0.5), topk=d.integer(1, 3)))


def proposal(op):
    def draw(d):
        batch = d.integer(1, 2) if "Multi" in op else 1
        scales, ratios = tuple(d.choice((1, 2, 4)) for _ in range(d.integer(1, 2))), tuple(d.choice((0.5, 1, 2)) for _ in range(d.integer(1, 2)))
        anchors, h, w = len(scales) * len(ratios), d.integer(2, 4), d.integer(2, 4)
        stride = d.choice((8, 16))
        chances = d.np.permutation(batch * 2 * anchors * h * w).reshape(batch, 2 * anchors, h, w) / 1000.0
        info = np.tile([h * stride, w * stride, 1.0], (batch, 1)).astype("float32")
        d.node(op, [d.given(chances.astype("float32")), d.fresh((batch, 4 * anchors, h, w), kind="small"), d.given(info)],
               {"scales": scales, "ratios": ratios, "feature_stride": stride, "rpn_pre_nms_top_n": d.choice((12, 6000)),
                "rpn_post_nms_top_n": d.integer(2, 8), "rpn_min_size": d.choice((2, 8)), "threshold": d.choice((0.5, 0.7))}
               | d.some(output_score=d.chance(0.5)))
    return draw


def deformable(op):
    def draw(d):
        groups, offsets = d.choice((1, 1, 2)), d.choice((1, 2))
        channels, filters = 2 * d.integer(1, 2), groups * d.integer(1, 2)
        data = d.tensor(shape=(d.integer(1, 2), channels, d.integer(4, 6), d.integer(4, 6)), dtype="float32")
        kernel, stride, pad = (d.integer(1, 3), d.integer(1, 3)), (d.integer(1, 2), d.integer(1, 2)), (d.integer(0, 1), d.integer(0, 1))
        dilate = (d.integer(1, 2), 1)
        if reaches_beyond({"kernel": kernel, "pad": pad, "dilate": dilate}, data.shape[2:]):
            dilate = (1, 1)
        size = tuple((n + 2 * p - e * (k - 1) - 1) // s + 1 for n, p, e, k, s in zip(data.shape[2:], pad, dilate, kernel, stride))
        taps = kernel[0] * kernel[1]
        inputs = [data, d.fresh((data.shape[0], 2 * offsets * taps, *size))]
        if "Modulated" in op:
            inputs.append(d.fresh((data.shape[0], offsets * taps, *size), kind="unit"))
        inputs.append(d.fresh((filters, channels // groups, *kernel), weight=True))
        attrs = {"kernel": kernel, "stride": stride, "pad": pad, "dilate": dilate, "num_filter": filters, "num_group": groups,
                 "num_deformable_group": offsets}
        if d.chance(0.5):
            attrs["no_bias"] = True
        else:
            inputs.append(d.fresh((filters,), weight=True))
        d.node(op, inputs, attrs)
    return draw


def columns(d):
    data = d.tensor(rank=4, dtype="float32")
    kernel = (d.integer(1, min(3, data.shape[2])), d.integer(1, min(3, data.shape[3])))
    d.node("im2col", [data], {"kernel": kernel} | d.some(stride=(d.integer(1, 2), 1), pad=(1, d.integer(0, 1)), dilate=(1, 1)))


def folded(d):
    size, kernel, pad = (d.integer(3, 6), d.integer(3, 6)), (d.integer(1, 3), d.integer(1, 3)), (d.integer(0, 1), d.integer(0, 1))
    stride = (d.integer(1, 2), d.integer(1, 2))
    count = 1
    for n, k, p, s in zip(size, kernel, pad, stride):
        count *= (n + 2 * p - k) // s + 1
    data = d.tensor(shape=(d.integer(1, 2), d.integer(1, 2) * kernel[0] * kernel[1], count), dtype="float32")
    d.node("col2im", [data], {"output_size": size, "kernel": kernel, "stride": stride, "pad": pad})


def correlation(d):
    data = picture(d)
    reach, kernel = d.integer(0, 2), d.choice((1, 3))
    d.node("Correlation", [data, d.fresh(data.shape)], {"max_displacement": reach, "kernel_size": kernel, "pad_size": reach + kernel // 2}
           | d.some(stride1=d.integer(1, 2), stride2=d.integer(1, 2), is_multiply=d.chance(0.5)))


def grid(d):
    if d.chance(0.5):
        d.node("GridGenerator", [d.fresh((d.integer(1, 2), 6))], {"transform_type": "affine", "target_shape": (d.integer(2, 4), d.integer(2, 4))})
    else:
        d.node("GridGenerator", [d.fresh((d.integer(1, 2), 2, d.integer(2, 4), d.integer(2, 4)))], {"transform_type": "warp"})


def sampler(d):
    data = picture(d)
    d.node("BilinearSampler", [data, d.given(d.array((data.shape[0], 2, d.integer(1, 4), d.integer(1, 4)), "float32") * np.float32(0.6))])


def transformer(d):
    data = picture(d)
    d.node("SpatialTransformer", [data, d.given(d.array((data.shape[0], 6), "float32") * np.float32(0.7))],
           {"transform_type": "affine", "sampler_type": "bilinear", "target_shape": (d.integer(2, 4), d.integer(2, 4))})


def photo(d, dtype=None):
    shape = ((d.integer(1, 2),) if d.chance(0.3) else ()) + (d.integer(2, 6), d.integer(2, 6), 3 if d.chance(0.6) else 1)
    dtype = dtype or d.choice(("uint8", "float32"))
    return d.given(d.np.randint(0, 256, shape).astype(dtype))


def image(op):
    def draw(d):
        if op == "to_tensor":
            return d.node("_image_to_tensor", [photo(d)])
        if op == "normalize":
            data = d.fresh((*((2,) if d.chance(0.3) else ()), 3, *d.dims(2)), kind="unit")
            return d.node("_image_normalize", [data], {"mean": d.choice(((0.1, 0.2, 0.3), (0.5,))), "std": d.choice(((0.5, 0.25, 2.0), (2.0,)))})
        data = photo(d)
        if op == "crop":
            h, w = data.shape[-3], data.shape[-2]
            x, y = d.integer(0, w - 1), d.integer(0, h - 1)
            return d.node("_image_crop", [data], {"x": x, "y": y, "width": d.integer(1, w - x), "height": d.integer(1, h - y)})
        if op == "resize":
            data = photo(d, "float32") if d.chance(0.7) else data
            interp = d.integer(0, 4)
            size = (d.integer(1, 8), d.integer(1, 8)) if d.chance(0.7) else (d.integer(1, 8),)
            return d.node("_image_resize", [data], {"size": size, "interp": interp} | (d.some(keep_ratio=d.chance(0.5)) if len(size) == 1 else {}))
        return d.node(f"_image_{op}", [data])
    return draw


def ctc(d):
    steps, batch, classes, length = d.integer(3, 6), d.integer(1, 3), d.integer(2, 5), d.integer(1, 2)
    last = d.chance(0.4)
    labels = d.np.randint(0 if last else 1, classes - 1 if last else classes, (batch, length)).astype("float32")
    inputs = [d.fresh((steps, batch, classes)), d.given(labels)]
    attrs = {"blank_label": "last"} if last else {}
    if d.chance(0.4):
        attrs["use_data_lengths"] = True
        inputs.append(d.given((d.np.randint(2 * length + 1, max(steps, 2 * length + 1) + 1, batch)).clip(1, steps).astype("float32")))
    if d.chance(0.4) or last:
        attrs["use_label_lengths"] = True
        inputs.append(d.given(d.np.randint(1, length + 1, batch).astype("float32")))
    d.node("CTCLoss", inputs, attrs)


OPERATORS = {op: roi_pool(op) for op in ("ROIPooling", "_contrib_ROIAlign", "_contrib_RROIAlign")}
OPERATORS |= {op: position_pool(op) for op in ("_contrib_PSROIPooling", "_contrib_DeformablePSROIPooling")}
OPERATORS |= {op: proposal(op) for op in ("_contrib_Proposal", "_contrib_MultiProposal")}
OPERATORS |= {op: deformable(op) for op in ("_contrib_DeformableConvolution", "_contrib_ModulatedDeformableConvolution")}
OPERATORS |= {f"_image_{op}": image(op) for op in ("to_tensor", "normalize", "resize", "crop", "flip_left_right", "flip_top_bottom")}
OPERATORS |= {"_contrib_MultiBoxPrior": box_prior, "_contrib_MultiBoxDetection": detection, "_contrib_MultiBoxTarget": target,
              "_contrib_box_nms": nms, "_contrib_box_iou": iou, "_contrib_box_decode": decode, "_contrib_box_encode": encode,
              "_contrib_bipartite_matching": matching, "im2col": columns, "col2im": folded, "Correlation": correlation, "GridGenerator": grid,
              "BilinearSampler": sampler, "SpatialTransformer": transformer, "CTCLoss": ctc}
