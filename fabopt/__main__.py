"""``python -m fabopt``, and the command itself: signals wait from the first line on."""

import sys

# not the module ``signal``: its enumerations take longer to make than Python takes to start
_signals = sys.modules["_signal"]
# None on Windows
_wait = getattr(_signals, "pthread_sigmask", None)
_MASK = _wait and _wait(_signals.SIG_BLOCK, (_signals.SIGINT, _signals.SIGTERM))


def main() -> int:
    """Run the command of this process, which ends with it."""
    from fabopt.cli import main

    return main(mask=_MASK)


if __name__ == "__main__":
    sys.exit(main())
