#!/usr/bin/env bash
# The tests of a device on an NVIDIA GPU, in as many processes as there are processors: the op sweep, random graphs, and training
# beside the CPU and PyTorch. Needs build/bin/device_{sweep,plugin}_test and build/devices/cuda_device.so, nothing else of the
# build. Prints what fails; logs are in $LOGS (build/cuda_logs).
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${BIN:-build/bin} logs=${LOGS:-build/cuda_logs} processes=${PROCESSES:-$(nproc)}
export PLIMSOLL_TEST_DEVICE=${PLIMSOLL_TEST_DEVICE:-$PWD/build/devices/cuda_device.so}
mkdir -p "$logs"
rm -f "$logs"/*.log

failed=0
"$bin/device_plugin_test" --gtest_brief=1 \
  --gtest_filter='DeviceGrowth.*:DeviceRandom.*:KeptOnDevice.*:*DeviceSteps20*:*DeviceTraining.GivesTheWeightsOfTheCpu/*_plain:*DeviceParity*' > "$logs/training.log" 2>&1 || failed=1
"$bin/device_plugin_test" --gtest_brief=1 --gtest_filter='GpuFault.*' > "$logs/fault.log" 2>&1 || failed=1
jobs=()
for ((i = 0; i < processes; ++i)); do
  GTEST_TOTAL_SHARDS=$processes GTEST_SHARD_INDEX=$i "$bin/device_sweep_test" --gtest_filter='*Sweep*:*Graphs*' \
    > "$logs/sweep_$i.log" 2>&1 &
  jobs+=($!)
done
for job in "${jobs[@]}"; do wait "$job" || failed=1; done
echo "$(cat "$logs"/sweep_*.log | grep -c '^\[       OK') of $(cat "$logs"/sweep_*.log | grep -c '^\[ RUN') tests of ops and graphs passed; training: $(tail -n 1 "$logs/training.log")"
grep -hE '^\[  FAILED  \].* ms\)' "$logs"/*.log || true
exit $failed
