#include "widgets/graphview/layout_job.h"

#include "core/layout/first_view.h"

namespace halftone::widgets {
namespace {

constexpr int kPatience = 10; ///< times the usual limits

void foldNewModel(LayoutRequest &request)
{
    const session::Snapshot &snapshot = *request.snapshot;
    request.tree = std::make_shared<const layout::BlockTree>(
        layout::shownTree(snapshot.source->model, request.detail));
    if (request.open.size() != request.tree->blocks.size())
        request.open = layout::openWithin(*request.tree, layout::kFirstView);
    request.open[layout::kRoot] = 1;
}

layout::LayoutOptions optionsFor(const LayoutRequest &request)
{
    layout::LayoutOptions options;
    options.gaps = {1.5 * request.lineHeight, 1.9 * request.lineHeight};
    if (request.isPatient) {
        options.limits.computing *= kPatience;
        options.limits.waiting *= kPatience;
        options.heaviest *= kPatience;
    }
    return options;
}

LayoutAnswer layOut(LayoutRequest request, layout::PieceCache &cache, const std::stop_token &stop)
{
    LayoutAnswer answer;
    answer.isNew = !request.tree;
    if (answer.isNew)
        foldNewModel(request);
    const graph::Graph &graph = request.snapshot->graph();
    auto picture = layout::layoutGraph(graph, *request.tree, request.open,
                                       itemSizes(graph, *request.tree, request.lineHeight),
                                       optionsFor(request), cache, Progress{stop, {}});
    if (picture.ok())
        answer.scene = std::make_shared<const Scene>(request.snapshot->source, request.tree,
                                                     std::move(request.open), std::move(picture).value());
    return answer;
}

} // namespace

LayoutJob::LayoutJob()
    : m_cache(std::make_shared<layout::PieceCache>())
{
}

void LayoutJob::start(LayoutRequest request, std::function<void(LayoutAnswer)> deliver)
{
    m_job.start([request = std::move(request),
                 cache = m_cache](const std::stop_token &stop) { return layOut(request, *cache, stop); },
                std::move(deliver));
}

} // namespace halftone::widgets
