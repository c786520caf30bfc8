#!/usr/bin/env bash
# Time per row of ours alone at several numbers of threads: how far the engine scales on a machine with many cores.
#   bench/scaling.sh [FOLDER OF plimsoll_bench] [THREADS...]      e.g. bench/scaling.sh build/bin 2 8 16
# ROWS names the rows, ROUNDS the rounds of each; PROFILE=1 adds the time per kind of step at the most threads.
set -euo pipefail
bin=${1:-build/bin}
shift || true
threads=("${@:-2}")
rows=${ROWS:-matmul_1024 transformer_b16 transformer_b16_predict resnet50_b8 resnet50_b8_predict mnist_b128 cnn64bn_b32 lstm_b32 layernorm_4096x768 softmax_xent_4096x1000 eltwise_chain8_16m}
for row in $rows; do
  for n in "${threads[@]}"; do
    printf '%2d threads  ' "$n"
    "$bin/plimsoll_bench" --row "$row" --threads "$n" --rounds "${ROUNDS:-5}"
  done
  [ "${PROFILE:-}" != 1 ] || "$bin/plimsoll_bench" --row "$row" --threads "$n" --profile | head -n 25
done
