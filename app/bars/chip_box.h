#pragma once

#include "core/hardware/description.h"
#include "widgets/common/choice_box.h"
#include "widgets/common/latest_job.h"

#include <memory>

namespace halftone::app {

/// The chip that a model is converted for: any, the processor at hand, the GPU at hand, one that the program describes, or a file.
/// Whether there is a GPU is found out beside the window's thread: a driver takes its time to load.
class ChipBox : public widgets::ChoiceBox
{
    Q_OBJECT

public:
    explicit ChipBox(QWidget *parent = nullptr);

    void show(const QString &chip); ///< as Policy::hardware has it
    /// As if a person had chosen it.
    void choose(const QString &chip);

Q_SIGNALS:
    void chosen(const QString &chip); ///< as Policy::hardware has it; there is such a description
    void refused(const QString &why);

private:
    void take(int index);
    void askForFile();
    void addGpu();
    void fitView();
    void takeGpu(const std::shared_ptr<const hardware::Description> &gpu);

    QString m_shown;
    widgets::LatestJob m_looking;
};

} // namespace halftone::app
