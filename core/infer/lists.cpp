#include "core/infer/lists.h"

#include "core/dialect/dialect.h"
#include "core/infer/body_binding.h"

#include <algorithm>

namespace halftone::infer {
namespace {

bool isListIn(const graph::Graph &graph, graph::Entry entry, int depth)
{
    while (!graph.isVariable(entry.node) && depth < kMaxBodyDepth) {
        const graph::NodeDef &node = graph.node(entry.node);
        const auto op = dialect::of(graph).readKind(node);
        if (!op.ok())
            return false;
        if (const auto *list = op.value().getIf<ops::TensorList>())
            return list->givesList();
        const auto *const flow = op.value().getIf<ops::ControlFlow>();
        if (flow != nullptr && flow->kind == ops::ControlFlow::Kind::Map)
            return true;
        if (flow != nullptr) {
            const std::size_t head = entry.output + (flow->kind == ops::ControlFlow::Kind::Loop ? 1 : 0);
            return std::ranges::any_of(node.subgraphs, [head, depth](const auto &body) {
                return head < body->heads().size() && isListIn(*body, body->heads()[head], depth + 1);
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
    return isListIn(graph, entry, 0);
}

} // namespace halftone::infer
