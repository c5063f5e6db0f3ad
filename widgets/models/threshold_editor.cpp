#include "widgets/models/threshold_editor.h"

#include "widgets/common/formatters.h"

#include <algorithm>

namespace halftone::widgets {
namespace {

constexpr int kSettleMs = 600; ///< after the last key

} // namespace

ThresholdEditor::ThresholdEditor(DocumentController *controller, QObject *parent)
    : QObject(parent)
    , m_controller(controller)
{
    m_settle.setSingleShot(true);
    m_settle.setInterval(kSettleMs);
    connect(&m_settle, &QTimer::timeout, this, &ThresholdEditor::commit);
    connect(controller, &DocumentController::documentChanged, this, [this] {
        revert();
        takeFigures();
    });
    connect(controller, &DocumentController::figuresChanged, this, &ThresholdEditor::takeFigures);
    for (const auto signal :
         {&DocumentController::edited, &DocumentController::undone, &DocumentController::redone})
        connect(controller, signal, this, &ThresholdEditor::takePolicy);
    connect(&controller->selection(), &Selection::changed, this, &ThresholdEditor::takeSelection);
    takeFigures();
}

const policy::Policy *ThresholdEditor::policy() const
{
    return m_controller->document() ? &m_controller->document()->policy() : nullptr;
}

const calibration::CalibratedTensor *ThresholdEditor::tensor() const
{
    return m_index ? &m_calibration->tensors[*m_index] : nullptr;
}

std::optional<graph::NodeId> ThresholdEditor::nodeOf(const calibration::CalibratedTensor &tensor) const
{
    const auto found = m_nodes.find(tensor.node);
    return found == m_nodes.end() ? std::nullopt : std::optional(found->second);
}

QString ThresholdEditor::whyWithoutEffect() const
{
    const auto &snapshot = m_controller->snapshot();
    const auto node = tensor() ? nodeOf(*tensor()) : std::nullopt;
    if (!node || !snapshot || !snapshot->converted)
        return {};
    const rewrite::Conversion &conversion = snapshot->converted->conversion;
    if (conversion.int8Group.empty())
        return tr("no operator computes in int8");
    const graph::Graph &graph = snapshot->graph();
    const graph::NodeId own = conversion.int8Group[*node];
    const auto readsCodes = [&](graph::NodeId id) {
        return conversion.isInt8(id) && conversion.int8Group[id] != own
            && std::ranges::any_of(graph.inputs(id),
                                   [&](const graph::Entry &input) { return input.node == *node; });
    };
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
        if (readsCodes(id))
            return {};
    if (own == *node)
        return {}; // an int8 operator gives it
    return own == rewrite::kNoNode
        ? tr("no int8 operator reads it")
        : tr("it is internal to the int8 operator %1").arg(plain(graph.node(own).name));
}

/// Figures of errors and times come often, and leave the tensors as they are.
void ThresholdEditor::takeFigures()
{
    const auto &calibration = m_controller->figures().calibration;
    if (calibration == m_calibration)
        return;
    revert();
    m_choosing.cancel();
    m_chosen.reset();
    m_calibration = calibration;
    m_firstOfNode.clear();
    m_nodes.clear();
    show(std::nullopt);
    if (m_calibration) {
        for (std::size_t k = 0; k < m_calibration->tensors.size(); ++k)
            m_firstOfNode.try_emplace(m_calibration->tensors[k].node, k);
        const graph::Graph &graph = m_controller->snapshot()->graph();
        for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
            m_nodes.try_emplace(graph.node(id).name, id);
    }
    Q_EMIT calibrationChanged();
    takePolicy();
    takeSelection();
}

void ThresholdEditor::takePolicy()
{
    m_settle.stop();
    m_moved.reset();
    m_figures.reset();
    if (!m_calibration || !policy())
        return;
    m_choosing.start(
        [calibration = m_calibration, policy = *policy(), before = m_chosen](const std::stop_token &stop) {
            return calibration::chosenThresholds(calibration->tensors, policy,
                                                 before
                                                     ? std::span<const calibration::ChosenThreshold>(*before)
                                                     : std::span<const calibration::ChosenThreshold>(),
                                                 stop);
        },
        [this](Chosen chosen) {
            m_chosen = std::move(chosen);
            m_figures.reset();
            Q_EMIT chosenChanged();
            if (m_index && !m_moved)
                Q_EMIT moved();
        });
    Q_EMIT chosenChanged();
    Q_EMIT moved();
}

void ThresholdEditor::takeSelection()
{
    if (!m_calibration)
        return;
    const auto current = m_controller->selection().current();
    const auto &snapshot = m_controller->snapshot();
    const std::string name = current && snapshot ? snapshot->graph().node(*current).name : std::string();
    if (tensor() && tensor()->node == name)
        return;
    commit();
    const auto found = m_firstOfNode.find(name);
    show(found == m_firstOfNode.end() ? std::nullopt : std::optional(found->second));
}

void ThresholdEditor::choose(std::size_t index)
{
    if (index == m_index)
        return;
    commit();
    show(index);
    if (const auto node = nodeOf(*tensor()))
        m_controller->selection().set(*node);
}

void ThresholdEditor::show(std::optional<std::size_t> index)
{
    if (index == m_index)
        return;
    m_studying.cancel();
    m_study.reset();
    m_moved.reset();
    m_figures.reset();
    m_index = index;
    if (tensor() && tensor()->statistics.absMax > 0) {
        m_studying.start(
            [tensor = std::shared_ptr<const calibration::CalibratedTensor>(m_calibration, tensor())](
                const std::stop_token &stop) { return calibration::ThresholdStudy::of(tensor, stop); },
            [this](std::shared_ptr<const calibration::ThresholdStudy> study) {
                m_study = std::move(study);
                m_figures.reset();
                Q_EMIT tensorChanged();
            });
    }
    Q_EMIT tensorChanged();
}

policy::ThresholdChoice ThresholdEditor::choice() const
{
    return tensor() && policy() ? calibration::choiceFor(*policy(), *tensor()) : policy::ThresholdChoice();
}

bool ThresholdEditor::isOwnChoice() const
{
    return tensor() && policy() && policy()->thresholds.contains(tensor()->name);
}

double ThresholdEditor::value() const
{
    if (!tensor())
        return 0;
    if (m_moved)
        return *m_moved;
    const policy::ThresholdChoice chosen = choice();
    if (chosen.value)
        return *chosen.value;
    if (m_chosen && (*m_chosen)[*m_index].choice == chosen)
        return (*m_chosen)[*m_index].threshold.value;
    if (m_study) {
        const calibration::ThresholdOptions usual;
        for (const calibration::ThresholdMark &mark : m_study->marks()) {
            if (mark.options.method == chosen.method && mark.options.percentile == usual.percentile)
                return mark.threshold.value;
        }
    }
    return tensor()->threshold.value;
}

std::optional<calibration::ThresholdFigures> ThresholdEditor::figures() const
{
    if (!m_study)
        return std::nullopt;
    const double threshold = value();
    if (!m_figures || m_figures->threshold != threshold)
        m_figures = m_study->at(threshold);
    return m_figures;
}

void ThresholdEditor::move(double threshold)
{
    if (!canMove())
        return;
    m_settle.stop();
    // The first bin is as far down as codes make sense.
    const double snapped = m_study->snapped(std::max(threshold, m_study->binWidth()));
    if (m_moved == snapped)
        return;
    m_moved = snapped;
    Q_EMIT moved();
}

void ThresholdEditor::nudge(int bins)
{
    if (!canMove())
        return;
    move(m_study->snapped(value()) + bins * m_study->binWidth());
    m_settle.start();
}

void ThresholdEditor::nudgeToMinMax()
{
    if (!canMove())
        return;
    move(tensor()->statistics.absMax);
    m_settle.start();
}

void ThresholdEditor::commit()
{
    m_settle.stop();
    if (!m_moved)
        return;
    const double moved = *std::exchange(m_moved, std::nullopt);
    if (moved != value())
        setByHand(moved);
    else
        Q_EMIT this->moved();
}

void ThresholdEditor::revert()
{
    m_settle.stop();
    if (!m_moved)
        return;
    m_moved.reset();
    Q_EMIT moved();
}

void ThresholdEditor::setMethod(std::optional<policy::ThresholdMethod> method)
{
    revert();
    if (!tensor())
        return;
    policy::SetThresholds edit{{tensor()->name}, std::nullopt};
    if (method)
        edit.choice = policy::ThresholdChoice{*method, std::nullopt};
    m_controller->apply(edit);
}

void ThresholdEditor::setByHand(double threshold)
{
    m_moved.reset();
    if (!tensor())
        return;
    policy::ThresholdChoice choice;
    choice.value = threshold;
    m_controller->apply(policy::SetThresholds{{tensor()->name}, choice});
    Q_EMIT moved();
}

void ThresholdEditor::setMethodOfAll(policy::ThresholdMethod method)
{
    revert();
    m_controller->apply(policy::SetThresholdMethod{method});
}

} // namespace halftone::widgets
