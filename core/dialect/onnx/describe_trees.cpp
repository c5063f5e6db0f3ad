#include "core/dialect/onnx/tabular_fields.h"
#include "core/tensor/elements.h"

#include <algorithm>
#include <array>
#include <unordered_map>

/// Ensembles of trees, whose nodes attributes list one by one.
namespace halftone::dialect::onnx {
namespace {

using ops::Operator;
using ops::ScoreTransform;
using ops::TreeEnsemble;
using Test = TreeEnsemble::Test;

/// Positions that attributes give, checked against what there is.
class Positions
{
public:
    Positions(NodeReader &in, std::string key, std::size_t count)
        : m_in(in)
        , m_key(std::move(key))
        , m_values(in.integers(m_key))
    {
        if (m_values.size() != count)
            in.fail(m_key, std::to_string(m_values.size()) + " entries", std::to_string(count));
        m_values.resize(count);
    }

    /// 0, and an error, for what is not below `end`.
    std::uint32_t at(std::size_t k, std::size_t end)
    {
        const std::int64_t value = m_values[k];
        if (value >= 0 && static_cast<std::uint64_t>(value) < end)
            return static_cast<std::uint32_t>(value);
        m_in.fail(m_key, std::to_string(value) + " at place " + std::to_string(k),
                  "0 to " + std::to_string(static_cast<std::int64_t>(end) - 1));
        return 0;
    }

private:
    NodeReader &m_in;
    std::string m_key;
    ops::Dims m_values;
};

constexpr std::size_t kMostColumns = std::size_t{1} << 24;
constexpr std::size_t kMostFeatures = std::size_t{1} << 31;

/// fails: a node that two others lead to, or that is led to from below itself
/// areAllMet  every node must stand below a root
void checkTrees(NodeReader &in, const TreeEnsemble &op, bool areAllMet)
{
    std::vector<bool> isMet(op.nodes.size());
    for (const std::uint32_t root : op.roots) {
        std::vector<std::uint32_t> open{root};
        while (!open.empty()) {
            const std::uint32_t at = open.back();
            open.pop_back();
            if (isMet[at])
                return in.fail("nodes", "node " + std::to_string(at) + " has two parents", "trees");
            isMet[at] = true;
            if (op.nodes[at].test == Test::Leaf)
                continue;
            open.push_back(op.nodes[at].whenTrue);
            open.push_back(op.nodes[at].whenFalse);
        }
    }
    const auto unmet = std::ranges::find(isMet, false);
    if (areAllMet && unmet != isMet.end())
        in.fail("nodes", "node " + std::to_string(unmet - isMet.begin()) + " is its own descendant", "trees");
}

Test testOf(NodeReader &in, std::string_view text)
{
    static constexpr std::array<std::string_view, 6> kTests{"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                                            "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
    if (text == "LEAF")
        return Test::Leaf;
    const auto *const at = std::ranges::find(kTests, text);
    if (at == kTests.end())
        in.fail("nodes_modes", std::string(text.substr(0, 60)), "BRANCH_… or LEAF");
    return static_cast<Test>((at - kTests.begin()) % static_cast<std::ptrdiff_t>(kTests.size()));
}

/// Nodes of ensembles as before version 5: each is called by its tree's number and its own.
class NumberedNodes
{
public:
    NumberedNodes(NodeReader &in, TreeEnsemble &op)
        : m_in(in)
        , m_op(op)
        , m_modes(in.texts("nodes_modes"))
        , m_trees(in.integers("nodes_treeids"))
        , m_ids(in.integers("nodes_nodeids"))
    {
    }

    /// weights  the attributes that begin so give the leaves' weights: "class", "target"
    void read(const std::string &weights)
    {
        if (m_ids.size() != m_modes.size() || m_trees.size() != m_modes.size() || m_modes.empty())
            return m_in.fail("nodes_modes", std::to_string(m_modes.size()) + " entries",
                             "the same number as nodes_nodeids and nodes_treeids");
        readTests();
        if (!m_in.error())
            connect();
        if (!m_in.error())
            readWeights(weights);
    }

private:
    using Name = std::pair<std::int64_t, std::int64_t>;

    void readTests()
    {
        const std::size_t count = m_modes.size();
        const std::vector<double> values = numbersOf(m_in, "nodes_values");
        ops::Dims missing = m_in.integers("nodes_missing_value_tracks_true");
        missing.resize(count);
        Positions features(m_in, "nodes_featureids", count);
        if (values.size() != count)
            return m_in.fail("nodes_values", std::to_string(values.size()) + " entries",
                             std::to_string(count));
        m_op.nodes.resize(count);
        for (std::size_t k = 0; k < count; ++k) {
            TreeEnsemble::Node &node = m_op.nodes[k];
            node.test = testOf(m_in, m_modes[k]);
            node.value = values[k];
            node.missingIsTrue = missing[k] != 0;
            if (node.test == Test::Leaf)
                continue;
            node.feature = features.at(k, kMostFeatures);
            m_op.features = std::max<std::int64_t>(m_op.features, std::int64_t{node.feature} + 1);
        }
    }

    void connect()
    {
        const std::size_t count = m_modes.size();
        for (std::size_t k = 0; k < count; ++k)
            if (!m_places.emplace(m_trees[k] * kStride + m_ids[k], static_cast<std::uint32_t>(k)).second)
                return m_in.fail("nodes_nodeids", "two nodes have the id " + std::to_string(m_ids[k]),
                                 "unique ids in each tree");
        const ops::Dims yes = m_in.integers("nodes_truenodeids");
        const ops::Dims no = m_in.integers("nodes_falsenodeids");
        if (yes.size() != count || no.size() != count)
            return m_in.fail("nodes_truenodeids", std::to_string(yes.size()) + " entries",
                             std::to_string(count));
        std::vector<bool> isBelow(count);
        for (std::size_t k = 0; k < count; ++k) {
            TreeEnsemble::Node &node = m_op.nodes[k];
            if (node.test == Test::Leaf)
                continue;
            node.whenTrue = place(m_trees[k], yes[k]);
            node.whenFalse = place(m_trees[k], no[k]);
            isBelow[node.whenTrue] = isBelow[node.whenFalse] = true;
        }
        for (std::uint32_t k = 0; k < count; ++k)
            if (!isBelow[k])
                m_op.roots.push_back(k);
    }

    std::uint32_t place(std::int64_t tree, std::int64_t node)
    {
        const auto found = m_places.find(tree * kStride + node);
        if (found != m_places.end())
            return found->second;
        m_in.fail("nodes_nodeids", "tree " + std::to_string(tree) + " has no node " + std::to_string(node),
                  "one");
        return 0;
    }

    void readWeights(const std::string &key)
    {
        const std::vector<double> values = numbersOf(m_in, key + "_weights");
        const ops::Dims trees = m_in.integers(key + "_treeids");
        const ops::Dims nodes = m_in.integers(key + "_nodeids");
        Positions columns(m_in, key + "_ids", values.size());
        if (trees.size() != values.size() || nodes.size() != values.size())
            return m_in.fail(key + "_nodeids", std::to_string(nodes.size()) + " entries",
                             std::to_string(values.size()));
        std::vector<std::vector<TreeEnsemble::Weight>> ofNodes(m_op.nodes.size());
        for (std::size_t k = 0; k < values.size(); ++k)
            ofNodes[place(trees[k], nodes[k])].push_back(
                {columns.at(k, static_cast<std::size_t>(m_op.columns)), values[k]});
        for (std::size_t k = 0; k < ofNodes.size(); ++k) {
            if (m_op.nodes[k].test != Test::Leaf)
                continue;
            m_op.nodes[k].first = static_cast<std::uint32_t>(m_op.weights.size());
            m_op.weights.insert(m_op.weights.end(), ofNodes[k].begin(), ofNodes[k].end());
            m_op.nodes[k].last = static_cast<std::uint32_t>(m_op.weights.size());
        }
    }

    static constexpr std::int64_t kStride = std::int64_t{1} << 32; ///< numbers of nodes are below it

    NodeReader &m_in;
    TreeEnsemble &m_op;
    std::vector<std::string> m_modes;
    ops::Dims m_trees;
    ops::Dims m_ids;
    std::unordered_map<std::int64_t, std::uint32_t> m_places;
};

std::int64_t columnsOf(NodeReader &in)
{
    const std::int64_t columns = in.integer("n_targets", 1);
    if (columns < 1 || columns > static_cast<std::int64_t>(kMostColumns))
        in.fail("n_targets", std::to_string(columns), "1 or more");
    return std::clamp<std::int64_t>(columns, 1, kMostColumns);
}

std::vector<double> tensorValues(NodeReader &in, std::string_view key)
{
    const tensor::Tensor *const held = in.tensor(key);
    if (!held)
        return {};
    std::vector<double> values(held->elementCount());
    if (!values.empty())
        tensor::widen(held->dtype(), held->bytes().data(), values.size(), values.data());
    return values;
}

/// Inner nodes and leaves of version 5 lie in lists of their own; here leaves follow the others.
class SplitNodes
{
public:
    SplitNodes(NodeReader &in, TreeEnsemble &op)
        : m_in(in)
        , m_op(op)
        , m_modes(tensorValues(in, "nodes_modes"))
        , m_weights(tensorValues(in, "leaf_weights"))
    {
    }

    void read()
    {
        m_op.nodes.resize(m_modes.size() + m_weights.size());
        readTests();
        Positions columns(m_in, "leaf_targetids", m_weights.size());
        for (std::size_t k = 0; k < m_weights.size(); ++k) {
            TreeEnsemble::Node &leaf = m_op.nodes[m_modes.size() + k];
            leaf.first = static_cast<std::uint32_t>(k);
            leaf.last = leaf.first + 1;
            m_op.weights.push_back({columns.at(k, static_cast<std::size_t>(m_op.columns)), m_weights[k]});
        }
        const std::size_t roots = m_in.integers("tree_roots").size();
        Positions places(m_in, "tree_roots", roots);
        for (std::size_t k = 0; k < roots; ++k) {
            const std::uint32_t root = places.at(k, std::max<std::size_t>(m_modes.size(), 1));
            // A tree that is one leaf is written as a node both of whose ways lead there.
            const TreeEnsemble::Node &node = m_op.nodes[root];
            m_op.roots.push_back(node.test != Test::Leaf && node.whenTrue == node.whenFalse
                                         && node.whenTrue >= m_modes.size()
                                     ? node.whenTrue
                                     : root);
        }
    }

private:
    void readTests()
    {
        const std::size_t count = m_modes.size();
        const std::vector<double> splits = tensorValues(m_in, "nodes_splits");
        ops::Dims missing = m_in.integers("nodes_missing_value_tracks_true");
        missing.resize(count);
        if (splits.size() != count || count == 0)
            return m_in.fail("nodes_splits", std::to_string(splits.size()) + " entries",
                             std::to_string(std::max<std::size_t>(count, 1)));
        Positions features(m_in, "nodes_featureids", count);
        Positions modes(m_in, "nodes_featureids", count);
        Ways yes(m_in, "nodes_trueleafs", "nodes_truenodeids", count);
        Ways no(m_in, "nodes_falseleafs", "nodes_falsenodeids", count);
        m_members = tensorValues(m_in, "membership_values");
        for (std::size_t k = 0; k < count; ++k) {
            TreeEnsemble::Node &node = m_op.nodes[k];
            if (!(m_modes[k] >= 0 && m_modes[k] <= 6))
                return m_in.fail("nodes_modes", std::to_string(m_modes[k]), "0 to 6");
            node.test = static_cast<Test>(static_cast<int>(m_modes[k]));
            node.value = splits[k];
            node.missingIsTrue = missing[k] != 0;
            node.feature = features.at(k, kMostFeatures);
            m_op.features = std::max<std::int64_t>(m_op.features, std::int64_t{node.feature} + 1);
            node.whenTrue = yes.at(k, count, m_weights.size());
            node.whenFalse = no.at(k, count, m_weights.size());
            if (node.test == Test::Member)
                takeMembers(node);
        }
    }

    /// Those up to the next NaN.
    void takeMembers(TreeEnsemble::Node &node)
    {
        node.first = static_cast<std::uint32_t>(m_op.members.size());
        for (; m_nextMember < m_members.size() && m_members[m_nextMember] == m_members[m_nextMember];
             ++m_nextMember)
            m_op.members.push_back(m_members[m_nextMember]);
        ++m_nextMember;
        node.last = static_cast<std::uint32_t>(m_op.members.size());
    }

    struct Ways
    {
        Positions isLeaf;
        Positions to;

        Ways(NodeReader &in, const char *leafs, const char *ids, std::size_t count)
            : isLeaf(in, leafs, count)
            , to(in, ids, count)
        {
        }
        std::uint32_t at(std::size_t k, std::size_t nodes, std::size_t leaves)
        {
            return isLeaf.at(k, 2) != 0 ? static_cast<std::uint32_t>(nodes) + to.at(k, leaves)
                                        : to.at(k, nodes);
        }
    };

    NodeReader &m_in;
    TreeEnsemble &m_op;
    std::vector<double> m_modes;
    std::vector<double> m_weights;
    std::vector<double> m_members;
    std::size_t m_nextMember = 0;
};

} // namespace

Operator treeClassifier(NodeReader &in)
{
    TreeEnsemble op;
    op.labels = labelsOf(in, "classlabels_int64s");
    op.columns = static_cast<std::int64_t>(op.labels.size());
    op.transform = transformOf(in);
    op.base = numbersOf(in, "base_values");
    NumberedNodes(in, op).read("class");
    if (!in.error())
        checkTrees(in, op, true);
    return op;
}

Operator treeRegressor(NodeReader &in)
{
    static constexpr std::array<std::string_view, 5> kAggregates{"AVERAGE", "SUM", "MIN", "MAX", ""};
    TreeEnsemble op;
    op.columns = columnsOf(in);
    const std::size_t aggregate = in.choice("aggregate_function", kAggregates);
    op.aggregate = aggregate == kAggregates.size() - 1 ? TreeEnsemble::Aggregate::Sum
                                                       : static_cast<TreeEnsemble::Aggregate>(aggregate);
    op.transform = transformOf(in);
    op.base = numbersOf(in, "base_values");
    NumberedNodes(in, op).read("target");
    if (!in.error())
        checkTrees(in, op, true);
    return op;
}

Operator treeEnsemble(NodeReader &in)
{
    TreeEnsemble op;
    op.columns = columnsOf(in);
    const std::int64_t aggregate = in.integer("aggregate_function", 1);
    const std::int64_t transform = in.integer("post_transform", 0);
    if (aggregate < 0 || aggregate > 3)
        in.fail("aggregate_function", std::to_string(aggregate), "0 to 3");
    if (transform < 0 || transform > 4)
        in.fail("post_transform", std::to_string(transform), "0 to 4");
    op.aggregate = static_cast<TreeEnsemble::Aggregate>(aggregate & 3);
    op.transform = static_cast<ScoreTransform>(std::clamp<std::int64_t>(transform, 0, 4));
    if (!in.error())
        SplitNodes(in, op).read();
    if (!in.error())
        checkTrees(in, op, false);
    return op;
}

} // namespace halftone::dialect::onnx
