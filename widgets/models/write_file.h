#pragma once

#include "core/base/result.h"

#include <QByteArray>
#include <QString>

namespace halftone::widgets {

/// The file whole or not at all. fails: what AtomicFile refuses.
Result<void> writeFile(const QString &path, const QByteArray &bytes);

} // namespace halftone::widgets
