#pragma once

#include "core/tensor/dtype.h"

#include <QIcon>
#include <QPalette>

class QPainter;
class QRectF;

namespace halftone::widgets {

/// A small field in a precision's colour and pattern, with a thin frame.
void paintPrecisionSwatch(QPainter &painter, const QRectF &field, tensor::DType type,
                          const QPalette &palette);

QIcon precisionSwatch(tensor::DType type, const QPalette &palette, int side);

} // namespace halftone::widgets
