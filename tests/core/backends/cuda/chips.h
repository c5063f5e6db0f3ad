#pragma once

#include <QString>

#include <string>

namespace halftone::test {

/// Chips of NVIDIA's that plans are made for in tests, by their compute capability.
struct Chip
{
    int arch;
    int multiprocessors;
    int sharedBytes; ///< of a block, at most
    int threads; ///< of a multiprocessor
};
inline constexpr Chip kChips[] = {{75, 72, 65536, 1024},   {80, 108, 166912, 2048}, {86, 84, 101376, 1536},
                                  {89, 128, 101376, 1536}, {90, 132, 232448, 2048}, {100, 148, 232448, 2048}};

/// As CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION has it.
inline std::string describedChip(const Chip &chip)
{
    const QString text = QStringLiteral(
        R"({"deviceName": "sm_%1", "maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64], "regsPerBlock": 65536,
            "multiProcessorCount": %2, "warpSize": 32, "maxSharedMemoryPerBlock": 49152, "maxSharedMemoryPerBlockOptin": %3,
            "reservedSharedMemoryPerBlock": 1024, "maxRegistersPerSM": 65536, "maxCtasPerSM": 32, "maxThreadsPerBlock": 1024,
            "maxThreadsPerSM": %4, "pciDeviceId": 0, "isTccDriver": 0, "supportCoopLaunch": 1, "totalGlobalMem": 25000000000,
            "smClockRateKHz": 1500000, "memClockRateKHz": 2000000, "l2CacheSize": 41943040, "cudaDeviceId": 0, "deviceVer": %5,
            "driverVer": 13000})");
    return text.arg(chip.arch)
        .arg(chip.multiprocessors)
        .arg(chip.sharedBytes)
        .arg(chip.threads)
        .arg(10 * chip.arch)
        .toStdString();
}

} // namespace halftone::test
