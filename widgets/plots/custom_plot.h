#pragma once

#include <QObject>

// QCustomPlot's header is written with Qt's short keywords, which everything else here does without.
#define signals Q_SIGNALS
#define slots Q_SLOTS
#define emit Q_EMIT
#define foreach(variable, container) for (variable : container)
#include <qcustomplot.h>
#undef foreach
#undef emit
#undef slots
#undef signals
