"""What the peers compute rightly on this processor."""
from pathlib import Path

FLAGS = Path("/proc/cpuinfo").read_text()
RUNS_BFLOAT16 = "avx512bw" in FLAGS  # what MXNet's oneDNN needs for its bfloat16 kernels
EXACT_INT8 = "avx512_vnni" in FLAGS  # without it MXNet and ONNX Runtime add two products in 16 bits, and let them saturate
