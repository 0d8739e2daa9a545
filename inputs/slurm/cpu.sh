#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
#
# CPU nodes: one rank a socket, one thread a core. A run that needs longer than the time limit saves its state before
# the limit, goes back into the queue and continues where it was.
#
#   sbatch --account=ACCOUNT --partition=PARTITION inputs/slurm/cpu.sh inputs/seven_spheres.yaml
#
# What follows the script's name goes to `prismfield run`. Options of sbatch before it win over the lines below, e.g.
# --nodes=8, or --ntasks-per-node=1 for nodes with one socket. docs/hpc.md explains every line.
#
#SBATCH --job-name=prismfield
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=2
#SBATCH --exclusive
#SBATCH --time=01:00:00
#
# 30 s before the limit (Slurm may be up to a minute early) the script, and nothing else, gets USR1. Within that time a
# chunk of the run has to end and its state to be written: give more to a run whose chunks take longer.
#SBATCH --signal=B:USR1@30
#SBATCH --requeue
#SBATCH --open-mode=append

command -v prismfield >/dev/null || module load prismfield

# One thread a core. Slurm's CPUs may be hardware threads; srun does not take --cpus-per-task from sbatch.
cores=$(lscpu --parse=Core,Socket | grep -v '^#' | sort -u | wc -l)
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-$((cores / SLURM_NTASKS_PER_NODE))} OMP_PLACES=cores OMP_PROC_BIND=close

# `wait` ends at the signal, before the step does. $! is srun, which hands the signal on to every rank.
limit_is_near=no
trap 'limit_is_near=yes; kill -USR1 $!' USR1

# A requeued job keeps its number, so that --resume finds the state that the run before has saved. A new job goes on from
# the state of another by PRISMFIELD_CHECKPOINT=prismfield-NUMBER.ckpt.h5 sbatch ...
checkpoint=${PRISMFIELD_CHECKPOINT:-prismfield-$SLURM_JOB_ID.ckpt.h5}
# --wait: when a rank is lost, the others would wait for it as long as the job lasts.
srun --cpus-per-task=$((SLURM_CPUS_ON_NODE / SLURM_NTASKS_PER_NODE)) --cpu-bind=cores --wait=30 \
  prismfield run "$@" --resume \
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
