#pragma once

#include "core/session/tensor_risk.h"
#include "widgets/common/document_controller.h"

#include <QWidget>

#include <memory>
#include <vector>

class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QPushButton;

namespace halftone::widgets {

class ThresholdEditor;

/// The tensor shown: how its threshold is chosen, as a method or a number, what the newest comparison says of its layer and of
/// the output, and what its values advise. Every choice is one edit of the policy.
class ThresholdBar : public QWidget
{
    Q_OBJECT

public:
    ThresholdBar(DocumentController *controller, ThresholdEditor *editor, QWidget *parent = nullptr);

    QComboBox *method() const { return m_method; }
    QDoubleSpinBox *value() const { return m_value; }
    QString errorText() const; ///< "layer 33.1 dB · output 28.0 dB"; empty before a comparison
    bool isErrorStale() const; ///< of an earlier state: dimmed
    QString effectText() const; ///< why an edit would change nothing; empty: it would
    QString adviceText() const; ///< empty: none
    /// Where there is little height what only tells, and changes nothing, is in the name's tooltip.
    void setLow(bool isLow);

public Q_SLOTS:
    void takeAdvice(); ///< the edit that the advice is about

private:
    void build();
    void showTensor();
    void showMoved();
    void showErrors();
    void showAdvice();
    void showEffect();
    void chooseMethod(int index);
    void takeValue();
    void showTelling();

    DocumentController *m_controller;
    ThresholdEditor *m_editor;
    QLabel *m_name = nullptr;
    QComboBox *m_method = nullptr;
    QDoubleSpinBox *m_value = nullptr;
    QLabel *m_effect = nullptr;
    QLabel *m_errors = nullptr;
    QPushButton *m_mend = nullptr;
    bool m_isLow = false;
    std::vector<session::TensorAdvice> m_allAdvice;
    std::shared_ptr<const session::Snapshot> m_advised; ///< that it is on, with the next
    std::shared_ptr<const walks::CalibrateOutcome> m_advisedOn;
    const session::TensorAdvice *m_advice = nullptr; ///< on the tensor shown
};

} // namespace halftone::widgets
