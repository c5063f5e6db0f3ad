#pragma once

#include "core/calibration/chosen_thresholds.h"
#include "core/calibration/threshold_study.h"
#include "widgets/common/document_controller.h"
#include "widgets/common/latest_job.h"

#include <QObject>
#include <QTimer>

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace halftone::widgets {

/// The thresholds of the calibrated tensors as a person sets them: which tensor is shown, its threshold while it is being
/// moved, and what follows from that at once. One for all views of calibration. What is settled is an edit of the policy
/// that undo takes back; the tensor shown follows the window's selection, and the other way round.
class ThresholdEditor : public QObject
{
    Q_OBJECT

public:
    using Chosen = std::shared_ptr<const std::vector<calibration::ChosenThreshold>>;

    explicit ThresholdEditor(DocumentController *controller, QObject *parent = nullptr);

    /// Null before data were run through the model.
    const std::shared_ptr<const walks::CalibrateOutcome> &calibration() const { return m_calibration; }
    /// What the policy chooses for every tensor; null before the first answer. Of an earlier policy while isChoosing().
    const Chosen &chosen() const { return m_chosen; }
    bool isChoosing() const { return m_choosing.isRunning(); }
    const policy::Policy *policy() const; ///< null while nothing is open

    /// The tensor shown; null for none.
    const calibration::CalibratedTensor *tensor() const;
    std::optional<std::size_t> index() const { return m_index; } ///< of it in calibration()
    std::optional<graph::NodeId> nodeOf(const calibration::CalibratedTensor &tensor) const;
    /// Null while it is being computed, and for a tensor of zeros.
    const std::shared_ptr<const calibration::ThresholdStudy> &study() const { return m_study; }
    bool isStudying() const { return m_studying.isRunning(); }

    policy::ThresholdChoice choice() const; ///< of the tensor shown, by the policy
    bool isOwnChoice() const; ///< the policy names the tensor itself
    /// Parameters are scaled by their largest magnitude, and zeros by nothing.
    bool canMove() const { return m_study && !tensor()->isParameter; }
    /// Why no int8 operator of the present lists uses the threshold of the tensor shown; empty: one does.
    QString whyWithoutEffect() const;
    double value() const; ///< threshold of the tensor shown: in hand, else chosen; 0 for none
    bool isMoving() const { return m_moved.has_value(); }
    std::optional<calibration::ThresholdFigures> figures() const; ///< of value()

    void choose(std::size_t index);

    /// The threshold in hand: nothing is edited before commit(). Needs canMove() to do anything.
    void move(double threshold);
    /// As a key does: settles by itself when no other follows.
    void nudge(int bins);
    void nudgeToMinMax();
    void commit(); ///< one edit, if the threshold has changed
    void revert();

    void setMethod(
        std::optional<policy::ThresholdMethod> method); ///< of the tensor shown; nothing: as the policy's
    void setByHand(double threshold);
    void setMethodOfAll(policy::ThresholdMethod method); ///< of the policy

Q_SIGNALS:
    void calibrationChanged(); ///< other tensors, or none
    void chosenChanged(); ///< chosen() or isChoosing()
    void tensorChanged(); ///< another one is shown, or none, or its study has come
    void moved(); ///< value() and figures()

private:
    void takeFigures();
    void takeSelection();
    void takePolicy();
    void show(std::optional<std::size_t> index);

    DocumentController *m_controller;
    std::shared_ptr<const walks::CalibrateOutcome> m_calibration;
    std::unordered_map<std::string, std::size_t>
        m_firstOfNode; ///< index of a node's first tensor, by its name
    std::unordered_map<std::string, graph::NodeId> m_nodes;
    Chosen m_chosen;
    std::optional<std::size_t> m_index;
    std::shared_ptr<const calibration::ThresholdStudy> m_study;
    std::optional<double> m_moved;
    mutable std::optional<calibration::ThresholdFigures> m_figures; ///< of value(), once asked for
    QTimer m_settle;
    LatestJob m_choosing;
    LatestJob m_studying;
};

} // namespace halftone::widgets
