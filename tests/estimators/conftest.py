"""Problems that estimators are tested on as the layers below them are."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "least_squares"))
