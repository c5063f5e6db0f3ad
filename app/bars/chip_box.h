#pragma once

#include "widgets/common/choice_box.h"

namespace halftone::app {

/// The chip that a model is converted for: any, the machine at hand, one that the program describes, or a file.
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

    QString m_shown;
};

} // namespace halftone::app
