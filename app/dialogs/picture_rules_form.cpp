#include "app/dialogs/picture_rules_form.h"

#include "widgets/common/formatters.h"
#include "widgets/common/path_text.h"

#include <QComboBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QPixmap>
#include <QSpinBox>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace halftone::app {
namespace {

using widgets::plain;

constexpr int kLargestSide = 16384;
constexpr int kPreviewSide = 160;

/// Usual ranges of values: (pixel - mean) * scale.
struct Range
{
    const char *name;
    std::array<double, 3> mean;
    std::array<double, 3> deviation;
};
constexpr std::array kRanges{
    Range{"0 \u2026 255, unscaled", {0, 0, 0}, {1, 1, 1}},
    Range{"0 \u2026 1", {0, 0, 0}, {255, 255, 255}},
    Range{"\u22121 \u2026 1", {127.5, 127.5, 127.5}, {127.5, 127.5, 127.5}},
    Range{"ImageNet mean and standard deviation", {123.675, 116.28, 103.53}, {58.395, 57.12, 57.375}},
};

QString textOf(const std::vector<double> &values)
{
    QStringList words;
    for (const double value : values)
        words << QString::number(value, 'g', 8);
    return words.join(QLatin1Char(' '));
}

/// As many as there are channels; the last one stands for those that lack.
std::vector<double> numbersOf(const QString &text, std::size_t channels, double fallback)
{
    std::vector<double> values;
    for (const QString &word :
         QString(text).replace(QLatin1Char(','), QLatin1Char(' ')).split(' ', Qt::SkipEmptyParts)) {
        bool isNumber = false;
        const double value = word.toDouble(&isNumber);
        values.push_back(isNumber && std::isfinite(value) ? value : fallback);
    }
    values.resize(channels, values.empty() ? fallback : values.back());
    return values;
}

/// The tensor's smallest value as black, its largest as white.
QImage imageOf(const tensor::Tensor &tensor, bool channelsLast, float low, float high)
{
    const tensor::Shape &shape = tensor.shape();
    const auto extent = [&shape](std::size_t axis) { return static_cast<int>(shape[axis]); };
    const int height = extent(channelsLast ? 1 : 2);
    const int width = extent(channelsLast ? 2 : 3);
    const int channels = extent(channelsLast ? 3 : 1);
    const auto at = [&](int y, int x, int c) {
        const std::size_t index = channelsLast ? (static_cast<std::size_t>(y) * width + x) * channels + c
                                               : (static_cast<std::size_t>(c) * height + y) * width + x;
        float value = 0;
        std::memcpy(&value, tensor.bytes().data() + index * sizeof value, sizeof value);
        return high > low ? static_cast<int>(std::lround(255 * (value - low) / (high - low))) : 0;
    };
    QImage image(width, height, QImage::Format_RGB32);
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            image.setPixel(x, y,
                           qRgb(at(y, x, 0), at(y, x, channels > 1 ? 1 : 0), at(y, x, channels > 2 ? 2 : 0)));
    return image;
}

std::pair<float, float> endsOf(const tensor::Tensor &tensor)
{
    std::vector<float> values(tensor.bytes().size() / sizeof(float));
    std::memcpy(values.data(), tensor.bytes().data(), values.size() * sizeof(float));
    const auto [low, high] = std::ranges::minmax(values);
    return {low, high};
}

/// Mean and scale of a range, in the order of the colours.
void takeRangeInto(io::Preprocess &rules, const Range &range)
{
    rules.mean.assign(range.mean.begin(), range.mean.begin() + static_cast<std::ptrdiff_t>(rules.channels()));
    rules.scale.clear();
    for (std::size_t c = 0; c < rules.channels(); ++c)
        rules.scale.push_back(1 / range.deviation[c]);
    if (rules.color == io::Preprocess::Color::Bgr) {
        std::ranges::reverse(rules.mean);
        std::ranges::reverse(rules.scale);
    }
}

} // namespace

std::vector<PicturePreset> usualPresets(const io::Preprocess &base)
{
    using Color = io::Preprocess::Color;
    std::vector<PicturePreset> presets;
    for (const Range &range : kRanges) {
        for (const Color color : {Color::Rgb, Color::Bgr}) {
            PicturePreset preset{QString::fromUtf8(range.name), base};
            if (base.color != Color::Gray) {
                preset.rules.color = color;
                preset.name += color == Color::Rgb ? QStringLiteral(", RGB") : QStringLiteral(", BGR");
            } else if (color == Color::Bgr) {
                continue;
            }
            takeRangeInto(preset.rules, range);
            presets.push_back(std::move(preset));
        }
    }
    return presets;
}

Result<io::Picture> firstPictureIn(const QString &folder)
{
    const std::string path = widgets::pathBytes(folder);
    HALFTONE_TRY(const std::vector<std::string> names, io::picturesIn(path));
    if (names.empty())
        return badInput(path, "no picture", "a folder with pictures");
    return io::readPicture(path + '/' + names.front());
}

QImage pictureAsSeen(const io::Picture &picture, const io::Preprocess &rules)
{
    const auto tensor = io::preprocessed(picture, rules);
    if (!tensor.ok())
        return {};
    const auto [low, high] = endsOf(tensor.value());
    return imageOf(tensor.value(), rules.channelsLast, low, high);
}

PictureRulesForm::PictureRulesForm(const graph::Model &model, QWidget *parent)
    : QWidget(parent)
    , m_input(new QComboBox(this))
    , m_layout(new QComboBox(this))
    , m_colour(new QComboBox(this))
    , m_width(side(tr("Width"), tr("same as the picture")))
    , m_height(side(tr("Height"), tr("same as the picture")))
    , m_shortSide(side(tr("Short side before the crop"), tr("smallest that covers the crop")))
    , m_range(new QComboBox(this))
    , m_mean(numbers(tr("Mean of each channel")))
    , m_scale(numbers(tr("Scale of each channel")))
    , m_preview(new QLabel(this))
    , m_note(new QLabel(this))
{
    for (const std::string &name : io::pictureInputs(model))
        m_input->addItem(plain(name));
    m_input->setAccessibleName(tr("Input of the model"));
    m_layout->addItems({QStringLiteral("NCHW"), QStringLiteral("NHWC")});
    m_layout->setAccessibleName(tr("Layout"));
    m_colour->addItems({tr("RGB"), tr("BGR"), tr("grey")});
    m_colour->setAccessibleName(tr("Colours"));
    for (const Range &range : kRanges)
        m_range->addItem(QString::fromUtf8(range.name));
    m_range->addItem(tr("custom"));
    m_range->setAccessibleName(tr("Range of values"));
    m_preview->setFixedSize(kPreviewSide, kPreviewSide);
    m_preview->setAlignment(Qt::AlignCenter);
    m_preview->setFrameShape(QFrame::StyledPanel);
    m_preview->setAccessibleName(tr("A picture as the network sees it"));
    m_note->setWordWrap(true);

    auto *const form = new QFormLayout;
    form->addRow(tr("Input"), m_input);
    form->addRow(tr("Layout"), m_layout);
    form->addRow(tr("Colours"), m_colour);
    form->addRow(tr("Width"), m_width);
    form->addRow(tr("Height"), m_height);
    form->addRow(tr("Short side"), m_shortSide);
    form->addRow(tr("Values"), m_range);
    form->addRow(tr("Mean"), m_mean);
    form->addRow(tr("Scale"), m_scale);
    auto *const seen = new QVBoxLayout;
    seen->addWidget(m_preview);
    seen->addWidget(m_note);
    seen->addStretch(1);
    auto *const row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->addLayout(form, 1);
    row->addLayout(seen);

    for (QComboBox *box : {m_input, m_layout, m_colour})
        connect(box, &QComboBox::activated, this, &PictureRulesForm::refresh);
    connect(m_range, &QComboBox::activated, this, &PictureRulesForm::takeRange);
    setRules(io::guessedPreprocess(model));
}

QSpinBox *PictureRulesForm::side(const QString &name, const QString &none)
{
    auto *const box = new QSpinBox(this);
    box->setRange(0, kLargestSide);
    box->setSpecialValueText(none);
    box->setAccessibleName(name);
    connect(box, &QSpinBox::valueChanged, this, &PictureRulesForm::refresh);
    return box;
}

QLineEdit *PictureRulesForm::numbers(const QString &name)
{
    auto *const edit = new QLineEdit(this);
    edit->setAccessibleName(name);
    connect(edit, &QLineEdit::textEdited, this, [this] {
        showRange();
        refresh();
    });
    return edit;
}

io::Preprocess PictureRulesForm::rules() const
{
    io::Preprocess rules;
    rules.input = m_input->currentText().toStdString();
    rules.channelsLast = m_layout->currentIndex() == 1;
    rules.color = static_cast<io::Preprocess::Color>(m_colour->currentIndex());
    const auto extent = [](const QSpinBox *box) {
        return box->value() > 0 ? std::optional<std::int64_t>(box->value()) : std::nullopt;
    };
    rules.width = extent(m_width);
    rules.height = extent(m_height);
    rules.shortSide = extent(m_shortSide);
    rules.mean = numbersOf(m_mean->text(), rules.channels(), 0);
    rules.scale = numbersOf(m_scale->text(), rules.channels(), 1);
    return rules;
}

void PictureRulesForm::setRules(const io::Preprocess &rules)
{
    m_input->setCurrentText(plain(rules.input));
    m_layout->setCurrentIndex(rules.channelsLast ? 1 : 0);
    m_colour->setCurrentIndex(static_cast<int>(rules.color));
    m_width->setValue(static_cast<int>(rules.width.value_or(0)));
    m_height->setValue(static_cast<int>(rules.height.value_or(0)));
    m_shortSide->setValue(static_cast<int>(rules.shortSide.value_or(0)));
    m_mean->setText(textOf(rules.mean));
    m_scale->setText(textOf(rules.scale));
    showRange();
    refresh();
}

/// The usual range that mean and scale are, else "by hand".
void PictureRulesForm::showRange()
{
    const io::Preprocess now = rules();
    const auto fits = [&now](const Range &range) {
        for (std::size_t c = 0; c < now.channels(); ++c)
            if (std::abs(now.mean[c] - range.mean[c]) > 1e-6
                || std::abs(now.scale[c] * range.deviation[c] - 1) > 1e-6)
                return false;
        return true;
    };
    m_range->setCurrentIndex(static_cast<int>(std::ranges::find_if(kRanges, fits) - kRanges.begin()));
}

void PictureRulesForm::takeRange(int index)
{
    if (index >= static_cast<int>(kRanges.size()))
        return;
    io::Preprocess now = rules();
    takeRangeInto(now, kRanges[static_cast<std::size_t>(index)]);
    m_mean->setText(textOf(now.mean));
    m_scale->setText(textOf(now.scale));
    refresh();
}

void PictureRulesForm::setFolder(const QString &folder)
{
    auto picture = firstPictureIn(folder);
    if (!picture.ok())
        m_why = plain(picture.error().message());
    setPicture(picture.ok() ? std::move(picture).value() : io::Picture());
}

void PictureRulesForm::setPicture(io::Picture picture)
{
    m_picture = std::move(picture);
    refresh();
}

QString PictureRulesForm::note() const
{
    return m_note->text();
}

void PictureRulesForm::refresh()
{
    Q_EMIT changed();
    m_preview->setPixmap({});
    if (m_picture.rgb.empty()) {
        m_note->setText(m_why);
        return;
    }
    const io::Preprocess now = rules();
    const auto tensor = io::preprocessed(m_picture, now);
    if (!tensor.ok()) {
        m_note->setText(plain(tensor.error().message()));
        return;
    }
    const auto [low, high] = endsOf(tensor.value());
    m_preview->setPixmap(QPixmap::fromImage(imageOf(tensor.value(), now.channelsLast, low, high))
                             .scaled(m_preview->contentsRect().size(), Qt::KeepAspectRatio));
    m_note->setText(tr("%1, values from %2 to %3")
                        .arg(widgets::shapeText(tensor.value().shape()), widgets::significant(low),
                             widgets::significant(high)));
}

} // namespace halftone::app
