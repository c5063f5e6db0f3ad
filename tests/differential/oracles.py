"""What operators of known_differences.json give by their definition, in NumPy: a value per visible output, None where none is defined."""
import numpy as np


def number(node_or_attrs, key, default):
    attrs = getattr(node_or_attrs, "attrs", node_or_attrs)
    return float(attrs.get(key, default))


def flag(node_or_attrs, key):
    return getattr(node_or_attrs, "attrs", node_or_attrs).get(key, "False") in ("True", "1")


def flipped(node):
    """The picture turned round along its width or height."""
    return [np.flip(node.inputs[0], -2 if node.operator.endswith("left_right") else -3)]


def cut_sigmoid(node):
    """The sigmoid of integers, cut to an integer."""
    with np.errstate(over="ignore"):
        return [np.trunc(1 / (1 + np.exp(-node.inputs[0].astype(np.float64))))]


def random_relu(node):
    """Outside training the slope is the middle of its range; the slopes drawn in training are none."""
    middle = (np.float32(number(node, "lower_bound", 0.125)) + np.float32(number(node, "upper_bound", 0.334))) / 2
    x = node.inputs[0]
    return [np.where(x > 0, x, x * x.dtype.type(middle)), None]


def nan_left_out(node):
    """Sums of what is a number."""
    x = node.inputs[0].astype(np.float64)
    axes = node.attrs.get("axis", "None")
    axis = None if axes == "None" else tuple(int(a) for a in np.atleast_1d(eval(axes)))
    if axis is not None and flag(node, "exclude"):
        axis = tuple(i for i in range(x.ndim) if i not in {a % x.ndim for a in axis})
    keep = flag(node, "keepdims")
    total = (np.nansum if node.operator == "nansum" else np.nanprod)(x, axis=axis, keepdims=keep)
    return [total if total.ndim else total.reshape(1)]


def moments(node):
    """Mean and variance."""
    x, axes = node.inputs[0].astype(np.float64), node.attrs.get("axes", "None")
    axis = None if axes == "None" else tuple(eval(axes))
    with np.errstate(all="ignore"):
        both = [f(x, axis=axis, keepdims=flag(node, "keepdims")) for f in (np.mean, np.var)]
    return [value if value.ndim else value.reshape(1) for value in both]


def layer_norm(node):
    """Normalised values, mean and standard deviation."""
    x, axis = node.inputs[0].astype(np.float64), int(number(node, "axis", -1))
    spread = [-1 if k == axis % x.ndim else 1 for k in range(x.ndim)]
    with np.errstate(all="ignore"):
        mean = x.mean(axis=axis, keepdims=True)
        deviation = np.sqrt(x.var(axis=axis, keepdims=True) + number(node, "eps", 1e-5))
        return [(x - mean) / deviation * node.inputs[1].reshape(spread) + node.inputs[2].reshape(spread), mean, deviation]


def instance_norm(node):
    """Each channel of each example normalised by itself."""
    x = node.inputs[0].astype(np.float64)
    axes, spread = tuple(range(2, x.ndim)), [1, -1] + [1] * (x.ndim - 2)
    with np.errstate(all="ignore"):
        deviation = np.sqrt(x.var(axis=axes, keepdims=True) + number(node, "eps", 1e-3))
        return [(x - x.mean(axis=axes, keepdims=True)) / deviation * node.inputs[1].reshape(spread) + node.inputs[2].reshape(spread)]


def logarithms_beside_nan(node):
    """log(softmax): what is no number counts as infinite and takes everything from the others; undefined beside an infinity."""
    if np.isposinf(node.inputs[0]).any() and np.isnan(node.inputs[0]).any():
        return [None]
    x, axis = node.inputs[0].astype(np.float64) / number(node, "temperature", 1), int(number(node, "axis", -1))
    with np.errstate(all="ignore"):
        below = x - np.fmax.reduce(x, axis=axis, keepdims=True)
        takes_all = "temperature" not in node.attrs and axis in (-1, x.ndim - 1)
        powers = np.where(np.isnan(below), np.inf if takes_all else np.nan, np.exp(below))
        return [below - np.log(powers.sum(axis=axis, keepdims=True))]


def largest_of_windows(node):
    """Maxima of windows, where NaN is larger than all; how many there are is told by the outputs."""
    def mend(theirs):
        x, out = node.inputs[0], theirs[0].copy()
        rank = x.ndim - 2
        if flag(node, "global_pool"):
            return [np.max(x, axis=tuple(range(2, x.ndim)), keepdims=True)]
        kernel, stride, pad = (eval(node.attrs.get(key, default)) for key, default in (("kernel", "()"), ("stride", str((1,) * rank)), ("pad", str((0,) * rank))))
        for place in np.ndindex(out.shape[2:]):
            begins = [p * s - q for p, s, q in zip(place, stride, pad)]
            window = tuple(slice(max(b, 0), max(b + k, 0)) for b, k in zip(begins, kernel))
            inside = x[(slice(None), slice(None), *window)].reshape(*x.shape[:2], -1)
            if inside.shape[2]:
                out[(slice(None), slice(None), *place)] = np.max(inside, axis=2)
        return [out]
    return mend


def averages_of_windows(node):
    """0 over nothing; the windows that hold something are right."""
    def mend(theirs):
        x, out = node.inputs[0], theirs[0].astype(np.float64)
        rank = x.ndim - 2
        if flag(node, "global_pool"):
            return [out]
        kernel, stride, pad = (eval(node.attrs.get(key, default)) for key, default in (("kernel", "()"), ("stride", str((1,) * rank)), ("pad", str((0,) * rank))))
        counts_padding = node.attrs.get("count_include_pad", "True") in ("True", "1")
        for place in np.ndindex(out.shape[2:]):
            begins = [p * s - q for p, s, q in zip(place, stride, pad)]
            ends = [min(b + k, n + q) for b, k, n, q in zip(begins, kernel, x.shape[2:], pad)]
            inside = [(max(b, 0), max(min(e, n), 0)) for b, e, n in zip(begins, ends, x.shape[2:])]
            lengths = [max(e - b, 0) for b, e in (zip(begins, ends) if counts_padding else inside)]
            if not np.prod(lengths):
                out[(slice(None), slice(None), *place)] = 0
        return [out]
    return mend


def adaptive_averages(node):
    """Averages over as many cells as are asked for, cell k of n from floor(k size / n) to ceil((k + 1) size / n)."""
    x, wanted = node.inputs[0].astype(np.float64), np.atleast_1d(eval(node.attrs.get("output_size", "1")))
    counts = [int(wanted[0]), int(wanted[-1])]
    cells = [[slice(k * size // n, -(-(k + 1) * size // n)) for k in range(n)] for size, n in zip(x.shape[2:], counts)]
    return [np.array([[x[..., rows, columns].mean(axis=(-2, -1)) for columns in cells[1]] for rows in cells[0]]).transpose(2, 3, 0, 1)]


def norm(node):
    """The sum of magnitudes, or the root of the sum of squares."""
    axes, x = node.attrs.get("axis", "None"), node.inputs[0].astype(np.float64)
    axis = None if axes == "None" else tuple(int(a) for a in np.atleast_1d(eval(axes)))
    keep = flag(node, "keepdims")
    is_plain = node.attrs.get("ord", "2") == "1"
    total = np.abs(x).sum(axis=axis, keepdims=keep) if is_plain else np.sqrt((x**2).sum(axis=axis, keepdims=keep))
    return [total if total.ndim else total.reshape(1)]


def nearest_bfloat16(node):
    """float32 rounded to the nearest bfloat16, ties to even."""
    bits = node.inputs[0].astype(np.float32).view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16 << 16).astype(np.uint32).view(np.float32)
    return [np.where(np.isnan(node.inputs[0]), np.float32(np.nan), rounded)]


def stepwise(node):
    """start, start + step, … up to stop, each `repeat` times."""
    start, step, stop = number(node, "start", 0), number(node, "step", 1), node.attrs.get("stop", "None")
    start, stop = (0, start) if stop == "None" else (start, float(stop))
    count = max(int(np.ceil((stop - start) / step)), 0)
    return [np.repeat(start + step * np.arange(count), int(number(node, "repeat", 1)))]


def steps_like(node):
    """start, start + step, … over all elements or along an axis."""
    shape, axis = node.inputs[0].shape, node.attrs.get("axis", "None")
    length = node.inputs[0].size if axis == "None" else shape[int(axis)]
    repeat = int(number(node, "repeat", 1))
    values = number(node, "start", 0) + number(node, "step", 1) * (np.arange(length) // repeat)
    return [values.reshape(shape) if axis == "None" else values]


def tiled(node):
    """Copies of the whole along its axes and new ones before them."""
    return [np.tile(node.inputs[0], eval(node.attrs["reps"]))]


def shares(node):
    """exp(x) over its sum: what is no number takes everything with it."""
    x, axis = node.inputs[0].astype(np.float64), 1
    if flag(node, "preserve_shape"):
        axis = -1
    elif not flag(node, "multi_output"):
        x = x.reshape(len(x), -1)
    with np.errstate(all="ignore"):
        powers = np.exp(x - np.max(x, axis=axis, keepdims=True))
        return [(powers / powers.sum(axis=axis, keepdims=True)).reshape(node.inputs[0].shape)]


def first_of_ties(node):
    """The k best along an axis, or the order of all; of equal elements the first one comes first."""
    x, axis = node.inputs[0], node.attrs.get("axis", "-1")
    if axis == "None":
        x, axis = x.reshape(-1), "0"
    is_argsort = node.operator == "argsort"
    axis, k = int(axis), 0 if is_argsort else int(number(node, "k", 1))
    upward = node.attrs.get("is_ascend", str(is_argsort)) in ("True", "1")
    keys = x.astype(np.float64) if upward else -x.astype(np.float64)
    order = np.argsort(keys, axis=axis, kind="stable").take(range(k or x.shape[axis]), axis=axis)
    kind = node.attrs.get("ret_typ", "indices")
    if kind == "mask":
        mask = np.zeros(x.shape)
        np.put_along_axis(mask, order, 1, axis)
        return [mask.reshape(node.inputs[0].shape)]
    values = np.take_along_axis(x, order, axis)
    return {"indices": [order], "value": [values], "both": [values, order]}[kind]


def in_order(node):
    """All elements along an axis, NaN behind the numbers."""
    x, axis = node.inputs[0].astype(np.float64), node.attrs.get("axis", "-1")
    x, axis = (x.reshape(-1), 0) if axis == "None" else (x, int(axis))
    sign = 1 if node.attrs.get("is_ascend", "True") in ("True", "1") else -1
    return [sign * np.sort(sign * x, axis=axis)]


def transposed_convolution(node):
    """Each number of the data spreads its kernel; what is padding, or goes beyond the target shape (at the front by the larger half), is cut off."""
    x, w = (i.astype(np.float64) for i in node.inputs[:2])
    kernel, target = eval(node.attrs["kernel"]), eval(node.attrs.get("target_shape", "None"))
    stride, dilate = (eval(node.attrs.get(key, "None")) or (1,) * len(kernel) for key in ("stride", "dilate"))
    pad, adjusted = (eval(node.attrs.get(key, "None")) or (0,) * len(kernel) for key in ("pad", "adj"))
    spans = [s * (n - 1) + (k - 1) * e + 1 for s, n, k, e in zip(stride, x.shape[2:], kernel, dilate)]
    groups, channels, filters = int(number(node, "num_group", 1)), x.shape[1], w.shape[1]
    whole = np.zeros((len(x), groups * filters, *(span + a for span, a in zip(spans, adjusted))))
    with np.errstate(invalid="ignore"):
        for tap in np.ndindex(*kernel):
            places = tuple(slice(t * e, t * e + s * (n - 1) + 1, s) for t, e, s, n in zip(tap, dilate, stride, x.shape[2:]))
            for c in range(channels):
                first = c // (channels // groups) * filters
                shares = w[(c, slice(None), *tap)].reshape(1, -1, *(1,) * len(kernel))
                whole[(slice(None), slice(first, first + filters), *places)] += x[:, c:c + 1] * shares
    begins = [(span - size + 1) // 2 for span, size in zip(spans, target)] if target else pad
    target = target or [span + a - 2 * p for span, a, p in zip(spans, adjusted, pad)]
    out = whole[(slice(None), slice(None), *(slice(b, b + n) for b, n in zip(begins, target)))]
    return [out + node.inputs[2].reshape(-1, *(1,) * len(kernel)) if len(node.inputs) > 2 else out]


def magnitudes(node):
    return [np.abs(node.inputs[0])]


def codes_of_nothing(node):
    """Zeros have the code of zero; their range is empty."""
    return [np.zeros_like(node.inputs[0], np.int8), np.zeros(1), np.zeros(1)]


def unsigned_codes(node):
    """uint8 counts from zero to the largest magnitude, which is what the range of the codes says."""
    x = node.inputs[0].astype(np.float64)
    if node.operator == "_contrib_quantize":
        low, high, most = node.inputs[1][0], node.inputs[2][0], 255
    elif "min_calib_range" in node.attrs:
        low, high, most = number(node, "min_calib_range", 0), number(node, "max_calib_range", 0), 255.5
    else:
        low, high, most = x.min(), x.max(), 255.5
    largest = max(abs(low), abs(high))
    with np.errstate(invalid="ignore"):
        codes = np.clip(np.rint(x * most / largest), 0, 255)
    return [np.nan_to_num(codes), np.full(1, low if low >= 0 else 0), np.full(1, high if low >= 0 else largest)]


def loop_of_steps(node):
    """A body run as often as the condition `i < limit` allows; rows of what it gives beyond the last step are zeros."""
    limit = [n for n in node.subgraphs[0]["nodes"] if n["op"] == "_lesser_scalar"][0]["attrs"]["scalar"]
    start = node.inputs[eval(node.attrs["cond_input_locs"])[0]].reshape(-1)[0]
    steps = int(min(max(np.ceil(float(limit) - start), 0), number(node, "max_iterations", 0)))
    data = int(number(node, "num_out_data", 0))
    return lambda theirs: [rows_kept(value, steps) if value is not None and k < data else value for k, value in enumerate(theirs)]


def convolution_of_codes(node):
    """Sums of products of codes, and the bias in their scale; the range of 32 bits."""
    inputs = list(node.inputs)
    if flag(node, "no_bias"):
        inputs = inputs[:2] + [np.zeros(len(inputs[1]))] + inputs[2:] + [np.zeros(1), np.zeros(1)]
    data, weight, bias = (x.astype(np.float64) for x in inputs[:3])
    ends = [max(abs(float(inputs[k][0])), abs(float(inputs[k + 1][0]))) for k in (3, 5, 7)]
    stride, pad = (eval(node.attrs.get(key, default)) for key, default in (("stride", "(1, 1)"), ("pad", "(0, 0)")))
    data = np.pad(data, ((0, 0), (0, 0), (pad[0],) * 2, (pad[1],) * 2))
    h, w = weight.shape[2:]
    rows, columns = (data.shape[2] - h) // stride[0] + 1, (data.shape[3] - w) // stride[1] + 1
    sums = np.zeros((len(data), len(weight), rows, columns))
    for y in range(rows):
        for x in range(columns):
            window = data[:, :, y * stride[0]:y * stride[0] + h, x * stride[1]:x * stride[1] + w]
            sums[:, :, y, x] = np.tensordot(window, weight, ((1, 2, 3), (1, 2, 3)))
    codes = 255 if node.inputs[0].dtype == np.uint8 else 127
    factor = (codes + 0.5) / ends[0] * 127.5 / ends[1] * ends[2] / 127.5
    most = ends[0] / codes * ends[1] / 127 * 2147483647
    return [sums + np.trunc(bias * factor)[:, None, None], np.full(1, -most), np.full(1, most)]


def product_of_codes(node):
    """The product of two tensors of codes in the codes of a given range, saturated."""
    ends = [max(abs(float(node.inputs[k][0])), abs(float(node.inputs[k + 1][0]))) for k in (2, 4)]
    most = max(abs(number(node, "min_calib_range", 0)), abs(number(node, "max_calib_range", 0)))
    real = node.inputs[0].astype(np.float64) * node.inputs[1] * ends[0] * ends[1] / 127**2
    ends = number(node, "min_calib_range", 0), number(node, "max_calib_range", 0)
    return [np.clip(np.rint(real * 127 / most), -128, 127), np.full(1, ends[0]), np.full(1, ends[1])]


def rows_kept(value, count):
    kept = value.copy()
    kept[count:] = 0
    return kept


GATES = {"lstm": 4, "gru": 3, "rnn_relu": 1, "rnn_tanh": 1}


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


class Layer:
    """The weights of one layer in one direction, taken off the parameters."""

    def __init__(self, mode, state, out, width, take, projected):
        rows = GATES[mode] * state
        self.input, self.recurrent = take(rows * width).reshape(rows, width), take(rows * out).reshape(rows, out)
        self.projection = take(out * state).reshape(out, state) if projected else None

    def biases(self, take):
        rows = len(self.input)
        self.input_bias, self.recurrent_bias = take(rows), take(rows)


def recurrent(node):
    """RNN with the lengths of sequences and the bounds of the LSTM's cell heeded."""
    mode, size, layers = node.attrs["mode"], int(number(node, "state_size", 0)), int(number(node, "num_layers", 1))
    directions = 2 if flag(node, "bidirectional") else 1
    projected = node.attrs.get("projection_size", "None") != "None"
    out = int(node.attrs["projection_size"]) if projected else size
    data = node.inputs[0].astype(np.float64)
    left = list([node.inputs[1].astype(np.float64)])

    def take(count):
        taken, left[0] = left[0][:count], left[0][count:]
        return taken

    cells = [Layer(mode, size, out, data.shape[2] if k < directions else out * directions, take, projected) for k in range(layers * directions)]
    for cell in cells:
        cell.biases(take)
    lengths = np.full(data.shape[1], data.shape[0])
    if flag(node, "use_sequence_length"):
        lengths = np.minimum(node.inputs[-1].astype(int), data.shape[0])
    states = node.inputs[2].astype(np.float64).copy()
    memories = node.inputs[3].astype(np.float64).copy() if mode == "lstm" else None
    for layer in range(layers):
        parts = []
        for direction in range(directions):
            k = layer * directions + direction
            parts.append(run_layer(node, cells[k], mode, data, lengths, direction, states[k], None if memories is None else memories[k]))
        data = np.concatenate(parts, 2)
    return [data, states, memories]


def run_layer(node, cell, mode, data, lengths, direction, state, memory):
    """Outputs of all steps; state and memory become the last ones."""
    result = np.zeros((*data.shape[:2], state.shape[1]))
    for n, length in enumerate(lengths):
        for step in range(length):
            t = step if direction == 0 else length - 1 - step
            x, h = cell.input @ data[t, n] + cell.input_bias, cell.recurrent @ state[n] + cell.recurrent_bias
            state[n] = advance(node, cell, mode, x, h, state[n], None if memory is None else memory[n])
            result[t, n] = state[n]
    return result


def advance(node, cell, mode, x, h, state, memory):
    if mode == "rnn_relu":
        return np.maximum(x + h, 0)
    if mode == "rnn_tanh":
        return np.tanh(x + h)
    if mode == "gru":
        (xr, xz, xn), (hr, hz, hn) = np.split(x, 3), np.split(h, 3)
        update = sigmoid(xz + hz)
        return (1 - update) * np.tanh(xn + sigmoid(xr + hr) * hn) + update * state
    into, forget, fresh, out = np.split(x + h, 4)
    memory[:] = sigmoid(forget) * memory + sigmoid(into) * np.tanh(fresh)
    if "lstm_state_clip_min" in node.attrs or "lstm_state_clip_max" in node.attrs:
        memory[:] = np.clip(memory, number(node, "lstm_state_clip_min", -np.inf), number(node, "lstm_state_clip_max", np.inf))
    now = sigmoid(out) * np.tanh(memory)
    return now if cell.projection is None else cell.projection @ now


# --- conversions, as symbol JSON

CASTS = ("amp_cast", "amp_multicast")


def reads_beside_a_cast(_, theirs):
    """Whether an operator of MXNet's result reads, as its first input, what another one reads through a cast."""
    nodes = theirs["nodes"]
    cast = {tuple(n["inputs"][0][:2]) for n in nodes if n["op"] == "amp_cast"}
    return any(n["op"] not in ("null", *CASTS) and n["inputs"] and tuple(n["inputs"][0][:2]) in cast for n in nodes)


def stores_a_parameter_unasked(ours, theirs):
    """Whether an operator of MXNet's result reads a variable itself that Halftone casts."""
    nodes, others = ours["nodes"], theirs["nodes"]
    names = {n["name"] for n in others}
    raw = {(n["name"], k) for n in others for k, i in enumerate(n["inputs"]) if others[i[0]]["op"] == "null"}

    def is_extra_cast(node):
        return node["op"] == "amp_cast" and node["name"] not in names and nodes[node["inputs"][0][0]]["op"] == "null"

    return any((n["name"], k) in raw and is_extra_cast(nodes[i[0]]) for n in nodes for k, i in enumerate(n["inputs"]))


def only_casts_differ(ours, theirs):
    """Whether both are one graph but for their casts."""
    return without_casts(ours) == without_casts(theirs)


def without_casts(told):
    nodes = told["nodes"]

    def source(entry):
        node = nodes[entry[0]]
        return source(node["inputs"][entry[1] if node["op"] == "amp_multicast" else 0]) if node["op"] in CASTS else (node["name"], entry[1])

    kept = {n["name"]: (n["op"], [source(i) for i in n["inputs"]]) for n in nodes if n["op"] not in CASTS}
    return kept, [source(h) for h in told["heads"]]
