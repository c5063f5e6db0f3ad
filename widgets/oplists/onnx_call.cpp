#include "widgets/oplists/onnx_call.h"

#include "core/policy/policy_json.h"
#include "widgets/common/formatters.h"
#include "widgets/oplists/python_text.h"

#include <filesystem>
#include <map>

namespace halftone::widgets {
namespace {

/// What is asked to stay in float32, as the converter is told of it.
struct Blocked
{
    QStringList ops;
    QStringList nodes;
};

std::string outputOf(const session::Snapshot &snapshot)
{
    const std::filesystem::path path(snapshot.source->modelPath);
    return (path.parent_path() / path.stem()).string() + '-'
        + std::string(tensor::nameOf(snapshot.policy->target)) + ".onnx";
}

/// The converter knows float16 alone, no int8 and no bodies' own rules, and stores what it lowers in float16.
bool canConverterSayIt(const session::Snapshot &snapshot)
{
    const policy::Policy &policy = *snapshot.policy;
    if (policy.target != tensor::DType::F16 || !snapshot.rules->int8.empty() || !snapshot.converted
        || snapshot.error || !policy.castParams.value_or(true) || !policy.inputDtypes.empty())
        return false;
    for (const auto &[node, type] : policy.nodeOverrides)
        if (type == tensor::DType::I8)
            return false;
    const graph::Graph &graph = snapshot.graph();
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
        if (!graph.node(id).subgraphs.empty())
            return false;
    return true;
}

/// An operator of which no node is lowered is told by its name, of others the nodes. The converter knows no domains: there
/// operators of other ones are told by their nodes too.
Blocked blockedOf(const session::Snapshot &snapshot)
{
    struct Nodes
    {
        bool isLowered = false;
        QStringList inFp32;
    };
    std::map<std::string, Nodes> byOp;
    const graph::Graph &graph = snapshot.graph();
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (graph.isVariable(id))
            continue;
        Nodes &nodes = byOp[graph.node(id).op];
        const tensor::DType type = snapshot.precisionOf(id);
        nodes.isLowered = nodes.isLowered || type == tensor::DType::F16;
        if (type == tensor::DType::F32)
            nodes.inFp32 << pythonText(graph.node(id).name);
    }
    Blocked blocked;
    for (const auto &[op, nodes] : byOp) {
        if (nodes.inFp32.isEmpty())
            continue;
        if (nodes.isLowered || op.find('.') != std::string::npos)
            blocked.nodes << nodes.inFp32;
        else
            blocked.ops << pythonText(op);
    }
    return blocked;
}

QString converterCall(const session::Snapshot &snapshot)
{
    const Blocked blocked = blockedOf(snapshot);
    QString text = QStringLiteral("import onnx\nfrom onnxconverter_common import float16\n\n");
    text += QStringLiteral("model = onnx.load(%1)\n").arg(pythonText(snapshot.source->modelPath));
    if (!blocked.nodes.isEmpty())
        text += QStringLiteral("for node in model.graph.node:  # name unnamed nodes after their outputs\n"
                               "    node.name = node.name or next(filter(None, node.output), '')\n");
    QStringList arguments{
        QStringLiteral("model"), QStringLiteral("min_positive_val=2.0**-24"),
        QStringLiteral("max_finite_val=65504.0"),
        QStringLiteral("keep_io_types=")
            + QLatin1String(snapshot.policy->keepIoTypes.value_or(true) ? "True" : "False")};
    if (!blocked.ops.isEmpty())
        arguments << QStringLiteral("op_block_list=float16.DEFAULT_OP_BLOCK_LIST + ")
                + pythonList(blocked.ops, 50);
    if (!blocked.nodes.isEmpty())
        arguments << QStringLiteral("node_block_list=") + pythonList(blocked.nodes, 20);
    text += QStringLiteral("model = float16.convert_float_to_float16(\n    ")
        + arguments.join(QStringLiteral(",\n    ")) + QStringLiteral(")\n");
    return text + QStringLiteral("onnx.save(model, %1)\n").arg(pythonText(outputOf(snapshot)));
}

/// As it stands, line by line, where Python can take it so.
QString pythonLines(const QString &text)
{
    return text.contains(QStringLiteral("'''")) ? pythonText(text)
                                                : QStringLiteral("r'''") + text + QStringLiteral("'''");
}

/// The same conversion by the command line.
QString commandCall(const session::Snapshot &snapshot)
{
    const QString note = snapshot.rules->int8.empty()
        ? QString()
        : QStringLiteral("# Int8 operators need calibration data: add '--inputs' and a file.\n");
    return note
        + QStringLiteral("import pathlib\nimport subprocess\nimport tempfile\n\n"
                         "policy = %1\n"
                         "with tempfile.TemporaryDirectory() as folder:\n"
                         "    lists = pathlib.Path(folder, 'policy.json')\n"
                         "    lists.write_text(policy)\n"
                         "    subprocess.run(['halftone-cli', 'convert', %2,\n"
                         "                    '--policy', lists, '--out', %3], check=True)\n")
              .arg(pythonLines(exact(policy::writePolicy(*snapshot.policy))),
                   pythonText(snapshot.source->modelPath), pythonText(outputOf(snapshot)));
}

} // namespace

QString onnxCall(const session::Snapshot &snapshot)
{
    return canConverterSayIt(snapshot) ? converterCall(snapshot) : commandCall(snapshot);
}

} // namespace halftone::widgets
