#pragma once

#include "core/base/result.h"

#include <QApplication>

namespace halftone::app {

/// What an event's handler throws, for want of memory, ends that event and not the program: what is open stays open.
class Application : public QApplication
{
    Q_OBJECT

public:
    using QApplication::QApplication;

    bool notify(QObject *receiver, QEvent *event) override;

Q_SIGNALS:
    void failed(const QString &what);
};

} // namespace halftone::app
