#pragma once

#include "widgets/graphview/emphasis.h"
#include "widgets/graphview/scene_painter.h"

#include <memory>
#include <span>

namespace halftone::widgets {

/// How a scene is drawn: in the colours of either side, and what stands out. Parts are replaced, never changed, since the
/// canvases draw from them.
class Appearance
{
public:
    ColourBy colourBy() const { return m_colourBy; }
    void setColourBy(ColourBy colourBy) { m_colourBy = colourBy; }
    Sides sides() const { return m_sides; }
    void setSides(Sides sides) { m_sides = sides; }
    bool showsConverted() const { return m_sides != Sides::Original; }

    void forget(); ///< another model is shown
    /// false: scene and snapshot are of different models, there is nothing to draw yet.
    bool recolour(const Scene &scene, std::shared_ptr<const session::Snapshot> snapshot,
                  const session::Figures &figures);
    /// found  by the find panel; empty: nothing is looked for
    void emphasise(const Scene &scene, std::span<const graph::NodeId> selected,
                   std::span<const graph::NodeId> found);

    const Looks &looks() const { return *m_looks; } ///< of the converted side, or the only one
    const Looks &originalLooks() const { return *m_originalLooks; } ///< when both are shown
    const Emphasis &emphasis() const { return *m_emphasis; }

    PaintInput input(std::shared_ptr<const Scene> scene) const;
    PaintInput originalInput(std::shared_ptr<const Scene> scene) const;

private:
    ColourBy m_colourBy = ColourBy::Precision;
    Sides m_sides = Sides::Converted;
    std::shared_ptr<const session::Snapshot> m_shown; ///< that the colours are of
    std::shared_ptr<const Looks> m_looks = std::make_shared<const Looks>();
    std::shared_ptr<const Looks> m_originalLooks = m_looks;
    std::shared_ptr<const Emphasis> m_emphasis = std::make_shared<const Emphasis>();
};

} // namespace halftone::widgets
