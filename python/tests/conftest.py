# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from made_study import MadeStudy


@pytest.fixture
def made(tmp_path):
    return MadeStudy(tmp_path / "report")
