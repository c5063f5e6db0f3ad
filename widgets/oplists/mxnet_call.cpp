#include "widgets/oplists/mxnet_call.h"

#include "core/dialect/dialect.h"
#include "core/policy/op_lists.h"
#include "widgets/common/formatters.h"
#include "widgets/oplists/python_text.h"

#include <QStringList>

#include <algorithm>
#include <map>
#include <set>

namespace halftone::widgets {
namespace {

using policy::List;

class CallWriter
{
public:
    explicit CallWriter(const session::Snapshot &snapshot)
        : m_snapshot(snapshot)
        , m_policy(*snapshot.policy)
        , m_rules(*snapshot.rules)
        , m_dialect(dialect::of(snapshot.graph()))
        , m_native(
              *policy::builtInLists(m_dialect, m_policy.target, m_dialect.listVersions().front()).value())
    {
    }

    QString write();

private:
    QString loading() const;
    QStringList arguments();
    QStringList operators(List list);
    QStringList conditions() const;
    bool conditionsAreNative() const;
    void excludeNamed();
    void excludeOperators(const std::string &op);
    void noteWhatIsLost();
    bool mxnetMayMove(const std::string &op) const;
    List nativeList(const std::string &op) const;

    const session::Snapshot &m_snapshot;
    const policy::Policy &m_policy;
    const policy::Rules &m_rules;
    const dialect::Dialect &m_dialect;
    const policy::OpLists &m_native; ///< those of the MXNet that will run the call
    std::set<std::string> m_excluded;
    QStringList m_notes;
};

List CallWriter::nativeList(const std::string &op) const
{
    for (const List list : {List::Target, List::Fp32, List::Widest, List::Conditional}) {
        if (m_native.holds(list, op))
            return list;
    }
    return List::Neutral;
}

/// MXNet takes only operators of its target, fp32, neutral and conditional lists (spec of its convert_symbol).
bool CallWriter::mxnetMayMove(const std::string &op) const
{
    return m_native.holds(List::Target, op) || m_native.holds(List::Fp32, op)
        || m_native.holds(List::Neutral, op) || m_native.holds(List::Conditional, op);
}

void CallWriter::excludeOperators(const std::string &op)
{
    const graph::Graph &graph = m_snapshot.graph();
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (!graph.isVariable(id) && graph.node(id).op == op)
            m_excluded.insert(graph.node(id).name);
    }
}

void CallWriter::excludeNamed()
{
    const graph::Graph &graph = m_snapshot.graph();
    std::vector<policy::Warning> told;
    const auto named = policy::matchNames(m_policy, graph, told);
    if (!named.ok())
        return;
    for (const auto &[id, entry] : named.value().excluded) {
        const auto override = named.value().overrides.find(id);
        if (override == named.value().overrides.end() || override->second == tensor::DType::F32)
            m_excluded.insert(graph.node(id).name);
    }
    for (const auto &[id, type] : named.value().overrides) {
        if (type == tensor::DType::F32)
            m_excluded.insert(graph.node(id).name);
        else
            m_notes << QStringLiteral("MXNet cannot set the single node %1 to %2.")
                           .arg(plain(graph.node(id).name), plain(std::string(tensor::nameOf(type))));
    }
}

/// The names for one argument, as MXNet's own list writes them, then those that have come to it.
QStringList CallWriter::operators(List list)
{
    QStringList names;
    std::set<std::string> placed;
    for (const std::string &name : m_native.names(list)) {
        const dialect::OpInfo *const info = m_dialect.findOp(name);
        const auto place = m_rules.places.find(name);
        // An alias matches no node in MXNet; it stays, so that an unchanged list is MXNet's own.
        const bool isAlias = info && info->name != name;
        if (!isAlias && (place == m_rules.places.end() || place->second.list != list))
            continue;
        names << pythonText(name);
        placed.insert(name);
    }
    std::set<std::string> come;
    for (const auto &[op, place] : m_rules.places) {
        if (place.list == list && !placed.contains(op))
            come.insert(op);
    }
    for (const std::string &op : come) {
        if (mxnetMayMove(op))
            names << pythonText(op);
        else if (list == List::Fp32)
            excludeOperators(op);
        else
            m_notes << QStringLiteral("MXNet cannot move %1 to %2.")
                           .arg(plain(op), plain(std::string(tensor::nameOf(m_policy.target))));
    }
    return names;
}

bool CallWriter::conditionsAreNative() const
{
    std::size_t count = 0;
    for (const auto &[op, rules] : m_rules.conditions) {
        count += rules.size();
        for (const policy::ConditionalRule &rule : rules) {
            if (std::ranges::find(m_native.conditional, rule) == m_native.conditional.end())
                return false;
        }
    }
    return count == m_native.conditional.size();
}

QStringList CallWriter::conditions() const
{
    const std::map<std::string, std::vector<policy::ConditionalRule>> sorted(m_rules.conditions.begin(),
                                                                             m_rules.conditions.end());
    QStringList items;
    for (const auto &[op, rules] : sorted) {
        for (const policy::ConditionalRule &rule : rules) {
            QStringList values;
            for (const std::string &value : rule.values)
                values << pythonText(value);
            items << QStringLiteral("(%1, %2, [%3])")
                         .arg(pythonText(op), pythonText(rule.attribute), values.join(QStringLiteral(", ")));
        }
    }
    return items;
}

void CallWriter::noteWhatIsLost()
{
    if (!m_rules.int8.empty())
        m_notes << QStringLiteral("amp.convert_model does not quantize: for int8 operators, export the model "
                                  "or quantize it first.");
    std::set<std::string> toWidest;
    std::set<std::string> fromWidest;
    for (const auto &[op, place] : m_rules.places) {
        const List native = nativeList(op);
        const bool isAlias = m_dialect.findOp(op) && m_dialect.findOp(op)->name != op;
        if (isAlias || place.list == native)
            continue;
        if (place.list == List::Widest)
            toWidest.insert(op);
        else if (native == List::Widest && place.list == List::Neutral)
            fromWidest.insert(op);
    }
    for (const std::string &op : toWidest)
        m_notes << QStringLiteral("MXNet's widest list is fixed: %1 cannot be added to it.").arg(plain(op));
    for (const std::string &op : fromWidest)
        m_notes
            << QStringLiteral("MXNet's widest list is fixed: %1 cannot be removed from it.").arg(plain(op));
}

QString CallWriter::loading() const
{
    const io::LoadedModel &source = *m_snapshot.source;
    QString text = QStringLiteral("sym = mx.sym.load(%1)\n").arg(pythonText(source.modelPath));
    if (source.paramsPath.empty())
        return text + QStringLiteral("arg_params, aux_params = {}, {}\n");
    text += QStringLiteral("saved = mx.nd.load(%1)\n").arg(pythonText(source.paramsPath));
    text += QStringLiteral("arg_params = {k[4:]: v for k, v in saved.items() if k.startswith('arg:')}\n");
    text += QStringLiteral("aux_params = {k[4:]: v for k, v in saved.items() if k.startswith('aux:')}\n");
    return text;
}

QStringList CallWriter::arguments()
{
    QStringList arguments{QStringLiteral("sym, arg_params, aux_params"),
                          QStringLiteral("target_dtype=")
                              + pythonText(std::string(tensor::nameOf(m_policy.target)))};
    const auto addList = [&](const char *key, const QStringList &items) {
        const QString name = QLatin1String(key) + QLatin1Char('=');
        arguments << name + pythonList(items, 4 + static_cast<int>(name.size()));
    };
    const auto nativeItems = [this](List list) {
        QStringList items;
        for (const std::string &name : m_native.names(list))
            items << pythonText(name);
        return items;
    };
    const QStringList target = operators(List::Target);
    if (target != nativeItems(List::Target))
        addList("target_dtype_ops", target);
    const QStringList fp32 = operators(List::Fp32);
    if (fp32 != nativeItems(List::Fp32))
        addList("fp32_ops", fp32);
    if (!conditionsAreNative())
        addList("conditional_fp32_ops", conditions());
    excludeNamed();
    QStringList excluded;
    for (const std::string &name : m_excluded)
        excluded << pythonText(name);
    if (!excluded.isEmpty())
        addList("excluded_sym_names", excluded);
    if (m_policy.castParams.value_or(false))
        arguments << QStringLiteral("cast_optional_params=True");
    return arguments;
}

QString CallWriter::write()
{
    const QStringList call = arguments();
    noteWhatIsLost();
    QString text = QStringLiteral("import mxnet as mx\nfrom mxnet.contrib import amp  # MXNet 1.9.1\n\n")
        + loading() + QLatin1Char('\n');
    for (const QString &note : m_notes)
        text += QStringLiteral("# ") + QString(note).replace(QLatin1Char('\n'), QLatin1Char(' '))
            + QLatin1Char('\n');
    text += QStringLiteral("sym, arg_params, aux_params = amp.convert_model(\n    ")
        + call.join(QStringLiteral(",\n    ")) + QStringLiteral(")\n");
    text += QStringLiteral(
        "# Save it with sym.save(name, remove_amp_cast=False); otherwise MXNet removes the casts.\n");
    return text;
}

} // namespace

QString mxnetCall(const session::Snapshot &snapshot)
{
    return CallWriter(snapshot).write();
}

} // namespace halftone::widgets
