"""Lines taken apart: where each begins, its time, its fields, each distinct text once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from weir.rdf.formats.tnq_split import padded, split_lines

LINE = st.one_of(
    st.builds(
        lambda time, fields: f"{time}\t{' '.join(fields)}",
        st.integers(-(10**14), 10**14),
        st.lists(st.text(alphabet="ab<>.", max_size=12), max_size=5),
    ),
    st.text(alphabet="12ab -", max_size=12),
)


@given(st.lists(LINE, max_size=12), st.booleans())
def test_as_python_would_split_them(lines: list[str], ended: bool) -> None:
    text = "\n".join(lines) + ("\n" if ended and lines else "")
    data = text.encode()
    split = split_lines(padded(data))
    expected = data.split(b"\n")
    if not expected[-1]:
        expected.pop()
    ends = [*split.starts.tolist(), len(data)][1:]
    assert [data[a:b].rstrip(b"\n") for a, b in zip(split.starts.tolist(), ends, strict=True)] == expected
    fields = [split.field(place, 7) for place in range(3)]
    for row, line in enumerate(expected):
        before, tab, rest = line.partition(b"\t")
        assert (split.tab[row] >= 0) == bool(tab)
        if tab:
            assert split.plain[row] and split.time[row] == int(before)
            wanted = [part.decode() for part in rest.split(b" ", 2)]
            found = [texts.texts()[int(codes[row])].as_py() for codes, texts in fields]
            assert found == wanted + [""] * (3 - len(wanted))


def test_a_text_is_there_once() -> None:
    split = split_lines(padded(b"1\ta b c\n2\ta b d\n3\ta b c\n"))
    codes, texts = split.field(2, 7)
    assert codes.tolist() == [0, 1, 0] and texts.texts().to_pylist() == ["c", "d"]


def test_a_line_that_is_left_out_has_no_time_and_no_fields() -> None:
    split = split_lines(padded(b"1\ta b c\n2\ta b d\n"))
    split.leave_out([0])
    codes, texts = split.field(0, 7)
    assert not split.plain[0] and texts.texts()[int(codes[0])].as_py() == ""
