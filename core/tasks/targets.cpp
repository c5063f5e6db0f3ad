#include "core/tasks/targets.h"

#include "core/io/arrays/npz.h"
#include "core/io/pictures/label_image.h"
#include "core/io/pictures/picture.h"
#include "core/tensor/elements.h"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <unordered_map>

namespace halftone::tasks {
namespace {

using tensor::DType;
using tensor::Shape;

bool isWhole(DType type)
{
    return type != DType::Unknown && !tensor::isFloat(type);
}

Error ofTargets(const std::string &path, std::string found, std::string expected)
{
    return inFile(badInput("targets", std::move(found), std::move(expected)), path);
}

Error tooFew(const std::string &path, std::size_t there, std::size_t needed)
{
    return ofTargets(path, std::to_string(there) + " targets",
                     std::to_string(needed) + ", one for each example");
}

class ArrayTargets final : public Targets
{
public:
    static Result<std::shared_ptr<const Targets>> open(const std::string &path, std::size_t examples)
    {
        HALFTONE_TRY(const std::vector<io::NamedTensor> arrays, io::readNpz(path));
        const auto named = std::ranges::find(arrays, "targets", &io::NamedTensor::name);
        if (named == arrays.end() && arrays.size() != 1)
            return ofTargets(path, "no array named targets", "one row per example");
        return of(path, named == arrays.end() ? arrays.front().tensor : named->tensor, examples);
    }

    static Result<std::shared_ptr<const Targets>> of(const std::string &path, tensor::Tensor array,
                                                     std::size_t examples)
    {
        auto targets = std::make_shared<ArrayTargets>();
        targets->m_array = std::move(array);
        const Shape &shape = targets->m_array.shape();
        const std::size_t rows = shape.rank() == 0 ? 0 : static_cast<std::size_t>(shape[0]);
        if (rows < std::max<std::size_t>(examples, 1))
            return tooFew(path, rows, std::max<std::size_t>(examples, 1));
        targets->m_path = path;
        targets->m_kind = isWhole(targets->m_array.dtype()) ? Kind::Classes : Kind::Array;
        targets->m_areBytes = targets->m_array.dtype() == DType::U8;
        targets->m_shape = Shape(std::vector<std::int64_t>(shape.dims().begin() + 1, shape.dims().end()));
        return std::shared_ptr<const Targets>(std::move(targets));
    }

    Result<std::vector<std::int64_t>> classes(std::size_t example, Shape &shape) const override
    {
        HALFTONE_CHECK(checkRow(example));
        if (!isWhole(m_array.dtype()))
            return ofTargets(m_path, std::string(tensor::nameOf(m_array.dtype())), "integers (classes)");
        shape = m_shape;
        return tensor::integers(m_array.dtype(), rowOf(example), elementsOfRow());
    }

    Result<std::vector<float>> values(std::size_t example, std::span<const std::int64_t> shape) const override
    {
        HALFTONE_CHECK(checkRow(example));
        const Shape wanted(std::vector<std::int64_t>(shape.begin(), shape.end()));
        if (wanted != m_shape)
            return ofTargets(m_path, "targets of shape " + m_shape.toString(),
                             wanted.toString() + ", the shape of the first output");
        std::vector<float> values(elementsOfRow());
        tensor::widen(m_array.dtype(), rowOf(example), values.size(), values.data());
        return values;
    }

private:
    Result<void> checkRow(std::size_t example) const
    {
        const auto rows = static_cast<std::size_t>(m_array.shape()[0]);
        return example < rows ? Result<void>() : tooFew(m_path, rows, example + 1);
    }
    std::size_t elementsOfRow() const
    {
        return m_array.elementCount() / static_cast<std::size_t>(m_array.shape()[0]);
    }
    const std::byte *rowOf(std::size_t example) const
    {
        return m_array.bytes().data() + example * elementsOfRow() * tensor::sizeOf(m_array.dtype());
    }

    tensor::Tensor m_array;
};

/// Where an output has its rows, columns and colours.
struct PictureForm
{
    std::size_t channels = 0;
    std::size_t height = 0;
    std::size_t width = 0;
    bool channelsLast = false;
};

std::optional<PictureForm> pictureForm(std::span<const std::int64_t> shape)
{
    std::vector<std::size_t> dims(shape.begin(), shape.end());
    if (dims.size() == 2)
        return PictureForm{1, dims[0], dims[1], false};
    if (dims.size() != 3)
        return std::nullopt;
    if (dims[0] == 1 || dims[0] == 3)
        return PictureForm{dims[0], dims[1], dims[2], false};
    if (dims[2] == 1 || dims[2] == 3)
        return PictureForm{dims[2], dims[0], dims[1], true};
    return std::nullopt;
}

/// What was read from files, so that an edit does not read it again; as long as it is not too much.
template <class Image>
class Cache
{
public:
    template <class Read>
    Result<std::shared_ptr<const Image>> get(std::size_t at, std::size_t (*bytesOf)(const Image &), Read read)
    {
        const std::scoped_lock guard(m_lock);
        if (const auto found = m_images.find(at); found != m_images.end())
            return found->second;
        HALFTONE_TRY(Image image, read());
        auto shared = std::make_shared<const Image>(std::move(image));
        m_bytes += bytesOf(*shared);
        if (m_bytes <= kMostBytes)
            m_images.emplace(at, shared);
        return std::shared_ptr<const Image>(std::move(shared));
    }

private:
    static constexpr std::size_t kMostBytes = std::size_t{256} << 20;

    std::mutex m_lock;
    std::unordered_map<std::size_t, std::shared_ptr<const Image>> m_images;
    std::size_t m_bytes = 0; ///< of all that were read
};

class PictureTargets final : public Targets
{
public:
    static Result<std::shared_ptr<const Targets>> open(const std::string &folder,
                                                       const JudgedExamples &examples)
    {
        auto targets = std::make_shared<PictureTargets>();
        targets->m_path = folder;
        HALFTONE_TRY(const std::vector<std::string> there, io::picturesIn(folder));
        HALFTONE_CHECK(targets->takeFiles(there, examples));
        const std::string first = targets->fileOf(0);
        targets->m_kind = io::isLabelImage(first) ? Kind::Masks : Kind::Pictures;
        targets->m_areBytes = true;
        targets->m_isBgr = examples.isBgr;
        return std::shared_ptr<const Targets>(std::move(targets));
    }

    Result<std::vector<std::int64_t>> classes(std::size_t example, Shape &shape) const override
    {
        HALFTONE_CHECK(checkExample(example));
        HALFTONE_TRY(const auto image,
                     m_masks.get(
                         example, [](const io::LabelImage &one) { return one.classes.size(); },
                         [&] { return io::readLabelImage(fileOf(example)); }));
        shape = Shape{image->height, image->width};
        return std::vector<std::int64_t>(image->classes.begin(), image->classes.end());
    }

    Result<std::vector<float>> values(std::size_t example, std::span<const std::int64_t> shape) const override
    {
        HALFTONE_CHECK(checkExample(example));
        const auto form = pictureForm(shape);
        const std::string path = fileOf(example);
        HALFTONE_TRY(const auto picture,
                     m_pictures.get(
                         example, [](const io::Picture &one) { return one.rgb.size(); },
                         [&] { return io::readPicture(path); }));
        if (!form || form->width != static_cast<std::size_t>(picture->width)
            || form->height != static_cast<std::size_t>(picture->height))
            return ofTargets(
                path, std::to_string(picture->width) + " x " + std::to_string(picture->height) + " pixels",
                form ? std::to_string(form->width) + " x " + std::to_string(form->height)
                        + ", the shape of the first output"
                     : "a first output that is a picture, not of shape "
                        + Shape(std::vector<std::int64_t>(shape.begin(), shape.end())).toString());
        return ordered(*picture, *form);
    }

private:
    /// Pictures of the inputs are matched by their names.
    Result<void> takeFiles(const std::vector<std::string> &there, const JudgedExamples &judged)
    {
        const std::size_t examples = judged.count.value_or(1);
        if (judged.files.empty()) {
            if (there.size() < examples)
                return tooFew(m_path, there.size(), examples);
            m_files = there;
            return {};
        }
        std::unordered_map<std::string, std::string> byStem;
        for (const std::string &file : there)
            byStem.emplace(std::filesystem::path(file).stem().string(), file);
        for (const std::string &input : judged.files) {
            const auto found = byStem.find(std::filesystem::path(input).stem().string());
            if (found == byStem.end())
                return ofTargets(m_path, "no picture for \"" + input + '"',
                                 "a picture of the same name, with any extension");
            m_files.push_back(found->second);
        }
        return {};
    }

    Result<void> checkExample(std::size_t example) const
    {
        return example < m_files.size() ? Result<void>() : tooFew(m_path, m_files.size(), example + 1);
    }

    std::string fileOf(std::size_t example) const
    {
        return (std::filesystem::path(m_path) / m_files[example]).string();
    }

    std::vector<float> ordered(const io::Picture &picture, const PictureForm &form) const
    {
        const std::size_t pixels = form.width * form.height;
        std::vector<float> values(pixels * form.channels);
        for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
            const std::uint8_t *const rgb = &picture.rgb[pixel * 3];
            for (std::size_t channel = 0; channel < form.channels; ++channel) {
                const float value = form.channels == 1
                    ? 0.299F * static_cast<float>(rgb[0]) + 0.587F * static_cast<float>(rgb[1])
                        + 0.114F * static_cast<float>(rgb[2])
                    : static_cast<float>(rgb[m_isBgr ? 2 - channel : channel]);
                values[form.channelsLast ? pixel * form.channels + channel : channel * pixels + pixel]
                    = value;
            }
        }
        return values;
    }

    std::vector<std::string> m_files; ///< by example
    bool m_isBgr = false;
    mutable Cache<io::Picture> m_pictures;
    mutable Cache<io::LabelImage> m_masks;
};

class NoTargets final : public Targets
{
public:
    Result<std::vector<std::int64_t>> classes(std::size_t, Shape &) const override
    {
        return badCall("targets", "none");
    }
    Result<std::vector<float>> values(std::size_t, std::span<const std::int64_t>) const override
    {
        return badCall("targets", "none");
    }
};

} // namespace

Result<std::shared_ptr<const Targets>> Targets::open(const std::string &path, const JudgedExamples &examples)
{
    if (path.empty())
        return std::shared_ptr<const Targets>(std::make_shared<NoTargets>());
    if (std::error_code none; std::filesystem::is_directory(path, none))
        return PictureTargets::open(path, examples);
    return ArrayTargets::open(path, examples.count.value_or(0));
}

Result<std::shared_ptr<const Targets>> Targets::of(tensor::Tensor array, const JudgedExamples &examples)
{
    return ArrayTargets::of({}, std::move(array), examples.count.value_or(0));
}

} // namespace halftone::tasks
