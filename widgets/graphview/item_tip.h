#pragma once

#include "widgets/graphview/looks.h"
#include "widgets/graphview/scene.h"

namespace halftone::widgets {

/// What the tool tip of an item of the graph says, as HTML.
/// around  Scene::pathOf()
QString tipOf(const SceneItem &item, const ItemLook &look, ColourBy colourBy, const QString &around = {});

} // namespace halftone::widgets
