#include "app/application.h"

#include "core/base/guarded.h"
#include "widgets/common/formatters.h"

namespace halftone::app {

bool Application::notify(QObject *receiver, QEvent *event)
{
    try {
        return QApplication::notify(receiver, event);
    } catch (...) {
        // Later: what is to be told must not meet the same want.
        QMetaObject::invokeMethod(
            this, [this, what = widgets::plain(currentFailure().message())] { Q_EMIT failed(what); },
            Qt::QueuedConnection);
        return false;
    }
}

} // namespace halftone::app
