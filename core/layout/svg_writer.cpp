#include "core/layout/svg_writer.h"

#include "core/base/markup.h"
#include "core/layout/name_cut.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

namespace halftone::layout {
namespace {

constexpr double kMargin = 16;

std::string number(double value)
{
    std::array<char, 32> text{};
    const double rounded = std::round(value * 100) / 100;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), rounded == 0 ? 0 : rounded);
    return std::string(text.data(), end.ptr);
}

/// Where the characters of a UTF-8 text begin, and its end.
std::vector<std::size_t> characters(const std::string &text)
{
    std::vector<std::size_t> begins;
    for (std::size_t k = 0; k < text.size(); ++k) {
        if ((static_cast<unsigned char>(text[k]) & 0xC0) != 0x80)
            begins.push_back(k);
    }
    begins.push_back(text.size());
    return begins;
}

/// Width of a character in em, as DejaVu Sans has it at most: of the usual fonts the widest.
double widthOfCharacter(std::string_view character)
{
    constexpr std::string_view kNarrow = "fijlrtIJ.,:;'|!()[]{}/\\- ";
    constexpr std::string_view kWide = "mwMW@%&";
    if (character == "·")
        return 0.32;
    if (character.size() > 1 || kWide.find(character.front()) != std::string_view::npos)
        return 1;
    if (kNarrow.find(character.front()) != std::string_view::npos)
        return 0.42;
    const bool isUpper = character.front() >= 'A' && character.front() <= 'Z';
    return isUpper ? 0.79 : 0.64;
}

double widthOf(const std::string &text, double em, bool isBold = false)
{
    constexpr double kBold = 1.13;
    const std::vector<std::size_t> begins = characters(text);
    double width = 0;
    for (std::size_t k = 0; k + 1 < begins.size(); ++k)
        width += widthOfCharacter(std::string_view(text).substr(begins[k], begins[k + 1] - begins[k]));
    return em * width * (isBold ? kBold : 1);
}

/// As much as fits `width` in any usual font, no number left out that can stay.
std::string elided(const std::string &text, double width, double em, bool isBold = false)
{
    const std::size_t count = characters(text).size() - 1;
    std::string shown = text;
    for (std::size_t kept = count; kept > 1 && widthOf(shown, em, isBold) > width; --kept)
        shown = cutName(text, kept - 1);
    return shown;
}

class Writer
{
public:
    explicit Writer(const SvgPicture &picture)
        : m_picture(picture)
        , m_em(picture.lineHeight * 0.78)
    {
    }

    std::string write()
    {
        head();
        for (const SvgItem &item : m_picture.items)
            if (item.kind == SvgItem::Kind::Frame)
                rect(item.rect, item.body, item.border, 5);
        edges();
        for (const SvgItem &item : m_picture.items)
            if (item.kind == SvgItem::Kind::Frame)
                frameTitle(item);
        for (const SvgItem &item : m_picture.items)
            if (item.kind != SvgItem::Kind::Frame)
                namedBox(item);
        for (const SvgDiamond &cast : m_picture.casts)
            diamond(cast);
        for (const SvgLabel &one : m_picture.labels)
            label(one);
        return m_svg + "</g>\n</svg>\n";
    }

private:
    void head()
    {
        const std::string width = number(m_picture.size.width + 2 * kMargin);
        const std::string height = number(m_picture.size.height + 2 * kMargin);
        m_svg
            = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\""
            + width + "\" height=\"" + height + "\" viewBox=\"0 0 " + width + ' ' + height
            + "\" font-family=\"sans-serif\" font-size=\"" + number(m_em) + "\">\n<title>"
            + markupText(m_picture.title)
            + "</title>\n<defs>\n"
              "<pattern id=\"diagonal\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\"><path "
              "d=\"M-1,5L5,-1\" "
              "stroke=\""
            + m_picture.ground
            + "\" stroke-width=\"1.1\"/></pattern>\n"
              "<pattern id=\"dots\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\"><circle "
              "cx=\"2\" cy=\"2\" "
              "r=\"0.9\" fill=\""
            + m_picture.ground
            + "\"/></pattern>\n"
              "<pattern id=\"cross\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\"><path "
              "d=\"M0,0L4,4M4,0L0,4\" "
              "stroke=\""
            + m_picture.ground + "\" stroke-width=\"0.8\"/></pattern>\n</defs>\n";
        m_svg += "<rect width=\"100%\" height=\"100%\" fill=\"" + m_picture.ground
            + "\"/>\n<g transform=\"translate(" + number(kMargin) + ' ' + number(kMargin) + ")\">\n";
    }

    void rect(const Rect &r, const std::string &fill, const std::string &stroke, double radius)
    {
        m_svg += "<rect x=\"" + number(r.x) + "\" y=\"" + number(r.y) + "\" width=\"" + number(r.width)
            + "\" height=\"" + number(r.height) + "\" fill=\"" + fill + '"';
        if (!stroke.empty())
            m_svg += " stroke=\"" + stroke + '"';
        if (radius > 0)
            m_svg += " rx=\"" + number(radius) + '"';
        m_svg += "/>\n";
    }

    void text(double x, double middle, const std::string &what, double size, const std::string &colour,
              bool isBold, const char *anchor = nullptr)
    {
        m_svg += "<text x=\"" + number(x) + "\" y=\"" + number(middle + 0.36 * size) + "\" fill=\"" + colour
            + '"';
        if (size != m_em)
            m_svg += " font-size=\"" + number(size) + '"';
        if (isBold)
            m_svg += " font-weight=\"bold\"";
        if (anchor)
            m_svg += std::string(" text-anchor=\"") + anchor + '"';
        m_svg += '>' + markupText(what) + "</text>\n";
    }

    void band(const Rect &r, const std::string &colour, BandPattern pattern)
    {
        rect(r, colour, {}, 0);
        if (pattern != BandPattern::None)
            rect(r,
                 pattern == BandPattern::Diagonal   ? "url(#diagonal)"
                     : pattern == BandPattern::Dots ? "url(#dots)"
                                                    : "url(#cross)",
                 {}, 0);
    }

    /// Beside the lines that lead into the frame; over them where there is no room.
    void frameTitle(const SvgItem &item)
    {
        const double room = item.rect.width - 1.4 * m_em;
        const std::string title = elided(item.title, room, m_em, true);
        const double y = item.rect.y + 1.1 * m_picture.lineHeight;
        const Span row{item.rect.x + 0.7 * m_em, item.rect.x + 0.7 * m_em + room};
        const TitlePlaces places
            = placeTitle(row, linesThrough({row.from, y - 0.7 * m_em, row.width(), 1.4 * m_em}),
                         widthOf(title, m_em, true), widthOf(item.detail, 0.86 * m_em), 0.6 * m_em);
        const auto write = [&](const Span &span, bool isCrossed, const std::string &what, double size,
                               const std::string &colour, bool isBold) {
            if (isCrossed)
                rect({span.from - 0.2 * m_em, y - 0.7 * m_em, span.width() + 0.4 * m_em, 1.4 * m_em},
                     item.body, {}, 0);
            text(span.from, y, what, size, colour, isBold);
        };
        write(places.title, places.isTitleCrossed, title, m_em, m_picture.text, true);
        if (places.detail.width() > 6 * m_em
            || places.detail.width() >= widthOf(item.detail, 0.86 * m_em) - 1)
            write(places.detail, places.isDetailCrossed,
                  elided(item.detail, places.detail.width() + 1, 0.86 * m_em), 0.86 * m_em,
                  m_picture.secondText, false);
    }

    std::vector<Span> linesThrough(const Rect &row) const
    {
        std::vector<Span> spans;
        for (const Polyline &line : m_picture.edges)
            addCrossings(
                row, line.size(), [&line](std::size_t k) { return line[k]; }, spans);
        return spans;
    }

    void edges()
    {
        for (const Polyline &line : m_picture.edges) {
            if (line.size() < 2)
                continue;
            m_svg += "<polyline fill=\"none\" stroke=\"" + m_picture.line + "\" points=\"";
            for (const Point &point : line)
                m_svg += number(point.x) + ',' + number(point.y) + ' ';
            m_svg.back() = '"';
            const Point tip = line.back();
            m_svg += "/>\n<path fill=\"" + m_picture.line + "\" d=\"M" + number(tip.x) + ',' + number(tip.y)
                + "l-3,-6h6z\"/>\n";
        }
    }

    /// A box whose title had to be shortened shows the whole one under the pointer.
    void namedBox(const SvgItem &item)
    {
        const std::size_t begin = m_svg.size();
        box(item);
        const std::string whole = markupText(item.title);
        if (m_svg.find(whole, begin) != std::string::npos)
            return;
        m_svg.insert(begin, "<g><title>" + whole + "</title>\n");
        m_svg += "</g>\n";
    }

    void box(const SvgItem &item)
    {
        const Rect &r = item.rect;
        const bool isFolded = item.kind == SvgItem::Kind::Folded;
        const bool isVariable = item.kind == SvgItem::Kind::Variable;
        if (isFolded)
            rect({r.x + 3, r.y + 3, r.width, r.height}, item.body, item.border, 3);
        rect(r, item.body, item.border, isVariable ? r.height / 2 : 3);
        const double line = m_picture.lineHeight;
        double left = r.x + 8;
        double right = r.right() - 6;
        if (item.kind == SvgItem::Kind::Node && !item.band.empty()) {
            band({r.x + 0.5, r.y + 0.5, 8, r.height - 1}, item.band, item.pattern);
            left = r.x + 14;
        }
        if (isFolded && !item.isFaint)
            mix(item);
        if (!item.badge.empty())
            badge(item, right);
        const std::string &colour = item.titleColour.empty() ? m_picture.text : item.titleColour;
        const std::string &second = item.titleColour.empty() ? m_picture.secondText : item.titleColour;
        const double middle = r.centreY();
        if (isFolded && item.isFaint)
            return text(left, middle, elided(item.title, right - left, m_em), m_em, second, false);
        const double titleY = isFolded ? r.y + 0.85 * line : isVariable ? middle : middle - 0.55 * line;
        text(left, titleY, elided(item.title, right - left, m_em, isFolded), m_em,
             item.isFaint ? second : colour, isFolded);
        if (!isVariable)
            text(left, isFolded ? r.y + 2 * line : middle + 0.6 * line,
                 elided(item.detail, right - left, 0.86 * m_em), 0.86 * m_em, second, false);
        if (item.warns)
            m_svg += "<path fill=\"#ffb000\" stroke=\"" + m_picture.ground + "\" d=\"M" + number(r.right())
                + ',' + number(r.y - 7) + "l7,12h-14z\"/>\n";
    }

    void badge(const SvgItem &item, double &right)
    {
        const double size = 0.8 * m_em;
        const double width = widthOf(item.badge, size) + 8;
        const double height = size + 6;
        const Rect box{right - width, item.rect.centreY() - height / 2, width, height};
        const bool isFilled = !item.badgeText.empty();
        rect(box, isFilled ? item.band : "none", isFilled ? "" : item.border, 3);
        text(box.centreX(), box.centreY(), item.badge, size, isFilled ? item.badgeText : m_picture.secondText,
             false, "middle");
        right = box.x - 4;
    }

    void mix(const SvgItem &item)
    {
        const double height = 0.7 * m_picture.lineHeight;
        double x = item.rect.x + 1;
        for (const auto &[colour, share] : item.mix) {
            const double width = (item.rect.width - 2) * share;
            rect({x, item.rect.bottom() - height, width, height - 1}, colour, {}, 0);
            x += width;
        }
    }

    void label(const SvgLabel &one)
    {
        const double size = 0.8 * m_em;
        if (one.frame.empty())
            return text(one.at.x, one.at.y, one.text, size, m_picture.secondText, false);
        const double width = widthOf(one.text, size) + 6;
        rect({one.at.x - width / 2, one.at.y - 0.7 * size, width, 1.4 * size}, m_picture.ground, one.frame,
             3);
        text(one.at.x, one.at.y, one.text, size, m_picture.text, false, "middle");
    }

    void diamond(const SvgDiamond &cast)
    {
        m_svg += "<path d=\"M" + number(cast.centre.x) + ',' + number(cast.centre.y - 5)
            + "l5,5l-5,5l-5,-5z\" fill=\"" + (cast.isHollow ? m_picture.ground : cast.colour) + "\" stroke=\""
            + (cast.isHollow ? cast.colour : m_picture.ground) + "\"/>\n";
    }

    const SvgPicture &m_picture;
    double m_em; ///< size of the larger text
    std::string m_svg;
};

} // namespace

std::string svgOf(const SvgPicture &picture)
{
    return Writer(picture).write();
}

} // namespace halftone::layout
