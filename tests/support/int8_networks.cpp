#include "tests/support/int8_networks.h"

#include "tests/support/build_graph.h"

#include <map>
#include <string>

namespace halftone::test {
namespace {

class Network
{
public:
    graph::Entry data() { return m_graph.variable("data"); }
    graph::Entry variable(const std::string &name) { return m_graph.variable(name); }

    graph::Entry conv(const std::string &name, graph::Entry x, int filters, int kernel, int stride = 1,
                      int groups = 1, bool normalised = true)
    {
        const auto pair = [](int n) { return '(' + std::to_string(n) + ", " + std::to_string(n) + ')'; };
        x = m_graph.op("Convolution", name,
                       {x, m_graph.variable(name + "_weight"), m_graph.variable(name + "_bias")},
                       {{"kernel", pair(kernel)},
                        {"pad", pair(kernel / 2)},
                        {"stride", pair(stride)},
                        {"num_group", std::to_string(groups)},
                        {"num_filter", std::to_string(filters)}});
        if (!normalised)
            return x;
        return m_graph.op("BatchNorm", name + "_bn",
                          {x, m_graph.variable(name + "_gamma"), m_graph.variable(name + "_beta"),
                           m_graph.variable(name + "_mean"), m_graph.variable(name + "_var")},
                          {{"fix_gamma", "False"}});
    }
    graph::Entry relu(const std::string &name, graph::Entry x)
    {
        return m_graph.op("Activation", name, {x}, {{"act_type", "relu"}});
    }
    graph::Entry clip(const std::string &name, graph::Entry x)
    {
        return m_graph.op("clip", name, {x}, {{"a_min", "0"}, {"a_max", "6"}});
    }
    graph::Entry maxPool(const std::string &name, graph::Entry x)
    {
        return m_graph.op("Pooling", name, {x},
                          {{"kernel", "(3, 3)"}, {"stride", "(2, 2)"}, {"pool_type", "max"}});
    }
    graph::Entry op(const std::string &op, const std::string &name, std::vector<graph::Entry> inputs,
                    graph::Attributes attributes = {})
    {
        return m_graph.op(op, name, std::move(inputs), std::move(attributes));
    }
    graph::Model classified(graph::Entry x)
    {
        x = m_graph.op("Pooling", "pool", {x},
                       {{"global_pool", "True"}, {"kernel", "(1, 1)"}, {"pool_type", "avg"}});
        x = m_graph.op("FullyConnected", "fc",
                       {x, m_graph.variable("fc_weight"), m_graph.variable("fc_bias")},
                       {{"num_hidden", "10"}});
        return m_graph.model({x});
    }

private:
    GraphBuilder m_graph;
};

graph::Model separable(bool isClipped)
{
    Network n;
    const auto cut = [&](const std::string &name, graph::Entry x) {
        return isClipped ? n.clip(name, x) : n.relu(name, x);
    };
    graph::Entry x = cut("stem_relu", n.conv("stem", n.data(), 32, 3, 2));
    for (const auto &[name, stride] : std::map<std::string, int>{{"a", 1}, {"b", 2}, {"c", 1}}) {
        const graph::Entry before = x;
        x = cut(name + "_relu1", n.conv(name + "_expand", x, 64, 1));
        x = cut(name + "_relu2", n.conv(name + "_depth", x, 64, 3, stride, 64));
        x = n.conv(name + "_project", x, 32, 1);
        if (name == "c")
            x = n.op("elemwise_add", name + "_sum", {x, before});
    }
    return n.classified(cut("last", n.conv("head", x, 64, 1)));
}

} // namespace

graph::Model separableNetwork()
{
    return separable(false);
}

graph::Model clippedNetwork()
{
    return separable(true);
}

graph::Model residualNetwork()
{
    Network n;
    graph::Entry x = n.maxPool("stem_pool", n.relu("stem_relu", n.conv("stem", n.data(), 32, 7, 2)));
    for (const auto &[name, stride] : std::map<std::string, int>{{"a", 1}, {"b", 2}}) {
        const graph::Entry shortcut = n.conv(name + "_down", x, 64, 1, stride);
        x = n.relu(name + "_relu1", n.conv(name + "1", x, 16, 1, stride));
        x = n.relu(name + "_relu2", n.conv(name + "2", x, 16, 3));
        x = n.op("elemwise_add", name + "_sum", {n.conv(name + "3", x, 64, 1), shortcut});
        x = n.relu(name + "_out", x);
    }
    return n.classified(x);
}

graph::Model fireNetwork()
{
    Network n;
    graph::Entry x = n.relu("stem_relu", n.conv("stem", n.data(), 32, 3, 2, 1, false));
    for (const char *letter : {"a", "b", "c"}) {
        const std::string name = letter;
        x = name == "b" ? n.maxPool(name + "_pool", x) : x;
        x = n.relu(name + "_relu1", n.conv(name + "_squeeze", x, 16, 1, 1, 1, false));
        const graph::Entry narrow = n.relu(name + "_relu2", n.conv(name + "_expand1", x, 32, 1, 1, 1, false));
        const graph::Entry wide = n.relu(name + "_relu3", n.conv(name + "_expand3", x, 32, 3, 1, 1, false));
        x = n.op("Concat", name + "_concat", {narrow, wide}, {{"num_args", "2"}, {"dim", "1"}});
    }
    return n.classified(x);
}

graph::Model mixedNetwork()
{
    Network n;
    const auto cast = [&n](const std::string &name, graph::Entry x, const char *type) {
        return n.op("amp_cast", name, {x}, {{"dtype", type}});
    };
    graph::Entry x = n.relu("stem_relu", n.conv("stem", n.data(), 32, 3, 2));
    x = cast("narrow", x, "bfloat16");
    x = n.op("Deconvolution", "middle", {x, cast("narrow_weight", n.variable("middle_weight"), "bfloat16")},
             {{"kernel", "(3, 3)"}, {"pad", "(1, 1)"}, {"num_filter", "32"}, {"no_bias", "True"}});
    x = cast("widen", n.relu("middle_relu", x), "float32");
    x = n.relu("last", n.conv("head", x, 64, 3));
    return n.classified(n.op("exp", "exp", {x}));
}

graph::Model forkedNetwork()
{
    Network n;
    const auto cast = [&n](const std::string &name, graph::Entry x, const char *type) {
        return n.op("amp_cast", name, {x}, {{"dtype", type}});
    };
    const graph::Entry x = n.maxPool("stem_pool", n.relu("stem_relu", n.conv("stem", n.data(), 32, 3)));
    graph::Entry narrow = n.op(
        "Convolution", "narrow",
        {cast("data_cast", x, "bfloat16"), cast("weight_cast", n.variable("narrow_weight"), "bfloat16")},
        {{"kernel", "(3, 3)"}, {"pad", "(1, 1)"}, {"num_filter", "32"}, {"no_bias", "True"}});
    narrow = cast("widen", n.relu("narrow_relu", narrow), "float32");
    const graph::Entry coded = n.relu("coded_relu", n.conv("coded", x, 32, 3));
    return n.classified(n.op("elemwise_mul", "product", {coded, narrow}));
}

} // namespace halftone::test
