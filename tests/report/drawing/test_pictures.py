"""Pictures are PNG whose hue is the sign and whose opacity is the size."""

import base64
import io
import re

import matplotlib.image
import numpy as np

from eigenfeat.report.drawing.pictures import DOWN, UP, image, png, topography


def test_png_of_signed_values():
    values = np.array([[1.0, -0.5, 0.0], [0.25, -1.0, 0.5]])
    pixels = np.round(255 * matplotlib.image.imread(io.BytesIO(png(values)))).astype(int)
    assert pixels.shape == (2, 3, 4)
    np.testing.assert_array_equal(pixels[0, 0], [*UP, 255])
    np.testing.assert_array_equal(pixels[0, 1], [*DOWN, 128])
    assert pixels[0, 2, 3] == 0
    assert png(np.zeros((2, 2)))


def test_an_image_has_words_and_its_size():
    text = image(np.arange(6.0), (2, 3), 'a "pattern"')
    assert 'alt="a &quot;pattern&quot;"' in text and 'width="3" height="2"' in text
    content = base64.b64decode(re.search(r"base64,([^\"]+)", text)[1])
    assert matplotlib.image.imread(io.BytesIO(content)).shape == (2, 3, 4)


def test_a_map_is_as_its_sensors_are():
    angles = np.linspace(0, 2 * np.pi, 8, endpoint=False)
    positions = np.c_[np.cos(angles), np.sin(angles)] * 50 + 10
    text = topography(np.where(positions[:, 0] > 10, 1.0, -1.0), positions, "words")
    assert text.count('class="sensor"') == 8
    content = base64.b64decode(re.search(r"base64,([^\"]+)", text)[1])
    pixels = np.round(255 * matplotlib.image.imread(io.BytesIO(content))).astype(int)
    side = len(pixels)
    np.testing.assert_array_equal(pixels[side // 2, -4, :3], UP)
    np.testing.assert_array_equal(pixels[side // 2, 3, :3], DOWN)
    assert pixels[0, 0, 3] == 0  # outside the head
