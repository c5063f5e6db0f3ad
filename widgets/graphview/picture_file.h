#pragma once

#include "core/base/result.h"
#include "widgets/graphview/scene_painter.h"

#include <QFont>
#include <QPalette>
#include <QString>

namespace halftone::widgets {

/// Writes the whole picture of a graph: .svg and .pdf as shapes, .png in pixels (the scale is lowered where the picture would
/// be too large). fails: BadCall for another ending or without a scene, BadInput when it cannot be written
Result<void> writePicture(const QString &path, const PaintInput &input, const QPalette &palette,
                          const QFont &font);

} // namespace halftone::widgets
