#pragma once

#include "core/tensor/dtype.h"

#include <QFrame>

class QLayout;

namespace halftone::app {

/// For a person's first model: what the colours mean, and three things to do next. Gone for good when closed.
class FirstSteps : public QFrame
{
    Q_OBJECT

public:
    explicit FirstSteps(QWidget *parent = nullptr);

    void offer(); ///< unless it was closed once; shown while there is room for it beside the graph
    void withdraw();
    void showDone(bool hasData, bool hasLatency); ///< what is done need not be offered

Q_SIGNALS:
    void attachWanted();
    void drawWanted();
    void latencyWanted();

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    QLayout *meanings();
    QWidget *lists();
    QLayout *steps();
    QWidget *meaning(tensor::DType type);
    QWidget *closeButton();
    void closeForGood();
    void showWhereRoom();

    QWidget *m_lists = nullptr;
    QWidget *m_attach = nullptr;
    QWidget *m_draw = nullptr;
    QWidget *m_latency = nullptr;
    bool m_isOffered = false;
};

} // namespace halftone::app
