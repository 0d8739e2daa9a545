# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""What prismfield does in Python: it draws figures and the reports of studies."""
