#pragma once

#include <cstddef>

namespace halftone::walks {

/// Which of the examples: shard `index` of `of` equal ones, in order, counted from 0.
struct Shard
{
    std::size_t index = 0;
    std::size_t of = 1;

    bool isWhole() const { return of == 1; }
    std::size_t begin(std::size_t examples) const { return share(examples, index); }
    std::size_t end(std::size_t examples) const { return share(examples, index + 1); }
    bool operator==(const Shard &) const = default;

private:
    /// examples * k / of, without a product that overflows.
    std::size_t share(std::size_t examples, std::size_t k) const
    {
        return examples / of * k + examples % of * k / of;
    }
};

} // namespace halftone::walks
