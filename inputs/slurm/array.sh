#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
#
# An array job: one case a task, each on some cores of its own.
#
#   sbatch --account=ACCOUNT --partition=PARTITION --array=0-2 inputs/slurm/array.sh \
#     inputs/one_sphere.yaml inputs/irregular.yaml inputs/underground.yaml
#
# --array numbers the cases from 0; --array=0-99%10 runs ten at a time. Every case writes the output that it names into
# the folder where sbatch was called, so their names have to differ. docs/hpc.md explains every line.
#
#SBATCH --job-name=prismfield
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=8
#SBATCH --time=01:00:00
#
# 30 s before the limit (Slurm may be up to a minute early) the script, and nothing else, gets USR1.
#SBATCH --signal=B:USR1@30
#SBATCH --requeue
#SBATCH --open-mode=append

cases=("$@")
case_file=${cases[${SLURM_ARRAY_TASK_ID:--1}]-}
if [ -z "$case_file" ] || [ -z "${SLURM_ARRAY_TASK_ID-}" ]; then
  echo "array.sh: no case for task '${SLURM_ARRAY_TASK_ID-}'; $# cases need --array=0-$(($# - 1))" >&2
  exit 2
fi
command -v prismfield >/dev/null || module load prismfield
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK OMP_PLACES=cores OMP_PROC_BIND=close

# `wait` ends at the signal, before the step does. $! is srun, which hands the signal on to the run.
limit_is_near=no
trap 'limit_is_near=yes; kill -USR1 $!' USR1

# The number of array and task, because the plain job number of one task can mean the whole array.
task=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID
srun --cpus-per-task="$SLURM_CPUS_PER_TASK" --cpu-bind=cores \
  prismfield run "$case_file" --resume \
  --set "output.checkpoint={every: 10 min, file: prismfield-$task.ckpt.h5}" &
wait $!
code=$?
if [ $limit_is_near = yes ]; then
  wait $!
  code=$?
fi

# 130: stopped, its state saved; 138: the signal came before the run had begun. A task ended by scancel stays ended.
if [ $limit_is_near = yes ] && { [ $code -eq 130 ] || [ $code -eq 138 ]; }; then
  scontrol requeue "$task"
fi
exit $code
