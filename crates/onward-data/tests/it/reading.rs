//! From inputs to pieces: what all text formats share.

use std::io::Write;

use onward::loss::Task;
use onward_data::{Format, Input, OnError, Options, Reader};

use crate::text::{self, options, read, read_inputs};

fn svmlight() -> Options {
    Options { task: Some(Task::Regression), ..options(Format::SVMLIGHT, OnError::Stop) }
}

#[test]
fn pieces_are_of_the_size_asked_for_from_the_first_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows");
    std::fs::write(&path, "1 1:1\n".repeat(1000)).unwrap();
    let options = Options { chunk_size: 100, ..svmlight() };
    let mut reader = Reader::open(&[Input::from(path.as_path())], options).unwrap();
    let mut pieces = 0;
    while let Some(parsed) = reader.next_batch().unwrap() {
        assert!(parsed.bytes <= 100, "{}", parsed.bytes);
        pieces += 1;
    }
    assert_eq!(pieces, 1000 / (100 / 6) + 1);
}

#[test]
fn a_piece_full_of_bad_lines_is_skipped_line_by_line() {
    let text = "1 1:1\n".to_owned() + &"bad\n".repeat(100_000) + "1 1:1\n";
    let skipping = Options { on_error: OnError::Skip, ..svmlight() };
    let outcome = read(&text, skipping).whole();
    assert_eq!((outcome.rows.len(), outcome.skipped), (2, 100_000));
    assert!(outcome.errors[4].starts_with("input, line 6: "), "{:?}", outcome.errors);
}

#[test]
fn the_last_row_of_a_file_counts_without_a_line_end() {
    let options = Options { target: Some("y".to_owned()), ..Options::default() };
    let outcome = read("x,y\n1,2", options).whole();
    assert_eq!(outcome.notes[2], "numbers: x");
}

#[test]
fn blank_lines_before_the_header_count_for_nothing() {
    let options = |on_error| Options { target: Some("y".to_owned()), ..text::options(Format::CSV, on_error) };
    let outcome = read("\n\r\nx,y\n1,2\n3,4\n", options(OnError::Stop)).whole();
    assert_eq!(outcome.rows.len(), 2);
    let error = read("\n\r\nx,y\n1,2\n3\n", options(OnError::Stop)).error.unwrap();
    assert!(error.starts_with("input, line 5: "), "{error}");
}

#[cfg(unix)]
mod pipes {
    use std::fs::File;
    use std::io::Write;
    use std::path::PathBuf;
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    use super::*;

    fn pipe() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        let status = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(status.success());
        (folder, path)
    }

    fn regression() -> Options {
        Options { target: Some("y".to_owned()), task: Some(Task::Regression), ..Options::default() }
    }

    fn rows(reader: &mut Reader) -> usize {
        reader.next_batch().unwrap().map_or(0, |parsed| parsed.batch.len())
    }

    #[test]
    fn a_header_that_arrives_in_parts_is_read_as_one() {
        let (_folder, path) = pipe();
        let writing = path.clone();
        let writer = thread::spawn(move || {
            let mut pipe = File::create(writing).unwrap();
            for part in ["lon", "g,", "y\n", "1", "0,2\n", "11,3\n"] {
                pipe.write_all(part.as_bytes()).unwrap();
                thread::sleep(Duration::from_millis(20));
            }
        });
        let mut reader = Reader::open(&[Input::from(path.as_path())], regression()).unwrap();
        let names: Vec<_> = reader.schema().columns.iter().map(|column| column.name.clone()).collect();
        assert_eq!(names, ["long", "y"]);
        let mut count = 0;
        while let Some(parsed) = reader.next_batch().unwrap() {
            count += parsed.batch.len();
        }
        assert_eq!(count, 2);
        writer.join().unwrap();
    }

    #[test]
    fn what_is_sent_at_once_is_judged_as_the_file_would_be() {
        let (folder, path) = pipe();
        let mut text = "x,y,late\n".to_owned();
        for row in 0..20_000 {
            text.push_str(&format!("{row},{},{}\n", row % 3, if row < 9000 { "NA" } else { "7" }));
        }
        let file = folder.path().join("file");
        std::fs::write(&file, &text).unwrap();
        let writing = path.clone();
        let writer = thread::spawn(move || File::create(writing).unwrap().write_all(text.as_bytes()));
        let piped = Reader::open(&[Input::from(path.as_path())], regression()).unwrap();
        let read = Reader::open(&[Input::from(file.as_path())], regression()).unwrap();
        assert_eq!(piped.schema(), read.schema());
        // The rest need not be read.
        drop(piped);
        drop(writer);
    }

    #[test]
    fn rows_are_handed_out_while_the_writer_waits_for_an_answer() {
        let (_folder, path) = pipe();
        let (answer, answered) = channel::<()>();
        let writing = path.clone();
        let writer = thread::spawn(move || {
            let mut pipe = File::create(writing).unwrap();
            pipe.write_all(b"x,y\n1,2\n").unwrap();
            answered.recv().unwrap();
            pipe.write_all(b"3,4\n").unwrap();
        });
        let mut reader = Reader::open(&[Input::from(path.as_path())], regression()).unwrap();
        assert_eq!(rows(&mut reader), 1);
        answer.send(()).unwrap();
        assert_eq!((rows(&mut reader), rows(&mut reader)), (1, 0));
        writer.join().unwrap();
    }

    /// What comes of parts that a writer sends with a pause after the first.
    fn sent(parts: &'static [&'static str], options: Options) -> text::Outcome {
        let (_folder, path) = pipe();
        let writing = path.clone();
        let writer = thread::spawn(move || {
            let mut pipe = File::create(writing).unwrap();
            for part in parts {
                pipe.write_all(part.as_bytes()).unwrap();
                // Longer than rows are waited for.
                thread::sleep(Duration::from_millis(2500));
            }
        });
        let outcome = text::read_inputs(&[Input::from(path.as_path())], options, |message| message);
        writer.join().unwrap();
        outcome.whole()
    }

    #[test]
    fn a_row_is_waited_for_and_not_two_lines() {
        for parts in [&["a,y\n\n\n", "1,0\n2,1\n"], &["\n\na,y\n", "1,0\n2,1\n"], &["\"a\nb\",y\n", "1,0\n2,1\n"]] {
            assert_eq!(sent(parts, regression()).rows.len(), 2);
        }
        let outcome = sent(&["# c\n# d\n", "1 1:1\n0 2:1\n"], Options::default());
        assert_eq!((outcome.format, outcome.rows.len()), (Some(Format::SVMLIGHT), 2));
    }

    #[test]
    fn cells_with_newlines_are_judged_as_in_a_file() {
        // Each row takes three lines; a column changes late.
        let mut text = "x,y,late,note\n".to_owned();
        for row in 0..9000 {
            text.push_str(&format!("{row},{},{},\"a\n\nb\"\n", row % 3, if row < 8000 { "NA" } else { "7" }));
        }
        same_of_pipe_and_file(&text, regression());
    }

    #[test]
    fn a_first_row_of_many_lines_is_read_of_a_pipe() {
        let text = format!("x,y,note\n1,2,\"{}\"\n2,3,b\n", "line\n".repeat(20_000));
        same_of_pipe_and_file(&text, regression());
    }

    #[test]
    fn a_first_row_that_is_too_long_is_skipped_of_a_pipe_too() {
        let text = format!("x,y\n{},2\n2,3\n5,4\n", "9".repeat(3000));
        same_of_pipe_and_file(&text, Options { record_limit: 1000, on_error: OnError::Skip, ..regression() });
    }

    fn same_of_pipe_and_file(text: &str, options: Options) {
        let (_folder, path) = pipe();
        let (writing, sent) = (path.clone(), text.to_owned());
        let writer = thread::spawn(move || File::create(writing).unwrap().write_all(sent.as_bytes()));
        let piped = text::read_inputs(&[Input::from(path.as_path())], options.clone(), |message| message).whole();
        writer.join().unwrap().unwrap();
        let of_file = read(text, options).whole();
        assert_eq!(piped.schema, of_file.schema);
        assert_eq!((piped.rows, piped.skipped), (of_file.rows, of_file.skipped));
    }

    #[test]
    fn with_a_schema_the_first_line_is_enough() {
        let schema = read("{\"x\": 1, \"y\": 1}\n{\"x\": 2, \"y\": 1}\n", regression()).schema;
        let (_folder, path) = pipe();
        let (answer, answered) = channel::<()>();
        let writing = path.clone();
        let writer = thread::spawn(move || {
            let mut pipe = File::create(writing).unwrap();
            pipe.write_all(b"{\"x\": 1, \"y\": 1}\n").unwrap();
            answered.recv().unwrap();
        });
        let options = Options { schema, ..Options::default() };
        let mut reader = Reader::open(&[Input::from(path.as_path())], options).unwrap();
        assert_eq!(rows(&mut reader), 1);
        answer.send(()).unwrap();
        assert_eq!(rows(&mut reader), 0);
        writer.join().unwrap();
    }
}

/// What is in a file, in memory and in a reader.
fn everywhere(name: &str, bytes: &[u8]) -> (tempfile::TempDir, Vec<Input>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let reader = std::io::Cursor::new(bytes.to_vec());
    (folder, vec![Input::from(path.as_path()), Input::bytes(name, bytes), Input::reader(name, reader)])
}

#[test]
fn bytes_in_memory_and_readers_are_read_as_files_are() {
    let text: String = (0..5000).map(|at| format!("{} {}:0.5 {}:1\n", at % 2, at % 50, 50 + at % 7)).collect();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    for bytes in [text.as_bytes(), &gzip] {
        let (_folder, inputs) = everywhere("x", bytes);
        let outcomes =
            inputs.iter().map(|input| read_inputs(std::slice::from_ref(input), Options::default(), |text| text));
        let outcomes: Vec<_> = outcomes.map(text::Outcome::whole).collect();
        assert_eq!(outcomes[0].rows.len(), 5000);
        assert!(outcomes.iter().all(|outcome| outcome.rows == outcomes[0].rows && outcome.names == outcomes[0].names));
    }
}

#[test]
fn several_inputs_of_different_kinds_are_one_sequence() {
    let table = |from: u32| {
        let rows: String = (from..from + 40).map(|at| format!("{},{at}\n", at % 2)).collect();
        format!("y,x\n{rows}")
    };
    let (_folder, files) = everywhere("a.csv", table(0).as_bytes());
    let inputs = [files[0].clone(), Input::bytes("b", table(40)), Input::reader("c", std::io::Cursor::new(table(80)))];
    let options = Options { target: Some("y".to_owned()), ..Options::default() };
    let outcome = read_inputs(&inputs, options, |text| text).whole();
    assert_eq!(outcome.rows.len(), 120);
}

#[test]
fn a_reader_is_read_once_and_says_so() {
    let input = Input::reader("pipe", std::io::Cursor::new("1 1:1\n"));
    assert!(!input.is_repeatable());
    assert_eq!(read_inputs(std::slice::from_ref(&input), Options::default(), |text| text).rows.len(), 1);
    let again = read_inputs(&[input], Options::default(), |text| text);
    assert_eq!(again.error.as_deref(), Some("pipe: was read before, and can be read only once"));
}

#[test]
fn what_is_wrong_with_bytes_in_memory_is_said_with_their_name() {
    let input = Input::bytes("examples", "1 1:1\n1 x\n");
    let outcome = read_inputs(&[input], Options::default(), |text| text);
    assert!(outcome.error.unwrap().starts_with("examples, line 2: expected index:value"));
    let outcome = read_inputs(&[Input::bytes("nothing", "")], Options::default(), |text| text);
    assert_eq!(outcome.error.as_deref(), Some("nothing: is empty; give an input with examples in it"));
}
