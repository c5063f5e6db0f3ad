#pragma once

#include <QString>

namespace halftone::widgets {

/// A field as RFC 4180 writes it.
QString csvField(const QString &text);

} // namespace halftone::widgets
