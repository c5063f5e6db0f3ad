#pragma once

#include "app/cli/parser.h"
#include "core/backends/backends.h"
#include "core/base/output_check.h"
#include "core/base/result.h"
#include "core/policy/policy.h"
#include "core/session/session.h"

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::cli {

/// MODEL and how to load it: shared by all commands that read one.
struct ModelOptions
{
    std::string model;
    std::string params;
    bool noParams = false;
    std::vector<std::string> shapes; ///< NAME=1,3,224,224

    void addTo(Command &command);
    /// The files that open() reads, as far as that shows before.
    std::vector<NamedFile> files() const;
    /// Opens the model and sets the input shapes.
    /// takesParametersAlone: also a parameter file without a graph
    Result<session::Session> open(const std::stop_token &stop, bool takesParametersAlone = false) const;
};

/// `--hardware`, for commands that take no other options of a policy: PolicyOptions, which `tune` and `convert` share, has it.
Option addHardware(Command &command, std::string &name);

/// `--precision`: the type that a runtime computes in.
struct PrecisionOption
{
    std::string name;

    void addTo(Command &command);
    tensor::DType type() const; ///< Unknown: the runtime's default
};

/// `--for`: the runtime that the result is written for.
void addRuntime(Command &command, std::string &name);

/// `--as`: whose arithmetic is used, "defined" or "mxnet".
void addArithmetic(Command &command, std::string &name);
backends::Arithmetic arithmeticNamed(std::string_view name);

/// Where ranges of int8 operators come from besides data: shared by the commands that convert.
struct RangeOptions
{
    std::string table;
    std::string method; ///< of thresholds; wins over the policy's

    void addTo(Command &command);
    void apply(policy::Policy &policy) const;
};

/// The policy file and the options that refine it (app/README.md, "Policy").
struct PolicyOptions
{
    std::string file;
    std::string target;
    std::string mode;
    std::string hardware;
    std::string accumulate;
    std::string optimise;
    std::string lists;
    std::vector<std::string> targetOps, fp32Ops, widestOps, neutralOps;
    std::vector<std::string> int8Ops;
    std::vector<std::string> conditionals;
    std::vector<std::string> excluded;
    std::vector<std::string> overrides;
    std::vector<std::string> inputs; ///< NAME=DTYPE
    std::string example; ///< .npz
    bool castParams = false;
    bool noCastParams = false;
    bool keepIoTypes = false;
    bool noKeepIoTypes = false;
    bool clamp = false;
    bool noClamp = false;
    bool share = false;
    bool noShare = false;
    bool strict = false;

    void addTo(Command &command);
    /// Does the call ask for another precision than the model's own?
    bool isGiven() const;
    /// The file's policy with the options applied, options winning; takes types and shapes from the data
    /// example into `session`.
    Result<policy::Policy> read(session::Session &session) const;
    /// An error about the policy says so, and which file it came from, if any.
    Error located(Error error) const;
    /// Nothing but types and shapes of inputs was given: no conversion is asked for.
    bool isEmpty() const;

private:
    Result<void> apply(policy::Policy &policy) const;
};

} // namespace halftone::cli
