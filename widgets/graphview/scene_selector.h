#pragma once

#include "widgets/common/selection.h"
#include "widgets/graphview/scene.h"

#include <Qt>

#include <vector>

namespace halftone::widgets {

/// Selects the nodes of a scene's items as mouse and keys ask for it.
class SceneSelector
{
public:
    explicit SceneSelector(Selection &selection)
        : m_selection(selection)
    {
    }

    /// Shift adds, Control adds or takes away.
    void click(const Scene &scene, ItemIndex item, Qt::KeyboardModifiers modifiers);
    void selectArea(const Scene &scene, const QRectF &area, bool adds);
    /// By an arrow key, Home or End, which lead to the item that is returned.
    ItemIndex walk(const Scene &scene, int key, bool extends);
    ItemIndex current(const Scene &scene) const;
    /// Selected ones that are operators.
    std::vector<graph::NodeId> operators(const graph::Graph &graph) const;

private:
    Selection &m_selection;
};

} // namespace halftone::widgets
