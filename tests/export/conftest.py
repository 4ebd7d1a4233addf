"""Model files to tamper with."""

import json
import zipfile

import numpy as np
import pytest
from sklearn.datasets import load_iris

from eigenfeat import FisherLDA, save


@pytest.fixture(scope="session")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture
def saved(iris, tmp_path):
    """A model file, in a folder of its own."""
    folder = tmp_path / "models"
    folder.mkdir()
    return save(FisherLDA().fit(*iris), folder / "model.skops")


@pytest.fixture
def tamper():
    """Rewrite a model file: ``tamper(path, tree=function of the tree, members={name: bytes or None})``."""

    def rewrite(path, tree=None, members=None, compression=zipfile.ZIP_DEFLATED):
        with zipfile.ZipFile(path) as archive:
            content = {name: archive.read(name) for name in archive.namelist()}
        if tree is not None:
            found = json.loads(content["schema.json"])
            content["schema.json"] = json.dumps(tree(found) or found).encode()
        content |= members or {}
        with zipfile.ZipFile(path, "w", compression) as archive:
            for name, data in content.items():
                if data is not None:
                    archive.writestr(name, data)
        return path

    return rewrite


@pytest.fixture
def plant(saved, tamper):
    """A model file with one more attribute, given as a node of skops' tree."""

    def write(node, name="planted"):
        def add(tree):
            attributes = tree["content"]
            attributes["content"][name] = node
            attributes["key_types"]["content"].append(
                {"__class__": "str", "__module__": "builtins", "__loader__": "TypeNode"}
            )

        return tamper(saved, add)

    return write


@pytest.fixture
def edit_array(tamper):
    """Replace the arrays of a model file that are equal to a given one."""

    def write(path, old, new):
        import io

        def packed(array):
            buffer = io.BytesIO()
            np.save(buffer, array)
            return buffer.getvalue()

        with zipfile.ZipFile(path) as archive:
            same = [n for n in archive.namelist() if n.endswith(".npy") and archive.read(n) == packed(old)]
        assert same
        return tamper(path, members={name: packed(new) for name in same})

    return write
