"""A cache opens with pyarrow, and holds the examples that were read."""

import json

import pyarrow
import pyarrow.ipc

TEXT = """1 2 0.5 first|a x y:2 |b z
-1 'second| x:0.25
'third|b z
"""


def test_a_cache_is_an_arrow_file_of_examples(onward, tmp_path):
    (tmp_path / "x.vw").write_text(TEXT)
    onward("learn", "-q", "x.vw", "--cache", "x.arrow")
    with pyarrow.memory_map(str(tmp_path / "x.arrow")) as source:
        file = pyarrow.ipc.open_file(source)
        table, metadata = file.read_all(), file.metadata
    table.validate(full=True)
    assert table["label"].to_pylist() == [1.0, -1.0, None]
    assert table["weight"].to_pylist() == [2.0, 1.0, 1.0]
    assert table["offset"].to_pylist() == [0.5, 0.0, 0.0]
    assert table["ids"].to_pylist() == [[b"first"], [b"second"], [b"third"]]
    assert table["values"].to_pylist() == [[1.0, 1.0, 2.0, 1.0], [1.0, 0.25], [1.0, 1.0]]
    names = dict(pair for row in table["names"].to_pylist() for pair in row)
    named = [[names[index] for index in row] for row in table["indices"].to_pylist()]
    assert named == [["bias", "a^x", "a^y", "b^z"], ["bias", "x"], ["bias", "b^z"]]
    index = json.loads(metadata[b"onward.cache.index"])
    assert [block["rows"] for block in index["blocks"]] == [3]
    assert index["inputs"][0]["size"] == len(TEXT)
