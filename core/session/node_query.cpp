#include "core/session/node_query.h"

#include "core/tensor/short_name.h"

#include <algorithm>
#include <array>
#include <map>
#include <type_traits>
#include <utility>

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

/// What is known of one node.
struct NodeRow
{
    const Snapshot &snapshot;
    const NodeFigures &figures;
    NodeId node;
    std::uint32_t casts;
    double wholeUs; ///< of the plan that the node is in

    const graph::NodeDef &def() const { return snapshot.graph().node(node); }
};

using Texts = std::vector<std::string>;
using Number = std::optional<double>;

/// "f16", "float16", "fp16"; "b16", "bfloat16", "bf16".
Texts typeOf(const NodeRow &row)
{
    const tensor::DType type = row.snapshot.precisionOf(row.node);
    Texts forms{std::string(tensor::shortNameOf(type)), std::string(nameOf(type))};
    if (const std::size_t at = forms[1].find("float"); at != std::string::npos) {
        std::string form = forms[1];
        forms.push_back(form.replace(at, 5, at == 0 ? "fp" : "f"));
    }
    return forms;
}

/// "64x32", "64,32", "64\u00d732".
Texts shapeOf(const NodeRow &row)
{
    const auto &shapes = row.snapshot.shapes;
    if (!shapes || row.node >= shapes->byNode.size() || shapes->byNode[row.node].empty()
        || !shapes->byNode[row.node].front().hasRank())
        return {};
    const tensor::Shape &shape = shapes->byNode[row.node].front();
    Texts forms;
    for (const char *sign : {"x", ",", "\u00d7"}) {
        forms.emplace_back();
        for (std::size_t axis = 0; axis < shape.rank(); ++axis)
            forms.back() += (axis > 0 ? sign : "")
                + (shape[axis] < 0 ? std::string("?") : std::to_string(shape[axis]));
    }
    return forms;
}

/// A figure of the errors that a member of NodeFigures has.
template <auto kErrors, auto kFigure>
Number errorOf(const NodeRow &row)
{
    const std::optional<tensor::ErrorFigures> &errors = row.figures.*kErrors;
    if (!errors)
        return std::nullopt;
    const auto &figure = (*errors).*kFigure;
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(figure)>>)
        return static_cast<double>(figure);
    else
        return figure;
}

template <auto kTime>
Number timeOf(const NodeRow &row)
{
    const std::optional<NodeLatency> &time = row.figures.*kTime;
    return time ? Number(time->microseconds) : std::nullopt;
}

Number shareOf(const NodeRow &row)
{
    return row.figures.mixed ? Number(row.figures.mixed->microseconds / row.wholeUs) : std::nullopt;
}

struct NodeField
{
    QueryField field;
    Texts (*texts)(const NodeRow &) = nullptr; ///< of a text
    Number (*number)(const NodeRow &) = nullptr; ///< of anything else
};

NodeField numberField(std::vector<std::string_view> names, Kind kind, std::string_view absent,
                      Number (*number)(const NodeRow &))
{
    return {{std::move(names), kind, false, false, absent}, nullptr, number};
}

const std::vector<NodeField> &allFields()
{
    using Node = NodeFigures;
    using Figure = tensor::ErrorFigures;
    static const std::vector<NodeField> kFields{
        {{{"name"}, Kind::Text, true}, [](const NodeRow &row) { return Texts{row.def().name}; }},
        {{{"op", "operator"}, Kind::Text, true, true},
         [](const NodeRow &row) { return row.def().isVariable() ? Texts() : Texts{row.def().op}; }},
        {{{"type", "precision"}, Kind::Text, false, true}, typeOf},
        {{{"shape"}, Kind::Text, true}, shapeOf},
        numberField({"error"}, Kind::Ratio, kNoErrors, errorOf<&Node::cumulative, &Figure::relativeL2>),
        numberField({"sqnr"}, Kind::Decibels, kNoErrors, errorOf<&Node::cumulative, &Figure::sqnrDb>),
        numberField({"max_abs", "max"}, Kind::Count, kNoErrors, errorOf<&Node::cumulative, &Figure::maxAbs>),
        numberField({"overflow"}, Kind::Count, kNoErrors, errorOf<&Node::cumulative, &Figure::overflow>),
        numberField({"nan"}, Kind::Count, kNoErrors, errorOf<&Node::cumulative, &Figure::nan>),
        numberField({"isolated", "isolated_sqnr"}, Kind::Decibels, kNoIsolated,
                    errorOf<&Node::isolated, &Figure::sqnrDb>),
        numberField({"isolated_error"}, Kind::Ratio, kNoIsolated,
                    errorOf<&Node::isolated, &Figure::relativeL2>),
        numberField({"isolated_max"}, Kind::Count, kNoIsolated, errorOf<&Node::isolated, &Figure::maxAbs>),
        numberField({"time", "latency"}, Kind::Time, kNoTimes, timeOf<&Node::mixed>),
        numberField({"fp32_time"}, Kind::Time, kNoTimes, timeOf<&Node::fp32>),
        numberField({"share"}, Kind::Ratio, kNoTimes, shareOf),
        numberField({"casts"}, Kind::Count, {}, [](const NodeRow &row) { return Number(row.casts); }),
        numberField({"backend_sqnr"}, Kind::Decibels, kNoBackends,
                    errorOf<&Node::betweenBackends, &Figure::sqnrDb>),
        numberField({"backend_error"}, Kind::Ratio, kNoBackends,
                    errorOf<&Node::betweenBackends, &Figure::relativeL2>),
        numberField({"backend_max"}, Kind::Count, kNoBackends,
                    errorOf<&Node::betweenBackends, &Figure::maxAbs>),
    };
    return kFields;
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
        for (const NodeFigures &node : figures.nodes)
            if (node.mixed)
                steps[node.mixed->step] = node.mixed->microseconds;
        for (const auto &[step, microseconds] : steps)
            m_wholeUs += microseconds;
    }

    std::span<const QueryField> fields() const override { return nodeFields(); }
    std::size_t rowCount() const override { return m_snapshot.graph().nodeCount(); }
    Texts texts(std::size_t row, std::size_t field) const override
    {
        return allFields()[field].texts(at(row));
    }
    Number number(std::size_t row, std::size_t field) const override
    {
        return allFields()[field].number(at(row));
    }

private:
    NodeRow at(std::size_t row) const
    {
        static const NodeFigures kNone;
        return {m_snapshot, row < m_figures.nodes.size() ? m_figures.nodes[row] : kNone,
                static_cast<NodeId>(row), m_casts[row], m_wholeUs};
    }

    const Snapshot &m_snapshot;
    const Figures &m_figures;
    std::vector<std::uint32_t> m_casts;
    double m_wholeUs = 0;
};

} // namespace

std::span<const QueryField> nodeFields()
{
    static const std::vector<QueryField> kFields = [] {
        std::vector<QueryField> fields;
        for (const NodeField &one : allFields())
            fields.push_back(one.field);
        return fields;
    }();
    return kFields;
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
    std::stable_partition(found.nodes.begin(), found.nodes.end(),
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
