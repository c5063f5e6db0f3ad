#include "core/infer/lists.h"

#include "core/dialect/dialect.h"
#include "core/infer/body_binding.h"

#include <algorithm>

namespace halftone::infer {
namespace {

/// `mayBeOptional`: an optional value counts as a list, whatever it holds.
bool isListIn(const graph::Graph &graph, graph::Entry entry, bool mayBeOptional, int depth)
{
    while (!graph.isVariable(entry.node) && depth < kMaxBodyDepth) {
        const graph::NodeDef &node = graph.node(entry.node);
        const auto op = dialect::of(graph).readKind(node);
        if (!op.ok())
            return false;
        const auto *const list = op.value().getIf<ops::TensorList>();
        const bool passesOn = list != nullptr
            && (list->kind == ops::TensorList::Kind::Maybe || list->kind == ops::TensorList::Kind::Get)
            && !graph.inputs(entry.node).empty();
        if (list != nullptr && mayBeOptional && list->kind == ops::TensorList::Kind::Maybe)
            return true;
        if (list != nullptr && !passesOn)
            return list->givesList();
        if (passesOn) { // what an optional value holds is that value
            mayBeOptional = false;
            entry = graph.inputs(entry.node)[0];
            continue;
        }
        const auto *const flow = op.value().getIf<ops::ControlFlow>();
        if (flow != nullptr && flow->kind == ops::ControlFlow::Kind::Map)
            return true;
        if (flow != nullptr) {
            const std::size_t head = entry.output + (flow->kind == ops::ControlFlow::Kind::Loop ? 1 : 0);
            return std::ranges::any_of(node.subgraphs, [head, mayBeOptional, depth](const auto &body) {
                return head < body->heads().size()
                    && isListIn(*body, body->heads()[head], mayBeOptional, depth + 1);
            });
        }
        const auto *const unary = op.value().getIf<ops::Unary>();
        if (unary == nullptr || unary->kind != ops::UnaryKind::Identity || graph.inputs(entry.node).empty())
            return false;
        entry = graph.inputs(entry.node)[0];
    }
    return false;
}

} // namespace

bool isList(const graph::Graph &graph, const graph::Entry &entry)
{
    return isListIn(graph, entry, false, 0);
}

bool isNoTensor(const graph::Graph &graph, const graph::Entry &entry)
{
    return isListIn(graph, entry, true, 0);
}

bool isNoTensor(const graph::Graph &graph, graph::NodeId reader, std::size_t input)
{
    using Kind = ops::TensorList::Kind;
    if (isNoTensor(graph, graph.inputs(reader)[input]))
        return true;
    const auto op
        = graph.isVariable(reader) ? ops::Operator() : dialect::of(graph).readKind(graph.node(reader));
    if (!op.ok() || input > 0)
        return false;
    if (const auto *const flow = op.value().getIf<ops::ControlFlow>())
        return flow->kind == ops::ControlFlow::Kind::Map;
    const auto *const list = op.value().getIf<ops::TensorList>();
    return list != nullptr && list->kind != Kind::Construct && list->kind != Kind::Split
        && list->kind != Kind::Maybe;
}

} // namespace halftone::infer
