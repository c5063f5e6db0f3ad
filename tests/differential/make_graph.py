"""A random graph from a seed: one operator for certain, in turn, and others around it; or a network as one converts them."""
from draw import Draw, Refused
from graphs import operator_of
from operators import ALL

# What networks are made of; all of it in float32.
NETWORK = ("Convolution Convolution Convolution FullyConnected FullyConnected BatchNorm BatchNorm Activation Activation LeakyReLU relu Pooling Pooling "
           "elemwise_add broadcast_add broadcast_mul elemwise_mul Concat Flatten Reshape transpose softmax log_softmax LayerNorm Dropout sum mean "
           "clip _mul_scalar _plus_scalar exp sqrt Deconvolution dot batch_dot UpSampling slice_axis SliceChannel expand_dims squeeze stack add_n "
           "where take Embedding norm L2Normalization InstanceNorm tanh sigmoid max SoftmaxOutput broadcast_maximum _contrib_div_sqrt_dim "
           "_foreach _while_loop _cond _contrib_interleaved_matmul_selfatt_qk SwapAxis repeat tile Pad argmax topk Cast one_hot RNN LRN GroupNorm _linalg_gemm2").split()
NAMES = sorted(ALL)
ATTEMPTS = 6
# What these make of NaN and infinities hangs on code, not on the definition: whether a pixel that has no share in an interpolation is read, in which
# order differences of infinities are taken, which code NaN becomes.
CALM = {"CTCLoss", "_contrib_quantize", "_contrib_DeformableConvolution", "_contrib_ModulatedDeformableConvolution", "_contrib_DeformablePSROIPooling",
        "_contrib_RROIAlign", "_contrib_quantize_v2"}
# Whether their squares and partial sums leave the range of a type on the way hangs on the code as well: nothing above 1e12 for them.
MODERATE = {"InstanceNorm", "LayerNorm", "GroupNorm", "BatchNorm", "BatchNorm_v1", "_contrib_SyncBatchNorm", "_contrib_BatchNormWithReLU", "RNN", "LRN",
            "L2Normalization", "norm", "moments", "Convolution", "Convolution_v1", "Deconvolution", "FullyConnected", "dot", "batch_dot", "_linalg_gemm",
            "_linalg_gemm2", "_linalg_syrk", "_linalg_trmm", "sum", "mean", "nansum", "_np_cumsum", "add_n"}
NOT_EMPTY = (ValueError, IndexError, ZeroDivisionError)  # what a drawer raises that finds an extent of 0


def try_to_draw(d, op):
    """Whether the operator could be placed; what was placed for it in vain is taken back."""
    nodes, refs, made, arrays, params = len(d.graph.nodes), len(d.refs), len(d.outputs), set(d.graph.arrays), set(d.graph.params)
    special, d.special = d.special, d.special and op not in CALM and not (d.is_huge and op in MODERATE)
    try:
        ALL[op](d)
        return None
    except (Refused, *(NOT_EMPTY if d.may_be_empty else ())) as error:
        del d.graph.nodes[nodes:], d.refs[refs:], d.outputs[made:]
        for name in d.graph.arrays.keys() - arrays:
            del d.graph.arrays[name]
        d.graph.params = params
        return str(error)
    finally:
        d.special = special


def make(seed, index, evaluate):
    """The graph and what is told of it. The operators take turns with `index`, everything else hangs on `seed`."""
    d = Draw(seed, evaluate)
    network = index % 4 == 3
    evaluate.may_be_empty = d.may_be_empty = d.graph.may_be_empty = not network and d.chance(0.04)
    why = fill_network(d) if network else fill(d, NAMES[(index - index // 4) % len(NAMES)])
    if not d.graph.operators():
        raise Refused(why or "nothing could be drawn")
    read = {(i[0], i[1]) for n in d.graph.nodes for i in n["inputs"]}
    made = [(r.node, r.output) for r in d.outputs]
    d.graph.heads = [h for h in made if h not in read] or made[-1:]
    graph = d.graph.pruned()
    return graph, {"operators": [operator_of(n) for n in graph.operators()], "special": d.special, "network": network}


def fill(d, primary):
    others = d.choice((0, 0, 0, 1, 1, 2, 3, 5))
    before = d.integer(0, others)
    d.special = d.chance(0.25)
    d.is_huge = d.special and d.chance(0.3)
    why = None
    for _ in range(before):
        try_to_draw(d, d.choice(NAMES))
    for _ in range(ATTEMPTS):
        why = try_to_draw(d, primary)
        if why is None:
            break
        if _ == ATTEMPTS - 3:
            d.fixed_dtype, d.special = "float32", False
    for _ in range(others - before):
        try_to_draw(d, d.choice(NAMES))
    return why


def fill_network(d):
    d.fixed_dtype = "float32"
    shape = d.choice(((2, 4, 6, 6), (1, 3, 8, 8), (2, 6), (3, 2, 4), (2, 3, 5, 5)))
    d.fresh(shape)
    d.reuse = 0.92
    for _ in range(d.integer(3, 10)):
        try_to_draw(d, d.choice(NETWORK))
