// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <prismfield/communicator.hpp>
#include <prismfield/forms.hpp>
#include <prismfield/observer.hpp>
#include <prismfield/plan.hpp>
#include <prismfield/points.hpp>
#include <prismfield/prisms.hpp>
#include <prismfield/request.hpp>
#include <prismfield/result.hpp>

#include "compute/partition.hpp"
#include "compute/plan.hpp"
#include "engine/engine.hpp"

/// The interface between forward runs and the methods that compute them.
namespace prismfield {

/// Fields of some points; the sum of the parts of all ranks is the result.
struct PartialFields {
  IndexRange points;
  /// (field that the plan computes, point), G = 1; empty: no fields
  std::vector<double> values;
  /// (point, n_contact_columns), see kernel/contact.hpp
  std::vector<double> contact;
};

/// What RankWork::take() returns.
struct WorkDone {
  PartialFields mine;
  /// those before the work was resumed included
  std::array<std::int64_t, n_forms> pairs_by_form{};
  /// pairs of the rank's work, and those of this run; at most the largest count
  std::int64_t pairs = 0, pairs_now = 0;
  /// by the cost model, ns
  double cost = 0;
  std::vector<BusyInterval> busy;
};

/// What a method keeps of a rank's work in a checkpoint. A run resumes from it bit for bit. Only the method knows what
/// the numbers mean.
struct WorkState {
  std::vector<std::int64_t> numbers;
  /// large arrays, read only where needed
  std::vector<std::span<const double>> sums;
};

/// A checkpoint's file does not fit the run; the message follows the file's name.
class Unusable : public std::runtime_error {
public:
  /// `foreign`: the file is of another program or case and must not be replaced; an empty remedy: to begin anew
  explicit Unusable(const std::string& what, bool foreign = false, std::string remedy_of_it = "")
      : std::runtime_error(what), is_foreign(foreign), remedy(std::move(remedy_of_it)) {}
  bool is_foreign;
  std::string remedy;
};

/// A rank's state in a checkpoint, for the method that kept it. Functions throw Unusable.
class KeptRun {
public:
  virtual ~KeptRun() = default;
  /// See RankWork::layout().
  [[nodiscard]] virtual std::vector<std::int64_t> layout() = 0;
  /// Opens a rank's state. False where there is none of this layout; rank 0 always has one.
  [[nodiscard]] virtual bool open(int rank) = 0;
  /// The numbers of the state. Call it once.
  [[nodiscard]] virtual std::vector<std::int64_t> numbers() = 0;
  /// Fills vectors, sized by the caller to the kept arrays. Call it after numbers().
  virtual void read_sums(const std::vector<std::vector<double>*>& sums) = 0;
};

class RunGuard;

/// Sizes of the requested fields, G = 1: potential, vector and tensor of gravity, B, its gradient. A size is the
/// smallest, over the fields of that order, of the largest magnitude at some points, per unit weight of native fields;
/// infinite without fields. RankWork::expect() takes them.
using FieldSizes = std::array<double, 5>;
/// The place of a field's order in FieldSizes.
[[nodiscard]] constexpr int order_of_size(const FieldInfo& field) noexcept {
  return field.order + (field.is_magnetic ? 2 : 0);
}
inline constexpr double infinite_size = std::numeric_limits<double>::infinity();
inline constexpr FieldSizes no_sizes = {infinite_size, infinite_size, infinite_size, infinite_size, infinite_size};

/// One rank's work in a forward run. A method makes it from a plan; it may start from a kept state, and is done once.
class RankWork {
public:
  RankWork(Plan plan, int rank) : m_plan(std::move(plan)), m_rank(rank) {}
  virtual ~RankWork() = default;
  RankWork(const RankWork&) = delete;
  RankWork& operator=(const RankWork&) = delete;

  [[nodiscard]] const Plan& plan() const noexcept { return m_plan; }
  /// Sets the sizes of the fields, for methods that keep the sum of their own errors small relative to them. Runs with
  /// a tolerance call it before prepare().
  virtual void expect(const FieldSizes& /*sizes*/) {}
  /// Allocates, by a smaller plan where memory is short. Throws RunError when even the smallest does not fit, as
  /// AgreedFailure on several ranks. Prisms and columns must outlive this object. Collective.
  virtual void prepare(const PrismSource& prisms, const PointColumns& points, const Communicator& communicator) = 0;
  /// Computes the work. Returns early when the guard wants to stop or, without a guard, when another rank has announced
  /// a stop. `observer` and `guard` may be null. Not collective.
  virtual void compute(const Communicator& communicator, Observer* observer, RunGuard* guard) = 0;
  [[nodiscard]] virtual bool is_finished() const = 0;
  /// Returns the results and frees everything else.
  [[nodiscard]] virtual WorkDone take() = 0;

  // For checkpoints; a method without a state begins anew.

  /// How all ranks share the work, equal on every rank; a state belongs to one layout. Collective.
  [[nodiscard]] virtual std::vector<std::int64_t> layout(const Communicator& /*communicator*/) const { return {}; }
  /// Valid until the work continues.
  [[nodiscard]] virtual WorkState state() const { return {}; }
  /// Continues from a kept state. Throws Unusable for a state of another layout or an impossible one. Not collective.
  virtual void restore(KeptRun& /*kept*/) {}
  /// Number of this rank's pairs that are done.
  [[nodiscard]] virtual double pairs_done() const { return 0; }

protected:
  Plan m_plan;
  int m_rank;
};

/// Decides when a run keeps its state and when it stops. A method asks it wherever it has a state, on each rank by
/// itself.
class RunGuard {
public:
  virtual ~RunGuard() = default;
  /// Called before the work begins.
  virtual void begin(const RankWork& work) = 0;
  /// Whether to keep the state now, and then whether to stop.
  [[nodiscard]] virtual bool wants_state() = 0;
  [[nodiscard]] virtual bool wants_stop() = 0;
  virtual void keep(const RankWork& work) = 0;
};

/// A method's part of a plan as text and numbers.
struct PlanText {
  /// rows of --dry-run: label, content
  std::vector<std::pair<std::string, std::string>> rows;
  /// attributes of /performance
  std::vector<std::pair<std::string, std::int64_t>> numbers;
};

/// A way to compute forward runs: all that the rest of the program knows of it. A new one needs a struct in Plan
/// (prismfield/plan.hpp), a row that is declared below and listed in `methods` (method.cpp), and its Method in
/// `built_methods` (model/choices.hpp), after which requests and cases may name it. `method: auto` chooses by
/// `seconds`. Where a request has a tolerance, checked_forward() measures the error against direct sums.
struct ForwardMethod {
  Method method;
  /// Throws InputError, by execution.method, where the method cannot serve. Points are checked already. Each rank looks
  /// at its part of the prisms, `problem.looked_at`, and notes in `problem` what the plan needs. Not collective.
  void (*check)(const Request& request, const PrismSource& ensemble, const PointColumns& points, ProblemSize& problem);
  /// Completes a plan that has its shares of prisms and points with the method's part and all memory (count_memory()).
  /// Pure arithmetic.
  void (*plan)(Plan& plan, const Request& request, const ProblemSize& problem, const Machine& machine);
  /// The grid of ranks for `partition: auto`, and this rank's share of it. `plan` has no shares yet. Collective; throws
  /// AgreedFailure.
  Shares (*shares)(const Plan& plan, const Request& request, const PrismSource& ensemble,
                   const Communicator& communicator);
  /// An estimate of the time of a rank's share, seconds. Kokkos must run.
  double (*seconds)(const Plan& plan, const Request& request, const PrismSource& ensemble, const PointColumns& points);
  PlanText (*text)(const Plan& plan);
  std::unique_ptr<RankWork> (*work)(const Plan& plan, int rank);
};

/// direct_method.cpp: every pair on its own.
extern const ForwardMethod direct_method;
/// In operators/tree/tree_method.cpp: near pairs, and expansions of cells of two trees.
extern const ForwardMethod tree_method;
/// In operators/convolution/convolution_method.cpp: convolutions on a mesh.
extern const ForwardMethod fft_method;

/// Makes the plan of one rank's run: share, memory and the method's part; Method::automatic is direct. Pure arithmetic,
/// without access to a device. `shares`: the ranks' common decision; without it `partition: auto` divides prisms into
/// equal counts. Throws InputError, by key, for a grid of ranks that differs from the machine's number.
[[nodiscard]] Plan make_plan(const Request& request, const ProblemSize& problem, const Machine& machine,
                             const Shares* shares = nullptr);

/// The cost of a run by one method.
struct MethodCost {
  Method method = Method::direct;
  /// why the method cannot serve; "" where it can
  std::string problem;
  /// on the slowest rank
  double seconds = 0;
  /// bytes on the ranks that take the most
  std::int64_t host_bytes = 0, device_bytes = 0;
};

/// The costs of all methods, direct first, equal on every rank. Throws and is collective as plan_on_ranks().
[[nodiscard]] std::vector<MethodCost> method_costs(const Request& request, const PrismSource& ensemble,
                                                   const PointColumns& points, const ProblemSize& problem,
                                                   const Communicator& communicator);

/// The plan of a run on all ranks: make_plan() for each rank's machine with the shares for `partition: auto`. An
/// automatic method is the fastest one, where the tolerance permits others than direct. Throws InputError, by key, the
/// same on every rank; AgreedFailure for failures. Collective.
[[nodiscard]] Plan plan_on_ranks(const Request& request, const PrismSource& ensemble, const PointColumns& points,
                                 const ProblemSize& problem, const Communicator& communicator);

/// memory_shortage() for the plan of a request; where the request names the method, with the methods that fit. Equal on
/// every rank. `need`: on rank 0. Collective.
[[nodiscard]] std::string memory_refusal(const MemoryNeed& need, const Request& request, const PrismSource& ensemble,
                                         const PointColumns& points, const ProblemSize& problem,
                                         const Communicator& communicator);

/// The method of a plan, or of a request, where an automatic one is direct.
[[nodiscard]] const ForwardMethod& method_of(const Plan& plan) noexcept;
[[nodiscard]] const ForwardMethod& method_of(const Request& request) noexcept;

/// This rank's work for its plan.
[[nodiscard]] inline std::unique_ptr<RankWork> make_work(const Plan& plan, const Communicator& communicator) {
  return method_of(plan).work(plan, communicator.rank());
}

/// forward() of the library and, with `values`, forward_into(), for work made for this rank and with a guard. Also
/// throws Stopped on every rank when any guard wanted to stop. Collective.
[[nodiscard]] Fields forward(const PrismSource& prisms, const PointColumns& points, const Request& request,
                             RankWork& work, const Communicator& communicator, Observer* observer,
                             RunGuard* guard = nullptr, std::span<double> values = {});

/// An estimate of the time of a plan's fields on the slowest rank, seconds, equal on every rank. Collective; throws
/// AgreedFailure.
[[nodiscard]] double estimated_seconds(const Request& request, const PrismSource& ensemble, const PointColumns& points,
                                       const Plan& plan, const Communicator& communicator);

}  // namespace prismfield
