#pragma once

#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"

#include <QString>

namespace halftone::widgets {

QString shortType(tensor::DType type); ///< "f32", "f16", "b16", "i8", "i64"
QString shapeText(const tensor::Shape &shape); ///< "1×3×224×224", "?" for an unknown extent
QString bytesText(std::size_t bytes); ///< "98 MiB"
QString decibels(double value); ///< "38.2", "∞", "failed" for NaN
QString microseconds(double value); ///< three significant digits, no unit: columns say it
QString counted(std::size_t number, const char *one, const char *many); ///< "1 node", "12 nodes"
QString significant(double value, int digits = 3); ///< "0.0121", "1.3e-5"
QString largestText(tensor::DType type); ///< a float type's finite end: "65,504", "3.39e+38"
/// UTF-8 for a person: the text of an error, a name from a model. What would turn or break the line is escaped (withoutMarks()).
QString plain(const std::string &text);
/// The same as it is, for what is handed on: to a policy, a script, a file, the clipboard.
QString exact(const std::string &text);

} // namespace halftone::widgets
