! SPDX-License-Identifier: Apache-2.0
! SPDX-FileCopyrightText: The prismfield authors
!
! gz of a cube from Fortran, by the functions of prismfield.h:
!   bash cmake/bootstrap.sh capi
!   gfortran docs/examples/field.f90 build/openmp-capi-native/src/libprismfield.so -o field
program field
  use, intrinsic :: iso_c_binding
  implicit none

  type, bind(c) :: pf_prisms
    type(c_ptr) :: bounds, density
    integer(c_int64_t) :: n
    type(c_ptr) :: magnetization(3) = c_null_ptr
    type(c_ptr) :: susceptibility = c_null_ptr
  end type
  type, bind(c) :: pf_points
    type(c_ptr) :: easting, northing, upward
    integer(c_int64_t) :: n
  end type

  interface
    integer(c_int) function pf_forward(prisms, points, fields, n_fields, settings, values, singular, run) bind(c)
      import
      type(pf_prisms), intent(in) :: prisms
      type(pf_points), intent(in) :: points
      integer(c_int), intent(in) :: fields(*)
      integer(c_int), value :: n_fields
      type(c_ptr), value :: settings, singular, run
      real(c_double), intent(out) :: values(*)
    end function
  end interface

  ! west, east, south, north, bottom, top of each prism, m; kg/m3
  real(c_double), target :: bounds(6, 1) = reshape([-50d0, 50d0, -50d0, 50d0, -350d0, -250d0], [6, 1])
  real(c_double), target :: density(1) = [500d0]
  real(c_double), target :: easting(3) = [0d0, 100d0, 200d0], northing(3) = 0d0, upward(3) = 0d0
  real(c_double) :: gz(3)
  integer(c_int), parameter :: number_of_gz(1) = [3]

  if (pf_forward(pf_prisms(c_loc(bounds), c_loc(density), 1), &
                 pf_points(c_loc(easting), c_loc(northing), c_loc(upward), 3), number_of_gz, 1, c_null_ptr, gz, &
                 c_null_ptr, c_null_ptr) /= 0) error stop 'prismfield: an error'
  ! z points up: the pull of the cube is negative
  print '(3f10.6)', 1d5 * gz
end program
