#include "tests/support/typed/random_operators.h"

#include "tests/support/build_graph.h"
#include "tests/support/typed/random_bodies.h"

#include <algorithm>

namespace halftone::test {
namespace {

using graph::Attributes;
using tensor::DType;

using Maker = bool (*)(RandomBuilder &);

constexpr std::int64_t kLargest = 1024; ///< elements of a tensor

bool isFloatTensor(const Value &value)
{
    return value.isFloat() && value.rank() >= 2;
}
bool isImage(const Value &value)
{
    return value.isFloat() && value.rank() == 4;
}
bool isMatrix(const Value &value)
{
    return value.isFloat() && value.rank() == 2;
}

Dims with(Dims dims, std::size_t axis, std::int64_t size)
{
    dims[axis] = size;
    return dims;
}

std::string number(std::int64_t value)
{
    return std::to_string(value);
}

struct Shaped
{
    const char *op;
    Attributes attributes;
};

/// One input, the result of its shape.
bool unary(RandomBuilder &g)
{
    static const std::vector<Shaped> kKinds{
        {"relu", {}},
        {"relu", {}},
        {"sigmoid", {}},
        {"tanh", {}},
        {"exp", {}},
        {"log", {}},
        {"square", {}},
        {"sqrt", {}},
        {"rsqrt", {}},
        {"abs", {}},
        {"clip", {{"a_min", "0"}, {"a_max", "6"}}},
        {"Activation", {{"act_type", "relu"}}},
        {"Activation", {{"act_type", "softrelu"}}},
        {"Activation", {{"act_type", "tanh"}}},
        {"LeakyReLU", {{"act_type", "elu"}}},
        {"LeakyReLU", {{"act_type", "selu"}}},
        {"LeakyReLU", {{"slope", "0.1"}}},
        {"softmax", {}},
        {"softmax", {{"axis", "1"}, {"dtype", "float32"}}},
        {"log_softmax", {}},
        {"SoftmaxActivation", {}},
        {"L2Normalization", {}},
        {"Dropout", {{"p", "0.5"}}},
        {"BlockGrad", {}},
        {"_copy", {}},
        {"zeros_like", {}},
        {"_contrib_div_sqrt_dim", {}},
        {"smooth_l1", {{"scalar", "1"}}},
        {"_plus_scalar", {{"scalar", "2"}}},
        {"_mul_scalar", {{"is_int", "False"}, {"scalar", "0.5"}}},
        {"_div_scalar", {{"is_int", "False"}, {"scalar", "3.0"}}},
        {"_rminus_scalar", {{"scalar", "1"}}},
        {"_power_scalar", {{"scalar", "2"}}},
        {"_shuffle", {}},
        {"argsort", {{"dtype", "int32"}}},
    };
    const auto x = g.pick([](const Value &v) { return v.rank() >= 2 && v.type != DType::Unknown; });
    if (!x)
        return false;
    const Shaped &kind = g.random.oneOf(kKinds);
    return g.add(kind.op, kind.attributes, {*x}, {x->dims});
}

/// Two inputs of one shape, or one of them of ones that stretch.
bool binary(RandomBuilder &g)
{
    static const std::vector<const char *> kAlike{"elemwise_add", "elemwise_sub", "elemwise_mul",
                                                  "elemwise_div", "_maximum",     "_minimum"};
    static const std::vector<const char *> kStretching{
        "broadcast_add",     "broadcast_sub",   "broadcast_mul",     "broadcast_div",
        "broadcast_maximum", "broadcast_power", "broadcast_greater", "broadcast_equal"};
    const auto x = g.pick([](const Value &v) { return v.type != DType::Unknown && v.rank() >= 1; });
    if (!x)
        return false;
    const bool stretches = g.random.chance(40);
    const char *op = stretches ? g.random.oneOf(kStretching) : g.random.oneOf(kAlike);
    const Dims ones(x->rank(), 1);
    if (stretches && g.random.chance(50))
        return g.add(op, {}, {*x, Operand(ones, "scale")}, {x->dims});
    if (g.random.chance(15))
        return g.add(op, {}, {*x, Operand(x->dims, "table")}, {x->dims});
    const auto y = g.pickLike(*x);
    return g.add(op, {}, {*x, *y}, {x->dims});
}

bool convolution(RandomBuilder &g)
{
    const auto x = g.pick(isImage);
    if (!x)
        return false;
    const std::int64_t kernel = g.random.chance(50) ? 3 : 1;
    const bool hasBias = g.random.chance(50);
    Attributes attributes{{"kernel", textOf(Dims{kernel, kernel})},
                          {"pad", textOf(Dims{kernel / 2, kernel / 2})},
                          {"num_filter", "4"},
                          {"no_bias", hasBias ? "False" : "True"}};
    if (g.random.chance(20))
        attributes.set("num_group", "1");
    std::vector<Operand> operands{*x, Operand({4, x->dims[1], kernel, kernel}, "weight")};
    if (hasBias)
        operands.emplace_back(Dims{4}, "bias");
    return g.add("Convolution", attributes, operands, {with(x->dims, 1, 4)});
}

bool deconvolution(RandomBuilder &g)
{
    const auto x = g.pick([](const Value &v) { return isImage(v) && v.dims[2] <= 4 && v.dims[3] <= 4; });
    if (!x)
        return false;
    const Dims out{x->dims[0], 2, x->dims[2] * 2, x->dims[3] * 2};
    return g.add("Deconvolution", {{"kernel", "(2, 2)"}, {"stride", "(2, 2)"}, {"num_filter", "2"}},
                 {*x, Operand({x->dims[1], 2, 2, 2}, "weight")}, {out});
}

bool dense(RandomBuilder &g)
{
    const auto x = g.pick(isFloatTensor);
    if (!x)
        return false;
    const bool flattens = g.random.chance(70);
    const std::int64_t depth = flattens ? elementCount(x->dims) / x->dims[0] : x->dims.back();
    const bool hasBias = g.random.chance(50);
    std::vector<Operand> operands{*x, Operand({8, depth}, "weight")};
    if (hasBias)
        operands.emplace_back(Dims{8}, "bias");
    const Dims out = flattens ? Dims{x->dims[0], 8} : with(x->dims, x->rank() - 1, 8);
    return g.add("FullyConnected",
                 {{"num_hidden", "8"},
                  {"flatten", flattens ? "True" : "False"},
                  {"no_bias", hasBias ? "False" : "True"}},
                 operands, {out});
}

bool product(RandomBuilder &g)
{
    const auto x = g.pick([](const Value &v) { return v.isFloat() && (v.rank() == 2 || v.rank() == 3); });
    if (!x)
        return false;
    if (x->rank() == 2)
        return g.add("dot", {}, {*x, Operand({x->dims[1], 4}, "matrix")}, {{x->dims[0], 4}});
    const auto y = g.pickLike(*x);
    return g.add(g.random.chance(60) ? "batch_dot" : "_linalg_gemm2", {{"transpose_b", "True"}}, {*x, *y},
                 {{x->dims[0], x->dims[1], x->dims[1]}});
}

bool pooling(RandomBuilder &g)
{
    const auto x = g.pick(isImage);
    if (!x)
        return false;
    const char *type = g.random.chance(50) ? "max" : "avg";
    if (g.random.chance(30))
        return g.add("Pooling", {{"global_pool", "True"}, {"kernel", "(2, 2)"}, {"pool_type", type}}, {*x},
                     {{x->dims[0], x->dims[1], 1, 1}});
    return g.add("Pooling", {{"kernel", "(3, 3)"}, {"pad", "(1, 1)"}, {"pool_type", type}}, {*x}, {x->dims});
}

bool normalization(RandomBuilder &g)
{
    const auto x = g.pick([](const Value &v) { return v.isFloat() && v.rank() >= 3; });
    if (!x)
        return false;
    const Dims channels{x->dims[1]};
    const bool tellsMean = g.random.chance(25);
    const std::vector<Dims> outputs
        = tellsMean ? std::vector<Dims>{x->dims, channels, channels} : std::vector<Dims>{x->dims};
    const char *tells = tellsMean ? "True" : "False";
    switch (g.random.below(5)) {
    case 0:
        return g.add("LayerNorm", {},
                     {*x, Operand({x->dims.back()}, "gamma"), Operand({x->dims.back()}, "beta")}, {x->dims});
    case 1:
        return g.add("InstanceNorm", {}, {*x, Operand(channels, "gamma"), Operand(channels, "beta")},
                     {x->dims});
    default:
        return g.add("BatchNorm", {{"fix_gamma", "False"}, {"output_mean_var", tells}},
                     {*x, Operand(channels, "gamma"), Operand(channels, "beta"),
                      Operand(channels, "moving_mean"), Operand(channels, "moving_var")},
                     outputs);
    }
}

bool prelu(RandomBuilder &g)
{
    const auto x = g.pick([](const Value &v) { return v.isFloat() && v.rank() >= 2; });
    return x && g.add("LeakyReLU", {{"act_type", "prelu"}}, {*x, Operand({x->dims[1]}, "gamma")}, {x->dims});
}

/// Concat, stack or add_n of two or three tensors.
bool join(RandomBuilder &g)
{
    const auto x = g.pick([](const Value &v) {
        return v.rank() >= 2 && v.rank() <= 4 && v.type != DType::Unknown
            && elementCount(v.dims) <= kLargest / 3;
    });
    if (!x)
        return false;
    const std::size_t count = 2 + g.random.below(2);
    std::vector<Operand> operands{*x};
    while (operands.size() < count)
        operands.emplace_back(*g.pickLike(*x));
    const auto arity = static_cast<std::int64_t>(count);
    Attributes attributes{{"num_args", number(arity)}};
    switch (g.random.below(3)) {
    case 0:
        return g.add("add_n", attributes, operands, {x->dims});
    case 1:
        if (x->rank() == 4)
            return false;
        attributes.set("axis", "0");
        {
            Dims out = x->dims;
            out.insert(out.begin(), arity);
            return g.add("stack", attributes, operands, {out});
        }
    default:
        if (g.random.chance(60))
            attributes.set("dim", "1");
        return g.add("Concat", attributes, operands, {with(x->dims, 1, x->dims[1] * arity)});
    }
}

bool where(RandomBuilder &g)
{
    const auto x = g.pick(isFloatTensor);
    if (!x)
        return false;
    const auto condition
        = g.pick([&x](const Value &v) { return v.dims == x->dims && v.type != DType::Unknown; });
    const auto y = g.pickLike(*x);
    return g.add("where", {}, {*condition, *x, *y}, {x->dims});
}

/// Operators that only move data.
bool movement(RandomBuilder &g)
{
    const auto x = g.pick([](const Value &v) { return v.rank() >= 2 && v.type != DType::Unknown; });
    if (!x)
        return false;
    const Dims &dims = x->dims;
    const std::int64_t rest = elementCount(dims) / dims[0];
    switch (g.random.below(10)) {
    case 0:
        return g.add("Flatten", {}, {*x}, {{dims[0], rest}});
    case 1:
        return g.add("Reshape", {{"shape", "(0, -1)"}}, {*x}, {{dims[0], rest}});
    case 2:
        return g.add("transpose", {}, {*x}, {Dims(dims.rbegin(), dims.rend())});
    case 3:
        if (elementCount(dims) > kLargest / 2)
            return false;
        {
            Dims repeats(dims.size(), 1);
            repeats.back() = 2;
            return g.add("tile", {{"reps", textOf(repeats)}}, {*x},
                         {with(dims, dims.size() - 1, 2 * dims.back())});
        }
    case 4:
        return g.add("slice_axis", {{"axis", "0"}, {"begin", "0"}, {"end", "1"}}, {*x}, {with(dims, 0, 1)});
    case 5:
        return g.add("slice", {{"begin", "(0, 0)"}, {"end", textOf(Dims{dims[0], 1})}}, {*x},
                     {with(dims, 1, 1)});
    case 6:
        if (dims[1] % 2 != 0)
            return false;
        return g.add("SliceChannel", {{"num_outputs", "2"}}, {*x},
                     {with(dims, 1, dims[1] / 2), with(dims, 1, dims[1] / 2)});
    case 7:
        if (dims.size() == 4)
            return false;
        {
            Dims out = dims;
            out.insert(out.begin() + 1, 1);
            return g.add("expand_dims", {{"axis", "1"}}, {*x}, {out});
        }
    case 8: {
        Dims out = dims;
        std::swap(out[0], out[1]);
        return g.add("SwapAxis", {{"dim1", "0"}, {"dim2", "1"}}, {*x}, {out});
    }
    default:
        return g.add("reverse", {{"axis", "0"}}, {*x}, {dims});
    }
}

bool reduction(RandomBuilder &g)
{
    static const std::vector<const char *> kKinds{"sum", "mean", "max", "norm", "argmax"};
    const auto x = g.pick(isFloatTensor);
    return x
        && g.add(g.random.oneOf(kKinds), {{"axis", "1"}, {"keepdims", "True"}}, {*x}, {with(x->dims, 1, 1)});
}

bool topk(RandomBuilder &g)
{
    const auto x = g.pick([](const Value &v) { return isFloatTensor(v) && v.dims.back() >= 2; });
    if (!x)
        return false;
    const Dims out = with(x->dims, x->rank() - 1, 2);
    if (g.random.chance(30))
        return g.add("topk", {{"k", "2"}, {"dtype", "int32"}}, {*x}, {out});
    Attributes attributes{{"k", "2"}, {"ret_typ", "both"}};
    if (g.random.chance(50))
        attributes.set("dtype", "int32");
    return g.add("topk", attributes, {*x}, {out, out});
}

/// Tables that indices look into.
bool lookup(RandomBuilder &g)
{
    const auto ids = g.pick([](const Value &v) {
        return v.rank() <= 2 && (v.type == DType::I32 || v.type == DType::I64 || v.type == DType::F32)
            && elementCount(v.dims) <= 32;
    });
    if (!ids)
        return false;
    Dims out = ids->dims;
    out.push_back(4);
    switch (g.random.below(4)) {
    case 0:
        return g.add("take", {}, {Operand({6, 4}, "table"), *ids}, {out});
    case 1:
        return g.add("one_hot", {{"depth", "4"}, {"dtype", g.random.chance(30) ? "float16" : "float32"}},
                     {*ids}, {out});
    case 2:
        if (const auto x = g.pick(isMatrix))
            return g.add("pick", {}, {*x, Operand({x->dims[0]}, "index")}, {{x->dims[0]}});
        return false;
    default:
        return g.add("Embedding", {{"input_dim", "6"}, {"output_dim", "4"}},
                     {*ids, Operand({6, 4}, "weight")}, {out});
    }
}

bool shapeOf(RandomBuilder &g)
{
    const auto x = g.pick([](const Value &v) { return v.rank() >= 1; });
    return x && g.add("shape_array", {}, {*x}, {{static_cast<std::int64_t>(x->rank())}});
}

bool likeAnother(RandomBuilder &g)
{
    static const std::vector<const char *> kKinds{"slice_like", "reshape_like", "broadcast_like"};
    const auto x = g.pick([](const Value &v) { return v.type != DType::Unknown; });
    const auto other = g.pick([&x](const Value &v) { return v.dims == x->dims && v.type != DType::Unknown; });
    return g.add(g.random.oneOf(kKinds), {}, {*x, *other}, {x->dims});
}

bool cast(RandomBuilder &g)
{
    static const std::vector<const char *> kTypes{"float16", "float16", "float32", "float32",
                                                  "int32",   "float64", "bfloat16"};
    const auto x = g.pick([](const Value &v) { return v.rank() >= 1; });
    return x && g.add("Cast", {{"dtype", g.random.oneOf(kTypes)}}, {*x}, {x->dims});
}

/// Casts as an earlier conversion leaves them.
bool ampCast(RandomBuilder &g)
{
    static const std::vector<const char *> kTypes{"float16", "float32", "bfloat16"};
    const auto isCastable = [](const Value &v) { return v.isFloat() && v.type != DType::F64; };
    const auto x = g.pick(isCastable);
    if (!x)
        return false;
    if (g.random.chance(70))
        return g.add("amp_cast", {{"dtype", g.random.oneOf(kTypes)}}, {*x}, {x->dims});
    const auto y = g.pick([&](const Value &v) { return isCastable(v) && v.dims == x->dims; });
    return g.add("amp_multicast", {{"num_outputs", "2"}}, {*x, *y}, {x->dims, x->dims});
}

bool constant(RandomBuilder &g)
{
    const char *type = g.random.chance(60) ? "float32" : g.random.chance(50) ? "float16" : "int32";
    return g.add(g.random.chance(50) ? "_zeros" : "_ones", {{"shape", "(2, 8)"}, {"dtype", type}}, {},
                 {{2, 8}});
}

bool special(RandomBuilder &g)
{
    const auto x = g.pick(isImage);
    if (!x)
        return false;
    const Dims larger{x->dims[0], x->dims[1], x->dims[2] * 2, x->dims[3] * 2};
    switch (g.random.below(3)) {
    case 0:
        return g.add("Crop", {{"num_args", "1"}, {"h_w", "(1, 1)"}}, {*x}, {{x->dims[0], x->dims[1], 1, 1}});
    case 1:
        return elementCount(larger) <= kLargest
            && g.add("UpSampling", {{"num_args", "1"}, {"sample_type", "nearest"}, {"scale", "2"}}, {*x},
                     {larger});
    default:
        return g.add("SequenceMask", {}, {*x}, {x->dims});
    }
}

bool recurrent(RandomBuilder &g)
{
    const auto x = g.pick([](const Value &v) { return v.isFloat() && v.rank() == 3; });
    if (!x)
        return false;
    const std::int64_t state = 4;
    const std::int64_t weights = state * (x->dims[2] + state + 2);
    return g.add("RNN", {{"mode", "rnn_tanh"}, {"num_layers", "1"}, {"state_size", "4"}},
                 {*x, Operand({weights}, "parameters"), Operand({1, x->dims[1], state}, "state")},
                 {{x->dims[0], x->dims[1], state}});
}

bool loss(RandomBuilder &g)
{
    const auto x = g.pick(isMatrix);
    return x && g.add("SoftmaxOutput", {}, {*x, Operand({x->dims[0]}, "label")}, {x->dims});
}

/// An operator that nobody knows, and what may follow it.
bool unknown(RandomBuilder &g)
{
    const auto x = g.pick([](const Value &v) { return v.rank() >= 2; });
    if (!x)
        return false;
    if (x->type == DType::Unknown && g.random.chance(50))
        return g.add(g.random.chance(50) ? "relu" : "exp", {}, {*x}, {x->dims});
    return g.add("_contrib_of_tomorrow", {{"depth", "2"}}, {*x}, {x->dims});
}

bool bodies(RandomBuilder &g)
{
    return g.random.chance(60) ? foreachLoop(g) : branches(g);
}

bool twin(RandomBuilder &g)
{
    return g.addTwin();
}

} // namespace

bool addRandomOperator(RandomBuilder &g)
{
    static const std::vector<std::pair<Maker, int>> kMakers{
        {unary, 16},  {binary, 14},     {convolution, 10},  {deconvolution, 1}, {dense, 8},
        {product, 4}, {pooling, 4},     {normalization, 6}, {prelu, 2},         {join, 6},
        {where, 2},   {movement, 14},   {reduction, 4},     {topk, 2},          {lookup, 4},
        {shapeOf, 1}, {likeAnother, 2}, {cast, 4},          {ampCast, 2},       {constant, 1},
        {special, 2}, {recurrent, 1},   {loss, 1},          {bodies, 1},        {unknown, 1},
        {twin, 7}};
    static const std::vector<Maker> kDrawn = [] {
        std::vector<Maker> drawn;
        for (const auto &[maker, weight] : kMakers)
            drawn.insert(drawn.end(), static_cast<std::size_t>(weight), maker);
        return drawn;
    }();
    return g.random.oneOf(kDrawn)(g);
}

} // namespace halftone::test
