#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
#
# run_batch_scripts.sh PRISMFIELD SOURCE: runs the batch scripts of inputs/slurm by a real Slurm.
#
# A cluster of two virtual nodes is set up on this machine in a temporary folder, with munged, slurmctld and a slurmd a
# node of its own, and taken down at the end, whatever happens. What is typed and answered goes to standard output.
# Debian: apt-get install slurm-wlm. 77: not run here.
set -uo pipefail
prismfield=$(realpath "$1")
source=$(realpath "$2")
export PATH="$(dirname "$prismfield"):$PATH:/usr/sbin:/sbin"

skip() {
  echo "the batch scripts are not run: $1"
  exit 77
}
for program in munged slurmctld slurmd srun sbatch; do
  command -v $program >/dev/null || skip "no $program; Debian's package slurm-wlm has it"
done
slurmd -h 2>&1 | grep -q -- '-N node' || skip "this slurmd serves one node a machine only (no --enable-multiple-slurmd)"

# Short, because sockets in it may have a hundred letters.
folder=$(mktemp -d -t prismfield_slurm.XXXXXX)
work=$folder/work
host=$(hostname -s)
nodes=(node1 node2)
export SLURM_CONF=$folder/slurm.conf
# The virtual nodes share /dev/shm, where Open MPI's ranks of the same local number would meet.
export OMPI_MCA_btl=tcp,self OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMP_NUM_THREADS=1
unset OMP_PROC_BIND

# ---- the cluster

free_port() {
  local port
  while port=$((20000 + RANDOM)); do
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
  done
  echo $port
}

start_cluster() {
  local node
  mkdir -p "$folder"/{state,log,munge} "$work"
  chmod 755 "$folder"
  chmod 711 "$folder/munge"
  (umask 077 && head -c 128 /dev/urandom >"$folder/munge/key")
  # Every word explained in slurm.conf(5). TmpFS: srun's PMIx makes a folder a step there, and the nodes share a /tmp.
  # cred_expire: a requeued job waits as long before it starts again.
  cat >"$SLURM_CONF" <<END
ClusterName=virtual
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket,cred_expire=5
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool/%n
TmpFS=$folder/tmp/%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd-%n.pid
SlurmctldLogFile=$folder/log/slurmctld
SlurmdLogFile=$folder/log/slurmd-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=2,bf_interval=2,batch_sched_delay=0
SlurmdParameters=config_overrides
SwitchType=switch/none
MpiDefault=none
KillWait=10
ReturnToService=2
GresTypes=gpu
PartitionName=cpu Nodes=$(IFS=, && echo "${nodes[*]}") Default=YES MaxTime=INFINITE State=UP
END
  # Files in the place of cards: enough for Slurm to judge gpu.sh.
  touch "$folder"/card{0,1}
  echo "Name=gpu File=$folder/card[0-1]" >"$folder/gres.conf"
  for node in "${nodes[@]}"; do
    mkdir -p "$folder/spool/$node" "$folder/tmp/$node"
    echo "NodeName=$node NodeHostname=$host NodeAddr=127.0.0.1 Port=$(free_port) CPUs=2 CoresPerSocket=2 Gres=gpu:2"
  done >>"$SLURM_CONF"

  munged --force --socket="$folder/munge/socket" --key-file="$folder/munge/key" --pid-file="$folder/munge/pid" \
    --log-file="$folder/log/munged" --seed-file="$folder/munge/seed" || skip "munged does not start"
  slurmctld -f "$SLURM_CONF" || skip "slurmctld does not start: $(tail -n 1 "$folder/log/slurmctld")"
  for node in "${nodes[@]}"; do
    slurmd -N "$node" -f "$SLURM_CONF" || skip "slurmd does not start: $(tail -n 1 "$folder/log/slurmd-$node")"
  done
  for ((i = 0; i < 60; ++i)); do
    [ "$(sinfo --noheader --states=idle --format=%D 2>/dev/null)" = "${#nodes[@]}" ] && return
    sleep 0.5
  done
  skip "the nodes do not come up: $(tail -q -n 1 "$folder/log"/*)"
}

# A zombie has ended, whenever its parent may ask for it.
alive() { [[ $(ps -o state= -p "$1") == [!Z]* ]]; }

stop_cluster() {
  local status=$? pid file
  trap - EXIT INT TERM
  if [ -S "$folder/munge/socket" ]; then
    scancel --user="$(id -un)" 2>/dev/null
    for ((i = 0; i < 40; ++i)); do
      [ -z "$(squeue --noheader 2>/dev/null)" ] && break
      sleep 0.5
    done
  fi
  # munged last: the others talk through it.
  for file in "$folder"/slurmd-*.pid "$folder/slurmctld.pid" "$folder/munge/pid"; do
    pid=$(cat "$file" 2>/dev/null) && [ -n "$pid" ] || continue
    kill "$pid" 2>/dev/null
    for ((i = 0; i < 40; ++i)); do
      alive "$pid" || break
      sleep 0.25
    done
    if alive "$pid"; then
      kill -9 "$pid"
      echo "$(basename "$file"): had to be killed"
      [ $status -ne 0 ] || status=1
    fi
  done
  if [ $status -ne 0 ] && [ $status -ne 77 ]; then
    tail -n 30 "$work"/*.out "$folder/log/slurmctld" 2>/dev/null
  fi
  rm -rf "$folder"
  exit $status
}
trap stop_cluster EXIT
trap 'exit 1' INT TERM

# ---- what the test says and asks

fail() {
  echo "FAILED: $1"
  exit 1
}

# Types a command, as a user would.
show() {
  printf '$ %s\n' "$*"
  "$@" 2>&1
}

field_of() { scontrol show job --oneliner "$1" | head -n 1 | tr ' ' '\n' | sed -n "s/^$2=//p" | head -n 1; }

# submit OPTIONS...: sets `job`.
submit() {
  printf '$ sbatch %s\n' "$*"
  local answer
  answer=$(sbatch "$@" 2>&1) || fail "sbatch: $answer"
  echo "$answer"
  job=${answer##* }
}

# wait_for JOB STATE EXIT_CODE, which may be a pattern
wait_for() {
  local state
  for ((i = 0; i < 1200; ++i)); do
    state=$(field_of "$1" JobState)
    case $state in
      COMPLETED | FAILED | CANCELLED | TIMEOUT | NODE_FAIL | OUT_OF_MEMORY) break ;;
      *) sleep 0.5 ;;
    esac
  done
  [ "$state" = "$2" ] && [[ $(field_of "$1" ExitCode) == $3 ]] && return
  fail "job $1 is $state $(field_of "$1" ExitCode) and not $2 $3"
}

write_case() { # FILE POINTS CELLS
  cat >"$1" <<END
model:
  voxels: {easting: [0, 1000, $3], northing: [0, 1000, $3], upward: [-500, 0, 50], density: 300}
observations:
  grid: {easting: [0, 1000, $2], northing: [0, 1000, $2], upward: 10}
fields: [gz, gzz]
output: {file: ${1%.yaml}.h5}
END
}

same() { # A B TOLERANCE
  show prismfield compare "$1" "$2" --tolerance "$3" --quiet || fail "$1 and $2 differ"
  echo "equal within $3"
}

start_cluster
cd "$work"
ln -s "$source/inputs/slurm" slurm

plug_in=pmix
prismfield info 2>/dev/null | grep -q '^MPI .*MPICH' && plug_in=pmi2
srun --mpi=list 2>&1 | grep -qw $plug_in || skip "this Slurm has no --mpi=$plug_in"

echo "# two virtual nodes on one machine, $(slurmd -V)"
show sinfo
show srun --mpi=list
# As a site has it that sets MpiDefault.
export SLURM_MPI_TYPE=$plug_in

echo
echo "# cpu.sh: a small case, two nodes with a rank each"
write_case small.yaml 30 40
write_case other.yaml 20 30
for name in small other; do
  prismfield run $name.yaml --quiet --output ${name}_alone.h5 || fail "$name.yaml does not run"
done
submit --nodes=2 --ntasks-per-node=1 --output=%x-%j.out slurm/cpu.sh small.yaml
wait_for "$job" COMPLETED 0:0
show cat "prismfield-$job.out"
grep -q '2 ranks' "prismfield-$job.out" || fail "not one run of two ranks"
same small.h5 small_alone.h5 1e-13

echo
echo "# four ranks, and mpirun inside a job in the place of srun"
submit --nodes=2 --ntasks-per-node=2 --output=%x-%j.out slurm/cpu.sh small.yaml --output four.h5
wait_for "$job" COMPLETED 0:0
grep -q '4 ranks' "prismfield-$job.out" || fail "not one run of four ranks"
same four.h5 small_alone.h5 1e-13
if command -v mpirun >/dev/null; then
  submit --nodes=2 --ntasks-per-node=1 --output=mpirun.out --wrap "mpirun prismfield run small.yaml --output mpirun.h5"
  wait_for "$job" COMPLETED 0:0
  grep -q '2 ranks' mpirun.out || fail "not one run of two ranks"
  same mpirun.h5 small_alone.h5 1e-13
fi

echo
echo "# array.sh: two cases, and a task too many"
rm -f small.h5
submit --array=0-2 --cpus-per-task=2 --output=array-%a.out slurm/array.sh small.yaml other.yaml
wait_for "${job}_0" COMPLETED 0:0
wait_for "${job}_1" COMPLETED 0:0
wait_for "${job}_2" FAILED 2:0
show tail -n 1 array-0.out array-1.out array-2.out
same small.h5 small_alone.h5 1e-13
same other.h5 other_alone.h5 1e-13

echo
echo "# srun without an MPI plug-in: one message and code 2 in the place of two runs that write one file"
show srun --mpi=none --nodes=2 --ntasks=2 prismfield run small.yaml --output apart.h5 >srun.out
code=$?
cat srun.out
[ $code -eq 2 ] && [ ! -e apart.h5 ] && [ "$(grep -c 'does not join' srun.out)" -eq 1 ] || fail "code $code"

echo
echo "# cpu.sh, uninterrupted: long enough for the next job to meet its limit"
side=50
while :; do
  write_case long.yaml $side 100
  submit --nodes=2 --ntasks-per-node=1 --output=uninterrupted.out slurm/cpu.sh long.yaml --output uninterrupted.h5
  wait_for "$job" COMPLETED 0:0
  seconds=$(field_of "$job" RunTime | awk -F: '{print $1 * 3600 + $2 * 60 + $3}')
  tail -n 1 uninterrupted.out
  [ "$seconds" -ge 40 ] && break
  side=$(awk "BEGIN {print int($side * sqrt(60 / ($seconds + 1))) + 1}")
  rm -f uninterrupted.out
done

echo
echo "# cpu.sh with a limit of one minute: stopped, requeued and continued until it is done"
submit --time=1 --nodes=2 --ntasks-per-node=1 --output=limit.out slurm/cpu.sh long.yaml
sleep 3
show squeue --format='%i %j %T %M %l %D'
wait_for "$job" COMPLETED 0:0
show grep -v '^progress: ' limit.out
restarts=$(field_of "$job" Restarts)
printf '$ scontrol show job %s\n' "$job"
scontrol show job "$job" | grep -oE '(JobState|Restarts|ExitCode|TimeLimit)=[^ ]*'
[ "$restarts" -ge 1 ] || fail "the job was not requeued"
[ "$(grep -c ': goes on, ' limit.out)" -ge 1 ] || fail "no run continued from a checkpoint"
ls prismfield-*.ckpt.h5 2>/dev/null && fail "a checkpoint is left"
same long.h5 uninterrupted.h5 0

echo
echo "# scancel: the job ends and is not requeued; a new job goes on from what it saved"
submit --nodes=2 --ntasks-per-node=1 --output=cancelled.out slurm/cpu.sh long.yaml --output cancelled.h5
for ((i = 0; i < 100; ++i)); do
  grep -q '^progress: ' cancelled.out 2>/dev/null && break
  sleep 0.2
done
show scancel "$job"
wait_for "$job" CANCELLED '*'
sleep 3
show scontrol show job "$job" | grep -oE '(JobState|Restarts)=[^ ]*'
[ "$(field_of "$job" JobState)" = CANCELLED ] && [ ! -e cancelled.h5 ] || fail "it goes on"
export PRISMFIELD_CHECKPOINT=prismfield-$job.ckpt.h5
echo "$ export PRISMFIELD_CHECKPOINT=$PRISMFIELD_CHECKPOINT"
submit --nodes=2 --ntasks-per-node=1 --output=continued.out slurm/cpu.sh long.yaml --output cancelled.h5
unset PRISMFIELD_CHECKPOINT
for ((i = 0; i < 100; ++i)); do
  grep -q ': goes on, ' continued.out 2>/dev/null && break
  sleep 0.2
done
show grep ': goes on, ' continued.out || fail "it began at the start"

echo
echo "# a rank is lost: srun ends the others half a minute later"
for pid in $(pgrep -f -- "^$prismfield run long.yaml|^prismfield run long.yaml --output cancelled.h5"); do
  [ "$(readlink "/proc/$pid/cwd")" = "$work" ] && victim=$pid
done
show kill -9 "$victim"
start=$SECONDS
wait_for "$job" FAILED '*'
echo "job $job ended with $(field_of "$job" ExitCode) after $((SECONDS - start)) s"
[ $((SECONDS - start)) -le 60 ] && [ ! -e cancelled.h5 ] || fail "too late"
show grep -v '^progress: ' continued.out | tail -n 4

echo
echo "# gpu.sh: judged by Slurm with two cards a node that are not there; not run on cards here"
bash -n slurm/gpu.sh || fail "gpu.sh: syntax"
show sbatch --test-only --gpus-per-node=2 --ntasks-per-node=2 --cpus-per-task=1 slurm/gpu.sh small.yaml ||
  fail "gpu.sh is refused"
submit --gpus-per-node=1 --ntasks-per-node=2 --cpus-per-task=1 --output=gpu.out slurm/gpu.sh small.yaml
wait_for "$job" FAILED 2:0
show cat gpu.out
grep -q '1 cards and 2 ranks' gpu.out || fail "another reason"

echo
echo "all batch scripts did what they say"
