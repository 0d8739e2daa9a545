// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <prismfield/host_operator.hpp>

namespace prismfield {

class RowSink;

/// Seconds of a product with G and of one with its transposed, of the slowest rank.
struct ProductSeconds {
  double apply = 0, transpose = 0;
};

/// What there is to ask of an operator.
struct OperatorFacts {
  FieldList fields;
  IndexRange points, prisms;
  std::int64_t rows = 0, columns = 0;
  Plan plan;
  double error_bound = 0;
  /// how G is kept, of this rank, where settings were made
  StorageChoice choice;
  /// what it took to make G, of the slowest rank
  double build_seconds = 0;
};

/// A HostOperator in one execution space.
struct HostOperator::Implementation {
  enum class Product { apply, transpose, diagonal };

  virtual ~Implementation() = default;
  /// out = alpha (the product of n vectors) + beta out
  virtual void multiply(Product product, double alpha, std::span<const double> in, double beta, std::span<double> out,
                        std::int64_t n) = 0;
  virtual void entries(IndexRange points, std::span<double> entries) = 0;
  virtual double dot_fields(std::span<const double> a, std::span<const double> b) = 0;
  virtual double dot_densities(std::span<const double> a, std::span<const double> b) = 0;
  /// Of a few products of each kind the fastest, vectors being in the space's memory; where one takes long there is
  /// one. The same on every rank. Collective.
  [[nodiscard]] virtual ProductSeconds product_seconds() = 0;
  /// Hands this rank's rows to a sink. Collective.
  virtual void write(RowSink& sink) = 0;

  OperatorFacts facts;
};

}  // namespace prismfield
