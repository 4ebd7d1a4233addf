"""Words on the command line."""

import pytest

from eigenfeat.cli.arguments import free_place, parse_kinds, parse_parameter, parse_seconds, parse_shape, parse_task


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ridge=0.1", ("ridge", 0.1)),
        ("shrinkage=auto", ("shrinkage", "auto")),
        ("priors=[0.5, 0.5]", ("priors", [0.5, 0.5])),
        ("label=a=b", ("label", "a=b")),
        ("tol=None", ("tol", None)),
    ],
)
def test_parameters_are_numbers_lists_or_plain_words(text, expected):
    assert parse_parameter(text) == expected


def test_times_shapes_tasks_and_kinds():
    assert [parse_seconds(text) for text in ("90", "90s", "2m", "0.5h", None)] == [90, 90, 120, 1800, None]
    assert parse_shape("28x14") == (28, 14)
    assert parse_shape(None) is None
    assert parse_task("auto") is None
    assert parse_kinds(["a=b=number"]) == {"a=b": "number"}
    for parse, wrong in ((parse_seconds, "soon"), (parse_shape, "28"), (parse_task, "guess"), (parse_kinds, ["a=red"])):
        with pytest.raises(ValueError, match="must"):
            parse(wrong)


def test_what_is_there_stays(tmp_path):
    free_place(None, False)
    place = tmp_path / "model.skops"
    free_place(place, False)
    place.write_text("old")
    with pytest.raises(ValueError, match="--force"):
        free_place(place, False)
    free_place(place, True)
