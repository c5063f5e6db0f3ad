#include "widgets/graphview/appearance.h"

namespace halftone::widgets {

void Appearance::forget()
{
    m_shown.reset();
    m_emphasis = std::make_shared<const Emphasis>();
}

bool Appearance::recolour(const Scene &scene, std::shared_ptr<const session::Snapshot> snapshot,
                          const session::Figures &figures)
{
    if (&snapshot->graph() != &scene.graph())
        return false;
    m_shown = std::move(snapshot);
    const auto looksOfSide = [&](bool converted) {
        return std::make_shared<const Looks>(looksOf(scene, *m_shown, figures, m_colourBy, converted));
    };
    m_looks = looksOfSide(showsConverted());
    if (m_sides == Sides::Both)
        m_originalLooks = looksOfSide(false);
    return true;
}

void Appearance::emphasise(const Scene &scene, std::span<const graph::NodeId> selected,
                           std::span<const graph::NodeId> found)
{
    Emphasis emphasis = emphasisOf(scene, selected);
    if (!found.empty())
        emphasis.found.assign(scene.items().size(), 0);
    for (const graph::NodeId node : found) {
        const ItemIndex item = scene.itemOf(node);
        if (item != kNoItem)
            emphasis.found[item] = 1;
    }
    m_emphasis = std::make_shared<const Emphasis>(std::move(emphasis));
}

PaintInput Appearance::input(std::shared_ptr<const Scene> scene) const
{
    return {std::move(scene), m_looks, m_emphasis, m_shown, paintedBy(m_colourBy), showsConverted()};
}

PaintInput Appearance::originalInput(std::shared_ptr<const Scene> scene) const
{
    return {std::move(scene), m_originalLooks, m_emphasis, m_shown, paintedBy(m_colourBy), false};
}

} // namespace halftone::widgets
