from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.studio.served import Served, serve


@pytest.fixture(scope="package")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    served, end = serve(tmp_path_factory.mktemp("studio"))
    yield served
    end()
