#include "widgets/graphview/picture_file.h"

#include "core/base/atomic_file.h"
#include "core/layout/svg_writer.h"

#include <QBuffer>
#include <QFileInfo>
#include <QFontMetricsF>
#include <QImage>
#include <QPainter>
#include <QPdfWriter>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <utility>

namespace halftone::widgets {
namespace {

constexpr double kPictureMargin = 16; ///< around the picture
constexpr double kMostPixels = 64e6; ///< of a PNG: 256 MB while it is made
constexpr double kMostSide = 30000;

std::string hex(const QColor &colour)
{
    return colour.name().toStdString();
}

BandPattern bandPattern(Qt::BrushStyle pattern)
{
    switch (pattern) {
    case Qt::BDiagPattern:
        return BandPattern::Diagonal;
    case Qt::Dense5Pattern:
        return BandPattern::Dots;
    case Qt::DiagCrossPattern:
        return BandPattern::CrossHatch;
    default:
        return BandPattern::None;
    }
}

layout::SvgItem svgItem(const SceneItem &item, const ItemLook &look, ColourBy colourBy, const Tones &tones)
{
    const Tone &tone = tones.of(look);
    layout::SvgItem result;
    result.kind = item.isFrame ? layout::SvgItem::Kind::Frame
        : item.ref.isBlock     ? layout::SvgItem::Kind::Folded
        : item.isVariable      ? layout::SvgItem::Kind::Variable
                               : layout::SvgItem::Kind::Node;
    result.rect = {item.rect.x(), item.rect.y(), item.rect.width(), item.rect.height()};
    result.isFaint = item.isFaint;
    result.title = (item.isFaint && item.ref.isBlock ? item.label : item.name).toStdString();
    result.detail = item.detail.toStdString();
    result.warns = look.warns && !item.ref.isBlock;
    const bool isNode = result.kind == layout::SvgItem::Kind::Node;
    if (isNode && !tone.isOutlined) {
        result.band = hex(tone.band);
        result.badgeText = hex(readableOn(tone.band));
    }
    if (isNode)
        result.badge = badgeText(look, tone).toStdString();
    result.pattern = bandPattern(tone.pattern);
    result.body = hex(item.isFrame ? tones.frame(item.depth) : isNode ? tone.body : tones.ground());
    result.border = hex(isNode ? tone.border : tones.line());
    if (isNode && colourBy != ColourBy::Precision && look.share >= 0) {
        const QColor body = tones.scale(look.share);
        result.body = hex(body);
        result.titleColour = hex(readableOn(body));
        result.detail += " · " + figureText(colourBy, look.value).toStdString();
    }
    double total = 0;
    for (const std::uint32_t count : look.mix)
        total += count;
    for (std::size_t k = 0; k < look.mix.size() && item.ref.isBlock; ++k) {
        if (look.mix[k] > 0)
            result.mix.emplace_back(hex(tones.of(kMixTypes[k]).band), look.mix[k] / total);
    }
    return result;
}

std::string svgText(const PaintInput &input, const Tones &tones, double lineHeight)
{
    layout::SvgPicture picture;
    const Scene &scene = *input.scene;
    picture.size = {scene.size().width(), scene.size().height()};
    picture.title = "Graph of "
        + input.snapshot->source->modelPath.substr(input.snapshot->source->modelPath.rfind('/') + 1);
    picture.ground = hex(tones.ground());
    picture.text = hex(tones.text());
    picture.secondText = hex(tones.secondText());
    picture.line = hex(tones.line());
    picture.lineHeight = lineHeight;
    for (ItemIndex k = 0; k < scene.items().size(); ++k)
        picture.items.push_back(svgItem(scene.items()[k], input.looks->items[k], input.colourBy, tones));
    for (const SceneItem &item : scene.items()) {
        if (!item.reads.isEmpty())
            picture.labels.push_back(
                {{item.rect.left() + 4, item.rect.top() - 8}, item.reads.toStdString() + " ↓", {}});
        if (!item.gives.isEmpty())
            picture.labels.push_back(
                {{item.rect.left() + 4, item.rect.bottom() + 10}, item.gives.toStdString() + " ↓", {}});
    }
    std::set<std::pair<ItemIndex, long>> told;
    for (std::uint32_t k = 0; k < scene.edges().size(); ++k) {
        layout::Polyline line;
        for (const QPointF &point : scene.edges()[k].line)
            line.push_back({point.x(), point.y()});
        const CastMark &mark = input.looks->casts[k];
        if (mark.count > 0) {
            const QPointF at = alongLine(scene.edges()[k].line, 0.5);
            picture.casts.push_back({{at.x(), at.y()}, hex(tones.of(mark.type).band), mark.isShared});
        }
        if (const QString &badge = scene.edges()[k].badge; !badge.isEmpty()) {
            const QPointF at = alongLine(scene.edges()[k].line, mark.count > 0 ? 0.25 : 0.5);
            picture.labels.push_back(
                {{at.x(), at.y()}, badge.toStdString(), hex(tones.of(tensor::DType::I8).band)});
        }
        if (const QString text = edgeText(input, scene.edges()[k]); !text.isEmpty() && line.size() > 1) {
            // As in the window just above the line's end; of lines that meet the first one's text stays.
            const layout::Point tip = line.back();
            const bool isAlone = told.emplace(scene.edges()[k].to, std::lround(tip.x)).second;
            if (isAlone && tip.y - line.front().y > 1.5 * lineHeight)
                picture.labels.push_back({{tip.x + 6, tip.y - 0.7 * lineHeight}, text.toStdString(), {}});
        }
        picture.edges.push_back(std::move(line));
    }
    return layout::svgOf(picture);
}

Result<void> writeFile(const QString &path, std::string_view bytes)
{
    HALFTONE_TRY(AtomicFile file, AtomicFile::create(path.toStdString()));
    HALFTONE_CHECK(file.write(bytes));
    return file.commit();
}

Result<QByteArray> pngOf(const QString &path, const PaintInput &input, ScenePainter &scenePainter,
                         const QSizeF &size)
{
    Camera camera;
    camera.origin = {-kPictureMargin, -kPictureMargin};
    camera.scale = std::min({2.0, std::sqrt(kMostPixels / (size.width() * size.height())),
                             kMostSide / std::max(size.width(), size.height())});
    QImage image((size * camera.scale).toSize().expandedTo({1, 1}), QImage::Format_RGB32);
    if (image.isNull())
        return unsupported(path.toStdString(), "not enough memory for a picture of this size", "svg or pdf");
    image.fill(scenePainter.tones().ground());
    QPainter painter(&image);
    scenePainter.paint(painter, image.rect(), image.rect(), camera, input);
    painter.end();
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    image.save(&buffer, "PNG");
    return bytes;
}

/// Points of the page are the scene's pixels, as far as a page may be large (200 inches by the format's limit).
QByteArray pdfOf(const PaintInput &input, ScenePainter &scenePainter, const QSizeF &size)
{
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    Camera camera;
    camera.origin = {-kPictureMargin, -kPictureMargin};
    const double scale = std::min(1.0, 14000 / std::max(size.width(), size.height()));
    QPdfWriter pdf(&buffer);
    pdf.setResolution(72);
    pdf.setCreator(QStringLiteral("Halftone"));
    pdf.setPageMargins({});
    pdf.setPageSize(QPageSize(size * scale, QPageSize::Point, {}, QPageSize::ExactMatch));
    QPainter painter(&pdf);
    painter.scale(scale, scale);
    painter.fillRect(QRectF(QPointF(), size), scenePainter.tones().ground());
    const QRectF page(QPointF(), size);
    scenePainter.paint(painter, page, page, camera, input);
    painter.end();
    return bytes;
}

} // namespace

Result<void> writePicture(const QString &path, const PaintInput &input, const QPalette &palette,
                          const QFont &font)
{
    if (!input.scene)
        return badCall(path.toStdString(), "no graph is shown", "an opened model");
    const QString ending = QFileInfo(path).suffix().toLower();
    if (ending == QStringLiteral("svg"))
        return writeFile(path, svgText(input, Tones(palette), QFontMetricsF(font).height()));
    if (ending != QStringLiteral("png") && ending != QStringLiteral("pdf"))
        return badCall(path.toStdString(), "unsupported format \"" + ending.toStdString() + '"',
                       "svg, png or pdf");

    const QSizeF size = input.scene->size() + QSizeF(2 * kPictureMargin, 2 * kPictureMargin);
    PaintInput whole = input;
    whole.emphasis = std::make_shared<const Emphasis>();
    ScenePainter scenePainter(palette, font);
    QByteArray bytes;
    if (ending == QStringLiteral("png")) {
        HALFTONE_TRY(bytes, pngOf(path, whole, scenePainter, size));
    } else {
        bytes = pdfOf(whole, scenePainter, size);
    }
    return writeFile(path, std::string_view(bytes.constData(), static_cast<std::size_t>(bytes.size())));
}

} // namespace halftone::widgets
