#include "core/session/node_query.h"

#include "core/tensor/short_name.h"

#include <algorithm>
#include <array>
#include <map>

namespace halftone::session {
namespace {

using graph::NodeId;
using Kind = QueryField::Kind;

constexpr std::string_view kNoErrors
    = "No errors have been computed yet: attach data and wait for the comparison.";
constexpr std::string_view kNoIsolated
    = "No isolated errors have been computed yet: attach data and wait for the comparison.";
constexpr std::string_view kNoTimes = "No times have been measured yet: turn on \"latency\" in the tool bar.";
constexpr std::string_view kNoBackends
    = "No backends have been compared yet: choose Compare with Backend in the Run menu.";

/// In the order of kFields.
enum class NodeField : std::size_t
{
    Name,
    Operator,
    Type,
    Shape,
    Error,
    Sqnr,
    MaxAbs,
    Overflow,
    Nan,
    Isolated,
    IsolatedError,
    IsolatedMax,
    Time,
    Fp32Time,
    Share,
    Casts,
    BackendSqnr,
    BackendError,
    BackendMax,
};

const std::vector<QueryField> &allFields()
{
    static const std::vector<QueryField> kFields{
        {{"name"}, Kind::Text, true},
        {{"op", "operator"}, Kind::Text, true, true, true},
        {{"type", "precision"}, Kind::Text, false, true},
        {{"shape"}, Kind::Shape, true},
        {{"error", "relative_error"}, Kind::Ratio, false, false, false, kNoErrors},
        {{"sqnr"}, Kind::Decibels, false, false, false, kNoErrors},
        {{"max_abs", "max"}, Kind::Count, false, false, false, kNoErrors},
        {{"overflow", "overflows"}, Kind::Count, false, false, false, kNoErrors},
        {{"nan"}, Kind::Count, false, false, false, kNoErrors},
        {{"isolated", "isolated_sqnr"}, Kind::Decibels, false, false, false, kNoIsolated},
        {{"isolated_error"}, Kind::Ratio, false, false, false, kNoIsolated},
        {{"isolated_max", "isolated_max_abs"}, Kind::Count, false, false, false, kNoIsolated},
        {{"time", "latency"}, Kind::Time, false, false, false, kNoTimes},
        {{"fp32_time"}, Kind::Time, false, false, false, kNoTimes},
        {{"share"}, Kind::Ratio, false, false, false, kNoTimes},
        {{"casts"}, Kind::Count},
        {{"backend_sqnr"}, Kind::Decibels, false, false, false, kNoBackends},
        {{"backend_error"}, Kind::Ratio, false, false, false, kNoBackends},
        {{"backend_max"}, Kind::Count, false, false, false, kNoBackends},
    };
    return kFields;
}

/// "f16", "float16", "fp16"; "b16", "bfloat16", "bf16".
std::vector<std::string> formsOf(tensor::DType type)
{
    std::vector<std::string> forms{std::string(tensor::shortNameOf(type)), std::string(nameOf(type))};
    if (const std::size_t at = forms[1].find("float"); at != std::string::npos) {
        std::string form = forms[1];
        forms.push_back(form.replace(at, 5, at == 0 ? "fp" : "f"));
    }
    return forms;
}

std::string textOf(const tensor::Shape &shape)
{
    if (shape.rank() == 0)
        return "scalar";
    std::string text;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis)
        text += (axis > 0 ? "x" : "") + (shape[axis] < 0 ? std::string("?") : std::to_string(shape[axis]));
    return text;
}

class NodeTable : public QueryTable
{
public:
    NodeTable(const Snapshot &snapshot, const Figures &figures)
        : m_snapshot(snapshot)
        , m_figures(figures)
        , m_casts(castsByReader(snapshot))
    {
        std::map<std::uint32_t, double> steps; // nodes that are fused have their step's time
        for (const NodeFigures &node : figures.nodes) {
            if (node.mixed)
                steps[node.mixed->step] = node.mixed->microseconds;
        }
        for (const auto &[step, microseconds] : steps)
            m_wholeUs += microseconds;
    }

    std::span<const QueryField> fields() const override { return nodeFields(); }
    std::size_t rowCount() const override { return m_snapshot.graph().nodeCount(); }

    std::vector<std::string> texts(std::size_t row, std::size_t field) const override
    {
        const auto node = static_cast<NodeId>(row);
        const graph::NodeDef &def = m_snapshot.graph().node(node);
        switch (NodeField(field)) {
        case NodeField::Name:
            return {def.name};
        case NodeField::Operator:
            return def.isVariable() ? std::vector<std::string>() : std::vector{def.op};
        case NodeField::Type:
            return formsOf(m_snapshot.precisionOf(node));
        case NodeField::Shape:
            if (m_snapshot.shapes && row < m_snapshot.shapes->byNode.size()
                && !m_snapshot.shapes->byNode[row].empty()
                && m_snapshot.shapes->byNode[row].front().hasRank())
                return {textOf(m_snapshot.shapes->byNode[row].front())};
            return {};
        default:
            return {};
        }
    }

    std::optional<double> number(std::size_t row, std::size_t field) const override
    {
        const auto asked = NodeField(field);
        if (asked == NodeField::Casts)
            return static_cast<double>(m_casts[row]);
        if (row >= m_figures.nodes.size())
            return std::nullopt;
        const NodeFigures &node = m_figures.nodes[row];
        if (asked == NodeField::Fp32Time)
            return node.fp32 ? std::optional(node.fp32->microseconds) : std::nullopt;
        if (asked == NodeField::Time || asked == NodeField::Share)
            return node.mixed
                ? std::optional(node.mixed->microseconds / (asked == NodeField::Share ? m_wholeUs : 1))
                : std::nullopt;
        const auto &errors = asked < NodeField::Isolated ? node.cumulative
            : asked < NodeField::Time                    ? node.isolated
                                                         : node.betweenBackends;
        return errors ? numberOf(*errors, asked) : std::nullopt;
    }

private:
    static std::optional<double> numberOf(const tensor::ErrorFigures &errors, NodeField asked)
    {
        switch (asked) {
        case NodeField::Error:
        case NodeField::IsolatedError:
        case NodeField::BackendError:
            return errors.relativeL2;
        case NodeField::Sqnr:
        case NodeField::Isolated:
        case NodeField::BackendSqnr:
            return errors.sqnrDb;
        case NodeField::Overflow:
            return static_cast<double>(errors.overflow);
        case NodeField::Nan:
            return static_cast<double>(errors.nan);
        default:
            return errors.maxAbs;
        }
    }

    const Snapshot &m_snapshot;
    const Figures &m_figures;
    std::vector<std::uint32_t> m_casts;
    double m_wholeUs = 0;
};

} // namespace

std::span<const QueryField> nodeFields()
{
    return allFields();
}

std::span<const std::string_view> nodeQueryExamples()
{
    static constexpr std::array<std::string_view, 4> kExamples{"conv", "op = Conv", "error > 0.01",
                                                               "time > 100us"};
    return kExamples;
}

FoundNodes findNodes(const Query &query, const Snapshot &snapshot, const Figures &figures)
{
    Query::Answer answer = query.ask(NodeTable(snapshot, figures));
    FoundNodes found{{}, std::move(answer.notes)};
    for (const std::size_t row : answer.rows)
        found.nodes.push_back(static_cast<NodeId>(row));
    std::ranges::stable_partition(found.nodes,
                                  [&](NodeId node) { return !snapshot.graph().isVariable(node); });
    return found;
}

std::vector<std::uint32_t> castsByReader(const Snapshot &snapshot)
{
    std::vector<std::uint32_t> casts(snapshot.graph().nodeCount(), 0);
    if (!snapshot.converted)
        return casts;
    for (const rewrite::InsertedCast &cast : snapshot.converted->conversion.casts) {
        std::vector<NodeId> readers;
        for (const rewrite::Reader &reader : cast.readers) {
            if (reader.node != rewrite::kNoNode)
                readers.push_back(reader.node);
        }
        std::ranges::sort(readers);
        readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
        for (const NodeId reader : readers)
            ++casts[reader];
    }
    return casts;
}

} // namespace halftone::session
