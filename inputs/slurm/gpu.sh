#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
#
# GPU nodes: one rank a card. A run that needs longer than the time limit saves its state before the limit, goes back
# into the queue and continues where it was.
#
#   sbatch --account=ACCOUNT --partition=PARTITION inputs/slurm/gpu.sh inputs/seven_spheres.yaml
#
# What follows the script's name goes to `prismfield run`. Options of sbatch before it win over the lines below; ranks
# and cards of a node go together: --gpus-per-node=8 --ntasks-per-node=8. docs/hpc.md explains every line.
#
#SBATCH --job-name=prismfield
#SBATCH --nodes=1
#SBATCH --gpus-per-node=4
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=4
#SBATCH --time=01:00:00
#
# 30 s before the limit (Slurm may be up to a minute early) the script, and nothing else, gets USR1.
#SBATCH --signal=B:USR1@30
#SBATCH --requeue
#SBATCH --open-mode=append

if [ "${SLURM_GPUS_ON_NODE:-0}" -ne "$SLURM_NTASKS_PER_NODE" ]; then
  echo "gpu.sh: ${SLURM_GPUS_ON_NODE:-0} cards and $SLURM_NTASKS_PER_NODE ranks a node: ask for as many of both" >&2
  exit 2
fi
command -v prismfield >/dev/null || module load prismfield

# The host's part is small; srun does not take --cpus-per-task from sbatch.
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK OMP_PLACES=cores OMP_PROC_BIND=close

# `wait` ends at the signal, before the step does. $! is srun, which hands the signal on to every rank.
limit_is_near=no
trap 'limit_is_near=yes; kill -USR1 $!' USR1

# A requeued job keeps its number, so that --resume finds the state that the run before has saved. A new job goes on from
# the state of another by PRISMFIELD_CHECKPOINT=prismfield-NUMBER.ckpt.h5 sbatch ...
checkpoint=${PRISMFIELD_CHECKPOINT:-prismfield-$SLURM_JOB_ID.ckpt.h5}

# Every rank sees all cards of its node and takes the one of its local number.
# --wait: when a rank is lost, the others would wait for it as long as the job lasts.
srun --cpus-per-task="$SLURM_CPUS_PER_TASK" --cpu-bind=cores --wait=30 \
  prismfield run "$@" --resume --set execution.space=cuda \
  --set "output.checkpoint={every: 10 min, file: $checkpoint}" &
wait $!
code=$?
if [ $limit_is_near = yes ]; then
  wait $!
  code=$?
fi

# 130: stopped, its state saved; 138: the signal came before the run had begun. A job ended by scancel stays ended.
if [ $limit_is_near = yes ] && { [ $code -eq 130 ] || [ $code -eq 138 ]; }; then
  scontrol requeue "$SLURM_JOB_ID"
fi
exit $code
