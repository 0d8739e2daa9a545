// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The prismfield authors
#pragma once

#define PRISMFIELD_HOST_LANES
#include "kernel/simd.hpp"

/// A lane of one number that counts what is done with it. The kernels take it as they take any lane; numbers of a prism
/// alone are plain ones, which are not counted: they are the same for all points of a lane.
namespace prismfield::kernel {

/// Operations on numbers of this type since they were last set to 0: sums, products, quotients and roots one each, a
/// fused multiply-add two. `functions`: calls of the C library's logarithm and arctangent.
template <class T>
struct OperationsOn {
  static inline std::int64_t operations = 0;
  static inline std::int64_t logarithms = 0, arctangents = 0;

  static void clear() { operations = logarithms = arctangents = 0; }
};

template <class T>
class Counted {
public:
  Counted() = default;
  explicit Counted(T value) : m_value(value) {}

  [[nodiscard]] T value() const { return m_value; }

  friend Counted operator-(const Counted& a) { return Counted(-a.m_value); }
  friend Counted operator+(const Counted& a, const Counted& b) { return counted(a.m_value + b.m_value); }
  friend Counted operator-(const Counted& a, const Counted& b) { return counted(a.m_value - b.m_value); }
  friend Counted operator*(const Counted& a, const Counted& b) { return counted(a.m_value * b.m_value); }
  friend Counted operator/(const Counted& a, const Counted& b) { return counted(a.m_value / b.m_value); }
  Counted& operator+=(const Counted& other) { return *this = *this + other; }
  Counted& operator-=(const Counted& other) { return *this = *this - other; }

  friend bool operator<(const Counted& a, const Counted& b) { return a.m_value < b.m_value; }
  friend bool operator<=(const Counted& a, const Counted& b) { return a.m_value <= b.m_value; }
  friend bool operator>(const Counted& a, const Counted& b) { return a.m_value > b.m_value; }
  friend bool operator==(const Counted& a, const Counted& b) { return a.m_value == b.m_value; }

  friend Counted fma(const Counted& a, const Counted& b, const Counted& c) {
    return counted(std::fma(a.m_value, b.m_value, c.m_value), 2);
  }
  friend Counted sqrt(const Counted& a) { return counted(std::sqrt(a.m_value)); }
  friend Counted inverse_sqrt(const Counted& a) { return counted(1 / std::sqrt(a.m_value), 2); }
  friend Counted abs(const Counted& a) { return Counted(std::abs(a.m_value)); }
  friend Counted copysign(const Counted& a, const Counted& b) { return Counted(std::copysign(a.m_value, b.m_value)); }
  friend Counted min(const Counted& a, const Counted& b) { return a < b ? a : b; }
  friend Counted max(const Counted& a, const Counted& b) { return b < a ? a : b; }
  friend Counted select(bool condition, const Counted& yes, const Counted& no) { return condition ? yes : no; }

  template <class Flag>
  void copy_from(const T* from, Flag) {
    m_value = *from;
  }
  template <class Flag>
  void copy_to(T* to, Flag) const {
    *to = m_value;
  }

private:
  static Counted counted(T value, int operations = 1) {
    OperationsOn<T>::operations += operations;
    return Counted(value);
  }

  T m_value;
};

inline namespace PRISMFIELD_LANES {

template <class T>
struct LaneTraits<Counted<T>> {
  using value_type = T;
  using bits_type = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::int32_t>;
  static constexpr int lanes = 1;
};

}  // namespace PRISMFIELD_LANES
}  // namespace prismfield::kernel

// The papers' sum calls the library's functions by their full names.
namespace Kokkos {

template <class T>
prismfield::kernel::Counted<T> sqrt(const prismfield::kernel::Counted<T>& a) {
  ++prismfield::kernel::OperationsOn<T>::operations;
  return prismfield::kernel::Counted<T>(std::sqrt(a.value()));
}
template <class T>
prismfield::kernel::Counted<T> log(const prismfield::kernel::Counted<T>& a) {
  ++prismfield::kernel::OperationsOn<T>::logarithms;
  return prismfield::kernel::Counted<T>(std::log(a.value()));
}
template <class T>
prismfield::kernel::Counted<T> atan(const prismfield::kernel::Counted<T>& a) {
  ++prismfield::kernel::OperationsOn<T>::arctangents;
  return prismfield::kernel::Counted<T>(std::atan(a.value()));
}

}  // namespace Kokkos
