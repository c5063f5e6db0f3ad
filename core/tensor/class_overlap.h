#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace halftone::tensor {

/// How far maps of classes cover each other: the mean intersection over union of Long, Shelhamer and Darrell 2015 ("mean IU"), over
/// all pixels of all maps added (core/quantize/RULES.md, Q-miou).
class ClassOverlap
{
public:
    static constexpr std::int64_t kIgnored = 255; ///< a right class that stands for "not judged" (PASCAL VOC)

    /// One pixel each. Needs: as many in both; found classes not below 0.
    void add(std::span<const std::int64_t> right, std::span<const std::int64_t> found);
    /// Over the classes that occur in either; nothing before a pixel was judged.
    std::optional<double> meanIou() const;

    /// Pixels of one class.
    struct Class
    {
        std::uint64_t right = 0;
        std::uint64_t found = 0;
        std::uint64_t both = 0;
    };
    /// By class; those of other maps add up.
    const std::vector<Class> &classes() const { return m_classes; }
    void add(std::span<const Class> classes);

private:
    std::vector<Class> m_classes;
};

} // namespace halftone::tensor
