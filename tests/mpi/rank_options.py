# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""The command line of the tests that run the program on several ranks:

    test_..._of_ranks.py PRISMFIELD --write-prisms PROGRAM --library FULL_DISK --mpiexec COMMAND
"""

import argparse
import os
import sys
import unittest

# program, write_prisms, library, mpiexec
options = argparse.Namespace()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--write-prisms", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--mpiexec", required=True)
    _, rest = parser.parse_known_args(namespace=options)
    options.program = os.path.abspath(options.program)
    options.write_prisms = os.path.abspath(options.write_prisms)
    options.library = os.path.abspath(options.library)
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
