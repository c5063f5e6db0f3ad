#pragma once

#include "core/hardware/description.h"
#include "core/tune/search.h"
#include "widgets/common/document_controller.h"

#include <QObject>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace halftone::widgets {

/// A place of the plane of time and error: of the search, or what a person's own edits were measured to be.
struct TunePlace
{
    double milliseconds = 0;
    std::array<double, 2> ci95{}; ///< milliseconds; both as `milliseconds` where it is predicted
    double ratio = 1; ///< of float32's time
    double sqnrDb = 0; ///< infinite where nothing differs
    /// Points of a hundred by which top-1 accuracy changes, where there are labels; else of outputs that agree with float32's. Nothing where
    /// it is only predicted.
    std::optional<double> top1Change;
    bool isMeasured = false;
    bool isOffered = false; ///< no other point is better in both
    bool isOwn = false;
    bool isDisturbed = false; ///< the machine had other work while it was timed: not to be trusted
    bool isTimeKnown = true; ///< false: its interval is too wide to tell anything
    std::optional<std::size_t> point; ///< of the front; nothing for one's own
    policy::Policy policy; ///< that gives it
};

/// What the plane is of.
enum class TuneTime
{
    Measured, ///< median on this machine
    Estimated ///< by the description of the chosen chip
};
enum class TuneLoss
{
    Sqnr,
    Top1
};

/// What a chip makes of a place by its description, and how many values are cast for it.
struct TuneEstimate
{
    double cost = 0; ///< milliseconds where the chip's bandwidth is described, else shares of float32's
    std::size_t casts = 0;
};

/// What a search for the layers that must stay wide knows, and what a person looks at in it. Panels read it; whoever searches feeds it.
class TuneState : public QObject
{
    Q_OBJECT

public:
    explicit TuneState(DocumentController *controller, QObject *parent = nullptr);

    const policy::Policy *base() const
    {
        return m_base.get();
    } ///< that the search began with; null with front()
    const tune::Front *front() const { return m_front.get(); } ///< null: nothing was searched for
    /// base  the policy that the search began with
    void setFront(std::shared_ptr<const tune::Front> front, std::shared_ptr<const policy::Policy> base);
    void clear();
    const std::vector<TunePlace> &places() const { return m_places; }

    bool isRunning() const { return m_isRunning; }
    void setRunning(bool isRunning);
    bool canContinue() const; ///< a search was stopped before its end
    bool canMeasureAgain() const; ///< what a search has found is not to be trusted, and none runs
    const QString &progress() const { return m_progress; }
    void setProgress(const QString &text);
    const QString &whyNot() const { return m_whyNot; } ///< no search can begin; empty: it can
    void setWhyNot(const QString &why);

    TuneTime time() const { return m_time; }
    void setTime(TuneTime time);
    TuneLoss loss() const { return m_loss; }
    void setLoss(TuneLoss loss);
    /// The chip that times are estimated for: the policy's, else this machine; empty if it has no description.
    QString chip() const;
    bool hasBandwidth() const; ///< of that chip: estimates are milliseconds
    /// Converted on first use. Nothing where there is no chip or no conversion.
    const TuneEstimate *estimateOf(std::size_t place) const;
    bool hasTop1() const; ///< of some place

    const std::optional<tune::Limit> &limit() const { return m_limit; }
    void setLimit(const std::optional<tune::Limit> &limit);
    bool usesInt8() const { return m_usesInt8; }
    void setUsesInt8(bool uses) { m_usesInt8 = uses; }

    /// The place that the mouse is over: the graph is coloured as it would be.
    void hover(std::optional<std::size_t> place);
    const std::optional<std::size_t> &hovered() const { return m_hovered; }
    /// Two are compared: the one selected before stays as the other.
    void select(std::optional<std::size_t> place);
    const std::optional<std::size_t> &selected() const { return m_selected; }
    const std::optional<std::size_t> &other() const { return m_other; }
    /// The fastest that meets the limit; nothing where none does.
    std::optional<std::size_t> fastestWithin() const;

    void adopt(std::size_t place); ///< as one edit
    void pin(std::size_t group); ///< its nodes to float32 by name, whatever the search says

    /// What people call a point: "1.25 ms at 38.2 dB".
    static QString nameOf(const TunePlace &place);

Q_SIGNALS:
    void changed(); ///< places, the search, or the limit
    void selectionChanged();
    void previewChanged(std::shared_ptr<const halftone::session::Snapshot> snapshot); ///< null: none
    void startWanted();
    void repeatWanted(); ///< the same search, and what is not to be trusted is measured once more
    void stopWanted();

private:
    void takeOwn();
    void gather();
    std::shared_ptr<const hardware::Description> described() const;

    DocumentController *m_controller;
    std::shared_ptr<const tune::Front> m_front;
    std::shared_ptr<const policy::Policy> m_base;
    std::vector<TunePlace> m_own;
    std::vector<TunePlace> m_places; ///< own ones last
    std::optional<tune::Limit> m_limit;
    std::optional<std::size_t> m_hovered;
    std::optional<std::size_t> m_selected;
    std::optional<std::size_t> m_other;
    QString m_progress;
    QString m_whyNot;
    mutable std::map<std::string, std::optional<TuneEstimate>> m_estimates; ///< by policy file
    TuneTime m_time = TuneTime::Measured;
    TuneLoss m_loss = TuneLoss::Sqnr;
    bool m_isRunning = false;
    bool m_usesInt8 = false;
};

} // namespace halftone::widgets
