#pragma once

#include "core/layout/shown_graph.h"
#include "core/session/snapshot.h"
#include "widgets/common/latest_job.h"
#include "widgets/graphview/scene.h"

#include <functional>
#include <memory>
#include <vector>

namespace halftone::widgets {

struct LayoutRequest
{
    std::shared_ptr<const session::Snapshot> snapshot;
    std::shared_ptr<const layout::BlockTree> tree; ///< null: the model is new, and folded into blocks first
    std::vector<char> open; ///< blocks; for a new model where they fit it, else as one is first shown
    double lineHeight = 16; ///< of the text in the boxes
    bool isPatient = false; ///< ten times as much time for Graphviz
    layout::Detail detail = layout::Detail::Computed; ///< of a new model
};

struct LayoutAnswer
{
    std::shared_ptr<const Scene> scene; ///< null: it was cancelled
    bool isNew = false; ///< of a new model
};

/// Lays graphs out beside the window's thread. The newest request wins; pieces that were laid out once are kept.
class LayoutJob
{
public:
    LayoutJob();

    void start(LayoutRequest request, std::function<void(LayoutAnswer)> deliver);
    void cancel() { m_job.cancel(); }
    bool isRunning() const { return m_job.isRunning(); }

private:
    std::shared_ptr<layout::PieceCache> m_cache;
    LatestJob m_job;
};

} // namespace halftone::widgets
