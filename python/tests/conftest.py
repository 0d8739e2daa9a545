# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""What all tests need: a figure without a display, and a style that is empty at the beginning of each."""

import os

import pytest

os.environ["MPLBACKEND"] = "Agg"


@pytest.fixture(autouse=True)
def style():
    """The style of the figures."""
    from prismfield.figures.drawing import STYLE

    STYLE.clear()
    yield STYLE
    STYLE.clear()
