# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
"""Files that are complete or not there."""

import contextlib
import fcntl
import os
import secrets
import stat
import string


def open_part(target):
    """A new file beside the target and its name, with the permissions of the one that it will replace, else the usual
    ones; no link that somebody put there is followed."""
    old = stat.S_IMODE(os.stat(target).st_mode) & 0o777 if target.exists() else None
    while True:
        word = "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(6))
        part = target.with_name(f".{target.name}.part-{word}")
        flags = os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_RDWR
        try:
            descriptor = os.open(part, flags, 0o666 if old is None else 0o600)
        except FileExistsError:
            continue
        stream = os.fdopen(descriptor, "w+b")
        # The lock tells the program, which removes what was left, that this one is not.
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_nlink == 0:
            stream.close()
            continue
        if old is not None:
            # Some file systems have one set of permissions for all.
            with contextlib.suppress(OSError):
                os.fchmod(descriptor, old)
        return part, stream


@contextlib.contextmanager
def new_file(target):
    """A binary file that becomes `target`, a path, when all went well: a crash leaves the old file or the new one.

    It lies beside the target, so that the rename stays within one file system.
    """
    part, stream = open_part(target)
    try:
        with stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(part, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise
