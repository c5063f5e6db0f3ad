#include "tests/support/typed/type_aware_model.h"

#include "core/graph/traverse.h"

#include <algorithm>

namespace halftone::test {
namespace {

using graph::Entry;
using graph::NodeDef;
using graph::NodeId;
using policy::Request;
using tensor::DType;

bool isCastable(DType type)
{
    return type == DType::F32 || tensor::isHalf(type);
}

class Converter
{
public:
    Converter(const graph::Graph &source, const policy::Assignment &assignment, const Types &variables,
              DType target)
        : m_source(source)
        , m_assignment(assignment)
        , m_original(typesByOracle(source, variables).outputs)
        , m_current(m_original)
        , m_target(target)
        , m_reads(source.nodeCount())
    {
    }

    /// Twice over: what the first pass learns of casts, the second one knows from the start.
    void run()
    {
        for (int pass = 0; pass < 2; ++pass) {
            m_current = m_original;
            for (const NodeId id : graph::postOrder(m_source))
                visit(id);
            m_headReads.clear();
            for (const Entry &head : m_source.heads()) {
                m_headReads.push_back(original(head));
                learn(head, original(head));
            }
        }
    }

    TypeAwareResult result(const std::vector<bool> &parameters, bool offline) const
    {
        struct Readers
        {
            std::size_t raw = 0;
            std::map<DType, std::size_t> cast;
        };
        std::map<std::pair<NodeId, std::uint32_t>, Readers> readers;
        const auto note = [&](const Entry &entry, DType type) {
            Readers &of = readers[{entry.node, entry.output}];
            type == current(entry) ? ++of.raw : ++of.cast[type];
        };
        TypeAwareResult result;
        result.servesAllTargets = m_servesAllTargets;
        for (const NodeId id : graph::postOrder(m_source)) {
            const auto inputs = m_source.inputs(id);
            for (std::size_t i = 0; i < inputs.size(); ++i)
                note(inputs[i], m_reads[id][i]);
            if (m_source.node(id).op == "amp_cast")
                ++result.castCount;
            if (m_source.node(id).op == "amp_multicast")
                result.castCount += inputs.size() - 1;
        }
        for (std::size_t k = 0; k < m_headReads.size(); ++k)
            note(m_source.heads()[k], m_headReads[k]);
        for (const auto &[tensor, of] : readers) {
            const NodeDef &node = m_source.node(tensor.first);
            if (offline && parameters[tensor.first] && of.raw == 0 && of.cast.size() == 1
                && of.cast.contains(m_target)) {
                result.stored[node.name] = m_target;
                continue;
            }
            for (const auto &[type, count] : of.cast)
                result.casts.insert(node.name + '_' + std::to_string(tensor.second) + "_amp_cast_"
                                    + std::string(tensor::nameOf(type)));
            result.castCount += of.cast.size();
        }
        return result;
    }

private:
    DType current(const Entry &entry) const { return m_current[entry.node][entry.output]; }
    DType original(const Entry &entry) const { return m_original[entry.node][entry.output]; }

    bool has(const Entry &entry, DType type) const
    {
        return current(entry) == type || m_casts.contains({entry.node, entry.output, type});
    }
    void learn(const Entry &entry, DType type)
    {
        if (current(entry) != type)
            m_casts.insert({entry.node, entry.output, type});
    }

    void visit(NodeId id)
    {
        const NodeDef &node = m_source.node(id);
        if (node.isVariable())
            return;
        if (node.op == "Cast" || node.op == "amp_cast" || node.op == "amp_multicast") {
            readRaw(id);
            return;
        }
        switch (m_assignment.requested(id)) {
        case Request::Target:
            if (tryLow(id, false))
                break;
            m_servesAllTargets = false;
            readOriginal(id);
            break;
        case Request::Widest:
            if (!someHaveTarget(id) || !tryLow(id, true))
                readOriginal(id);
            break;
        case Request::Follow:
            if (!someHaveTarget(id) || !tryLow(id, false))
                readOriginal(id);
            break;
        case Request::Fp32:
        case Request::Int8:
        case Request::Nothing:
            readOriginal(id);
            break;
        }
    }

    bool someHaveTarget(NodeId id) const
    {
        return std::ranges::any_of(m_source.inputs(id), [this](const Entry &e) { return has(e, m_target); });
    }

    void readRaw(NodeId id)
    {
        m_reads[id].clear();
        for (const Entry &entry : m_source.inputs(id))
            m_reads[id].push_back(current(entry));
        Types in = m_reads[id];
        Types out(m_current[id].size(), DType::Unknown);
        if (completeTypes(m_source.node(id), in, out) == Fit::Complete)
            m_current[id] = out;
    }

    void readOriginal(NodeId id)
    {
        m_reads[id].clear();
        for (const Entry &entry : m_source.inputs(id)) {
            m_reads[id].push_back(original(entry));
            learn(entry, original(entry));
        }
        m_current[id] = m_original[id];
    }

    bool tryLow(NodeId id, bool withoutNewCasts)
    {
        const NodeDef &node = m_source.node(id);
        const auto inputs = m_source.inputs(id);
        Types in;
        for (const Entry &entry : inputs)
            in.push_back(has(entry, m_target) ? m_target : DType::Unknown);
        if (in.empty())
            return false;
        if (std::ranges::find(in, m_target) == in.end())
            in[0] = m_target;
        Types out(m_current[id].size(), DType::Unknown);
        if (completeTypes(node, in, out) != Fit::Complete)
            return false;
        for (std::size_t i = 0; i < in.size(); ++i) {
            if (in[i] == DType::Unknown)
                in[i] = current(inputs[i]);
            const bool needsCast = in[i] != current(inputs[i]);
            if (isWrittenInput(node, i) && in[i] == m_target)
                return false;
            if (needsCast && (!isCastable(current(inputs[i])) || !isCastable(in[i])))
                return false;
            if (needsCast && withoutNewCasts && !has(inputs[i], in[i]))
                return false;
        }
        m_reads[id] = in;
        for (std::size_t i = 0; i < in.size(); ++i)
            learn(inputs[i], in[i]);
        m_current[id] = out;
        return true;
    }

    const graph::Graph &m_source;
    const policy::Assignment &m_assignment;
    std::vector<Types> m_original;
    std::vector<Types> m_current;
    DType m_target;
    std::set<std::tuple<NodeId, std::uint32_t, DType>> m_casts;
    std::vector<Types> m_reads; ///< by NodeId, in which type each input is read
    Types m_headReads;
    bool m_servesAllTargets = true;
};

} // namespace

TypeAwareResult convertTypeAware(const graph::Graph &source, const policy::Assignment &assignment,
                                 const Types &variables, const std::vector<bool> &parameters, DType target,
                                 bool castParamsOffline)
{
    Converter converter(source, assignment, variables, target);
    converter.run();
    return converter.result(parameters, castParamsOffline);
}

} // namespace halftone::test
