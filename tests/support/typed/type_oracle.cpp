#include "tests/support/typed/type_oracle.h"

#include "core/graph/traverse.h"

#include <algorithm>
#include <map>
#include <optional>

namespace halftone::test {
namespace {

using graph::NodeDef;
using graph::NodeId;
using tensor::DType;

struct Node
{
    const NodeDef &def;
    Types &in;
    Types &out;

    std::string attribute(const char *key, const char *otherwise) const
    {
        const std::string *text = def.attributes.find(key);
        return text == nullptr ? otherwise : *text;
    }
    bool flag(const char *key, bool otherwise) const
    {
        const std::string text = attribute(key, otherwise ? "True" : "False");
        return text == "True" || text == "true" || text == "1";
    }
    DType dtype(const char *otherwise) const
    {
        return tensor::dtypeNamed(attribute("dtype", otherwise)).value_or(DType::Unknown);
    }
};

using Rule = Fit (*)(Node &);

bool set(DType &slot, DType type)
{
    if (slot == DType::Unknown)
        slot = type;
    return slot == type;
}

Fit setAll(Types &slots, DType type)
{
    const bool fits = std::ranges::all_of(slots, [type](DType &slot) { return set(slot, type); });
    return fits ? Fit::Complete : Fit::Contradiction;
}

DType firstKnown(const Types &types)
{
    const auto known = std::ranges::find_if(types, [](DType type) { return type != DType::Unknown; });
    return known == types.end() ? DType::Unknown : *known;
}

Fit worse(Fit a, Fit b)
{
    return std::max(a, b);
}

/// One type everywhere, and any position gives it.
Fit allAlike(Node &n)
{
    DType type = firstKnown(n.in);
    if (type == DType::Unknown)
        type = firstKnown(n.out);
    if (type == DType::Unknown)
        return Fit::Open;
    return worse(setAll(n.in, type), setAll(n.out, type));
}

/// One type everywhere, and only the data give it (or the first output, read backward).
Fit dataGives(Node &n)
{
    const DType type = n.in[0] != DType::Unknown ? n.in[0] : n.out[0];
    if (type == DType::Unknown)
        return Fit::Open;
    return worse(setAll(n.in, type), setAll(n.out, type));
}

Fit onlyFloat32(Node &n)
{
    return worse(setAll(n.in, DType::F32), setAll(n.out, DType::F32));
}

/// The outputs have the first input's type; the inputs from the second on have types of their own.
Fit outputsAsFirst(Node &n)
{
    const DType type = n.in[0] != DType::Unknown ? n.in[0] : n.out[0];
    if (type == DType::Unknown)
        return Fit::Open;
    return set(n.in[0], type) ? setAll(n.out, type) : Fit::Contradiction;
}

/// As outputsAsFirst; an index whose type nobody knows makes the operator throw.
Fit indexed(Node &n)
{
    return n.in[1] == DType::Unknown ? Fit::Contradiction : outputsAsFirst(n);
}

/// As outputsAsFirst, and quiet until all is known.
Fit likeSecond(Node &n)
{
    return n.in[0] == DType::Unknown || n.in[1] == DType::Unknown ? Fit::Open : outputsAsFirst(n);
}

Fit pooling(Node &n)
{
    const DType type = n.in[0];
    if (type == DType::Unknown)
        return Fit::Open;
    if (n.out.size() > 1 && !set(n.out[1], DType::I32))
        return Fit::Contradiction;
    return set(n.out[0], type) ? Fit::Complete : Fit::Contradiction;
}

/// Statistics of 16-bit data are kept in float32.
Fit batchNorm(Node &n)
{
    const DType type = n.in[0] != DType::Unknown ? n.in[0] : n.out[0];
    if (type == DType::Unknown)
        return Fit::Open;
    if (!tensor::isFloat(type) || !set(n.in[0], type) || !set(n.out[0], type))
        return Fit::Contradiction;
    const DType wide = tensor::isHalf(type) ? DType::F32 : type;
    bool fits = true;
    for (std::size_t i = 1; i < n.in.size(); ++i)
        fits = set(n.in[i], wide) && fits;
    for (std::size_t k = 1; k < n.out.size(); ++k)
        fits = set(n.out[k], wide) && fits;
    return fits ? Fit::Complete : Fit::Contradiction;
}

Fit embedding(Node &n)
{
    if (n.in[0] == DType::Unknown)
        return Fit::Contradiction;
    DType type = n.in[1] != DType::Unknown ? n.in[1] : n.out[0];
    if (type == DType::Unknown)
        type = n.dtype("float32");
    return set(n.in[1], type) && set(n.out[0], type) ? Fit::Complete : Fit::Contradiction;
}

Fit where(Node &n)
{
    DType type = n.in[1] != DType::Unknown ? n.in[1] : n.in[2];
    if (type == DType::Unknown)
        type = n.out[0];
    if (type == DType::Unknown)
        return Fit::Open;
    const bool fits = set(n.in[1], type) && set(n.in[2], type) && set(n.out[0], type);
    return !fits ? Fit::Contradiction : n.in[0] == DType::Unknown ? Fit::Open : Fit::Complete;
}

Fit asAttributeSays(Node &n)
{
    return setAll(n.out, n.dtype("float32"));
}
Fit sizes(Node &n)
{
    return setAll(n.out, DType::I64);
}

Fit oneHot(Node &n)
{
    return n.in[0] == DType::Unknown ? Fit::Contradiction : asAttributeSays(n);
}

bool isAmpFloat(DType type)
{
    return type == DType::F32 || type == DType::F16 || type == DType::BF16;
}

Fit ampCast(Node &n)
{
    if (n.in[0] == DType::Unknown)
        return Fit::Open;
    return setAll(n.out, isAmpFloat(n.in[0]) ? n.dtype("float32") : n.in[0]);
}

Fit ampMulticast(Node &n)
{
    if (std::ranges::find(n.in, DType::Unknown) != n.in.end())
        return Fit::Open;
    DType common = n.in[0];
    if (std::ranges::find(n.in, DType::F32) != n.in.end())
        common = DType::F32;
    bool fits = true;
    for (std::size_t i = 0; i < n.in.size(); ++i)
        fits = set(n.out[i], isAmpFloat(n.in[i]) ? common : n.in[i]) && fits;
    return fits ? Fit::Complete : Fit::Contradiction;
}

Fit topk(Node &n)
{
    const std::string returned = n.attribute("ret_typ", "indices");
    if (returned == "indices")
        return asAttributeSays(n);
    if (n.in[0] == DType::Unknown)
        return Fit::Open;
    if (!set(n.out[0], n.in[0]))
        return Fit::Contradiction;
    return n.out.size() < 2 || set(n.out[1], n.dtype("float32")) ? Fit::Complete : Fit::Contradiction;
}

/// Arithmetic with a number: real ones turn integers to float64.
Fit withScalar(Node &n)
{
    const DType type = n.in[0];
    if (type == DType::Unknown)
        return Fit::Open;
    if (n.flag("is_int", true))
        return setAll(n.out, type == DType::Bool ? DType::I64 : type);
    return setAll(n.out, tensor::isFloat(type) ? type : DType::F64);
}

/// `dtype` names the result's type; without it the result has the data's.
Fit softmax(Node &n)
{
    if (n.def.attributes.find("dtype") != nullptr && n.attribute("dtype", "None") != "None")
        return asAttributeSays(n);
    return n.in[0] == DType::Unknown ? Fit::Open : setAll(n.out, n.in[0]);
}

/// The data have to be known; they give the type of everything.
Fit knownDataGive(Node &n)
{
    if (n.in[0] == DType::Unknown)
        return Fit::Contradiction;
    return worse(setAll(n.in, n.in[0]), setAll(n.out, n.in[0]));
}

std::vector<std::size_t> numbersIn(const std::string &text)
{
    std::vector<std::size_t> numbers;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at;
        while (end < text.size() && text[end] >= '0' && text[end] <= '9')
            ++end;
        if (end > at)
            numbers.push_back(std::stoul(text.substr(at, end - at)));
        at = end + 1;
    }
    return numbers;
}

/// The types of the body's outputs, its variables being the node's inputs.
Fit foreachBody(Node &n)
{
    const graph::Graph &body = *n.def.subgraphs.at(0);
    std::vector<NodeId> variables;
    for (const NodeId id : graph::postOrder(body)) {
        if (body.isVariable(id))
            variables.push_back(id);
    }
    Types types(body.nodeCount(), DType::Unknown);
    std::size_t input = 0;
    for (const char *locations : {"in_data_locs", "in_state_locs", "remain_locs"}) {
        for (const std::size_t location : numbersIn(n.attribute(locations, "[]"))) {
            if (location >= variables.size() || input >= n.in.size())
                return Fit::Contradiction;
            types[variables[location]] = n.in[input++];
        }
    }
    const OracleTypes inside = typesByOracle(body, types);
    if (!inside.contradiction.empty() || n.out.size() != body.heads().size())
        return Fit::Contradiction;
    Fit fit = Fit::Complete;
    for (std::size_t k = 0; k < n.out.size(); ++k) {
        const graph::Entry &head = body.heads()[k];
        const DType type = inside.outputs[head.node][head.output];
        fit = worse(fit,
                    type == DType::Unknown    ? Fit::Open
                        : set(n.out[k], type) ? Fit::Complete
                                              : Fit::Contradiction);
    }
    // What one round gives as state is what the next one takes.
    const std::size_t data = numbersIn(n.attribute("in_data_locs", "[]")).size();
    const std::size_t given = numbersIn(n.attribute("num_out_data", "0")).at(0);
    for (std::size_t k = given; k < n.out.size(); ++k) {
        if (n.in[data + k - given] != n.out[k])
            return Fit::Contradiction;
    }
    return fit;
}

/// The types of the bodies' outputs, the k-th variable of each being the input that its list names.
Fit condBodies(Node &n)
{
    Fit fit = Fit::Complete;
    std::size_t which = 0;
    for (const char *locations : {"cond_input_locs", "then_input_locs", "else_input_locs"}) {
        const graph::Graph &body = *n.def.subgraphs.at(which);
        const std::vector<std::size_t> inputs = numbersIn(n.attribute(locations, "[]"));
        Types types(body.nodeCount(), DType::Unknown);
        std::size_t variable = 0;
        for (const NodeId id : graph::postOrder(body)) {
            if (!body.isVariable(id))
                continue;
            if (variable >= inputs.size() || inputs[variable] >= n.in.size())
                return Fit::Contradiction;
            types[id] = n.in[inputs[variable++]];
        }
        const OracleTypes inside = typesByOracle(body, types);
        if (!inside.contradiction.empty())
            return Fit::Contradiction;
        for (std::size_t k = 0; k < body.heads().size(); ++k) {
            const graph::Entry &head = body.heads()[k];
            const DType type = inside.outputs[head.node][head.output];
            // The condition is float32; both branches give the same.
            const bool fits = which == 0
                ? type == DType::F32 || type == DType::Unknown
                : k < n.out.size() && (type == DType::Unknown || n.out[k] == type || set(n.out[k], type));
            fit = worse(fit, !fits ? Fit::Contradiction : type == DType::Unknown ? Fit::Open : Fit::Complete);
        }
        ++which;
    }
    return fit;
}

const std::map<std::string, Rule> &rules()
{
    static const std::map<std::string, Rule> kRules = [] {
        std::map<std::string, Rule> table;
        for (const char *op : {"FullyConnected",
                               "batch_dot",
                               "dot",
                               "_linalg_gemm2",
                               "elemwise_add",
                               "elemwise_sub",
                               "elemwise_mul",
                               "elemwise_div",
                               "broadcast_add",
                               "broadcast_sub",
                               "broadcast_mul",
                               "broadcast_div",
                               "broadcast_maximum",
                               "broadcast_power",
                               "broadcast_greater",
                               "broadcast_equal",
                               "_maximum",
                               "_minimum",
                               "add_n",
                               "stack",
                               "Concat",
                               "relu",
                               "sigmoid",
                               "tanh",
                               "Activation",
                               "LeakyReLU",
                               "exp",
                               "log",
                               "square",
                               "sqrt",
                               "rsqrt",
                               "abs",
                               "clip",
                               "sum",
                               "mean",
                               "max",
                               "norm",
                               "LayerNorm",
                               "L2Normalization",
                               "LRN",
                               "slice",
                               "slice_axis",
                               "SliceChannel",
                               "Reshape",
                               "transpose",
                               "Flatten",
                               "tile",
                               "expand_dims",
                               "argmax",
                               "_copy",
                               "BlockGrad",
                               "zeros_like",
                               "ones_like",
                               "_contrib_arange_like",
                               "_contrib_div_sqrt_dim",
                               "SoftmaxActivation",
                               "smooth_l1",
                               "_shuffle",
                               "Pad",
                               "reverse",
                               "_contrib_interleaved_matmul_selfatt_qk",
                               "_contrib_interleaved_matmul_selfatt_valatt",
                               "_contrib_BilinearResize2D",
                               "_contrib_AdaptiveAvgPooling2D"})
            table[op] = allAlike;
        for (const char *op : {"Convolution", "Deconvolution", "SoftmaxOutput"})
            table[op] = dataGives;
        for (const char *op : {"Dropout", "SwapAxis", "UpSampling", "SequenceMask", "RNN"})
            table[op] = knownDataGive;
        for (const char *op :
             {"Crop", "InstanceNorm", "_contrib_MultiBoxPrior", "_contrib_MultiBoxDetection"})
            table[op] = onlyFloat32;
        for (const char *op : {"slice_like", "reshape_like", "broadcast_like"})
            table[op] = likeSecond;
        for (const char *op : {"Cast", "argsort", "_zeros", "_ones", "_arange"})
            table[op] = asAttributeSays;
        for (const char *op :
             {"_plus_scalar", "_minus_scalar", "_mul_scalar", "_div_scalar", "_maximum_scalar",
              "_power_scalar", "_rdiv_scalar", "_rminus_scalar", "_equal_scalar", "_greater_scalar"})
            table[op] = withScalar;
        for (const char *op : {"softmax", "log_softmax"})
            table[op] = softmax;
        for (const char *op : {"take", "pick"})
            table[op] = indexed;
        table["gather_nd"] = outputsAsFirst;
        table["Pooling"] = pooling;
        table["BatchNorm"] = batchNorm;
        table["Embedding"] = embedding;
        table["where"] = where;
        table["shape_array"] = table["size_array"] = sizes;
        table["one_hot"] = oneHot;
        table["amp_cast"] = ampCast;
        table["amp_multicast"] = ampMulticast;
        table["topk"] = topk;
        table["_foreach"] = foreachBody;
        table["_cond"] = condBodies;
        return table;
    }();
    return kRules;
}

} // namespace

bool oracleKnows(const std::string &op)
{
    return rules().contains(op);
}

bool isWrittenInput(const NodeDef &node, std::size_t input)
{
    return node.op == "BatchNorm" && (input == 3 || input == 4);
}

std::size_t oracleOutputs(const NodeDef &node)
{
    const auto number = [&node](const char *key) {
        const std::string *text = node.attributes.find(key);
        return text == nullptr ? std::size_t{1} : numbersIn(*text).at(0);
    };
    const auto is = [&node](const char *key, const char *value) {
        const std::string *text = node.attributes.find(key);
        return text != nullptr && *text == value;
    };
    if (node.op == "BatchNorm" || node.op == "LayerNorm" || node.op == "InstanceNorm")
        return 3;
    if (node.op == "Dropout" || node.op == "L2Normalization" || node.op == "LRN")
        return 2;
    if (node.op == "SliceChannel" || node.op == "amp_multicast" || node.op == "_foreach"
        || node.op == "_cond")
        return number("num_outputs");
    if (node.op == "topk")
        return is("ret_typ", "both") ? 2 : 1;
    if (node.op == "RNN")
        return !is("state_outputs", "True") ? 1 : is("mode", "lstm") ? 3 : 2;
    return 1;
}

Fit completeTypes(const NodeDef &node, Types &inputs, Types &outputs)
{
    const auto rule = rules().find(node.op);
    if (rule == rules().end())
        return Fit::Open;
    Node view{node, inputs, outputs};
    return rule->second(view);
}

OracleTypes typesByOracle(const graph::Graph &graph, const Types &variables)
{
    OracleTypes result;
    const std::vector<std::uint32_t> referenced = graph::referencedOutputs(graph);
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        const NodeDef &node = graph.node(id);
        if (node.isVariable()) {
            result.outputs.push_back({id < variables.size() ? variables[id] : DType::Unknown});
            continue;
        }
        Types in;
        for (const graph::Entry &entry : graph.inputs(id))
            in.push_back(result.outputs[entry.node][entry.output]);
        const Types known = in;
        Types out(std::max<std::size_t>(oracleOutputs(node), referenced[id]), DType::Unknown);
        if (completeTypes(node, in, out) == Fit::Contradiction && result.contradiction.empty()) {
            const bool isOpen = std::ranges::find(known, DType::Unknown) != known.end();
            if (!isOpen)
                result.contradiction = node.op + " \"" + node.name + "\" reads " + textOf(known);
            out.assign(out.size(), DType::Unknown);
        }
        result.outputs.push_back(std::move(out));
    }
    return result;
}

std::string textOf(const Types &types)
{
    std::string text;
    for (const DType type : types)
        text += (text.empty() ? "" : ", ") + std::string(tensor::nameOf(type));
    return text;
}

} // namespace halftone::test
