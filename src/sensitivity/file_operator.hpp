// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <memory>

#include <prismfield/communicator.hpp>
#include <prismfield/operator.hpp>
#include <prismfield/row_store.hpp>

namespace prismfield {

/// How the rows came into their file.
struct RowFileReport {
  /// the file was there already
  bool used_again = false;
  /// of computing and writing it, or of opening it
  double seconds = 0;
};

/// G in a file: products read it block by block of rows, the next while one is used, so that memory holds a few blocks
/// whatever the size of G. Products add in an order that does not change with the number of threads.
template <class ExecutionSpace>
class FileOperator final : public Operator<ExecutionSpace> {
public:
  using typename Operator<ExecutionSpace>::Vector;
  using typename Operator<ExecutionSpace>::ConstVector;
  using typename Operator<ExecutionSpace>::Entries;

  /// Takes the file if it is there, else computes every entry and writes it; `prisms` are the columns that the store
  /// knows. `rows.request` as DirectOperator's; its partition is taken as points. The store must outlive it. Throws as
  /// DirectOperator and the store do. Collective.
  FileOperator(const ExecutionSpace& space, const PrismSource& prisms, const RowFile& rows, RowStore& store,
               const Communicator& communicator, RowFileReport& report);
  ~FileOperator() override;

  [[nodiscard]] FieldList fields() const noexcept override;
  [[nodiscard]] IndexRange points() const noexcept override;
  [[nodiscard]] IndexRange prisms() const noexcept override;
  void apply(const ExecutionSpace& space, const ConstVector& density, const Vector& fields) override;
  void apply_transpose(const ExecutionSpace& space, const ConstVector& fields, const Vector& density) override;
  void diagonal(const ExecutionSpace& space, const ConstVector& weights, const Vector& diagonal) override;
  /// Reads G once for all vectors, as the next two and apply_normal_many().
  void apply_many(const ExecutionSpace& space, std::int64_t n, const ConstVector& density,
                  const Vector& fields) override;
  void apply_transpose_many(const ExecutionSpace& space, std::int64_t n, const ConstVector& fields,
                            const Vector& density) override;
  void diagonal_many(const ExecutionSpace& space, std::int64_t n, const ConstVector& weights,
                     const Vector& diagonal) override;
  bool apply_normal_many(const ExecutionSpace& space, std::int64_t n, const ConstVector& weights,
                         const ConstVector& density, const Vector& product) override;
  /// Reads G once for both products.
  bool apply_normal(const ExecutionSpace& space, const ConstVector& weights, const ConstVector& density,
                    const Vector& product) override;
  void entries(const ExecutionSpace& space, IndexRange points, const Entries& entries) override;
  [[nodiscard]] double dot_fields(const ExecutionSpace& space, const ConstVector& a, const ConstVector& b) override;
  [[nodiscard]] double dot_densities(const ExecutionSpace& space, const ConstVector& a, const ConstVector& b) override;
  /// Of the direct operator and of the file's numbers together.
  [[nodiscard]] double error_bound() const noexcept override;
  [[nodiscard]] const Plan& plan() const noexcept override;
  /// Of this rank's entries in the file: what a product reads.
  [[nodiscard]] std::int64_t bytes() const noexcept;

private:
  struct Parts;
  std::unique_ptr<Parts> m_parts;
};

}  // namespace prismfield
