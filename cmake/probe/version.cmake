# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
#
# Fails when this CMake is too old to read CMakeLists.txt.
cmake_minimum_required(VERSION 3.25)
