#pragma once

#include <QFrame>

class QHBoxLayout;

namespace halftone::app {

/// For a person's first model: what the colours mean, and three things to do next. Gone for good when closed.
class FirstSteps : public QFrame
{
    Q_OBJECT

public:
    explicit FirstSteps(QWidget *parent = nullptr);

    void offer(); ///< unless it was closed once

Q_SIGNALS:
    void attachWanted();
    void latencyWanted();

private:
    QHBoxLayout *addRow();
    void addMeanings();
    void addSteps();
    void closeForGood();
};

} // namespace halftone::app
