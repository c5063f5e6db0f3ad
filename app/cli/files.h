#pragma once

#include "app/cli/options.h"
#include "core/base/output_check.h"
#include "core/walks/examples.h"

#include <string>
#include <vector>

namespace halftone::cli {

/// What a command reads and writes, collected from its options, so that nothing is written over before its work begins
/// (see checkOutputs()). Paths that are empty stand for options that were not given.
class CommandFiles
{
public:
    CommandFiles &reads(const std::string &what, const std::string &path);
    CommandFiles &reads(const std::vector<NamedFile> &files);
    CommandFiles &reads(const ModelOptions &model);
    CommandFiles &reads(const walks::ExampleOptions &examples, const ModelOptions &model);
    CommandFiles &writes(const std::string &what, const std::string &path);

    Result<void> check() const;
    /// The files that `--out prefix` asks for of what is made of `model`, checked with the others and claimed.
    Result<io::ModelOutput> claim(const std::string &prefix, const std::string &model) const;

private:
    std::vector<NamedFile> m_reads;
    std::vector<NamedFile> m_writes;
};

} // namespace halftone::cli
