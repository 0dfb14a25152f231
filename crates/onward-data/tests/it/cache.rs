//! What is read from a cache is what was read from its inputs, and a cache that does not fit them
//! is rebuilt.

#![cfg(feature = "arrow")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use onward::SharedLoss;
use onward_data::{Compression, DataError, Format, Input, OnError, Options, Reader, convert};
use tempfile::TempDir;

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> Input {
        let path = self.path(name);
        fs::write(&path, bytes).unwrap();
        Input::from(path.as_path())
    }

    /// The options with a cache in this folder.
    fn cached(&self, options: &Options) -> Options {
        Options { cache: Some(self.path("cache")), ..options.clone() }
    }

    fn files(&self) -> Vec<String> {
        let names = fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Label, weight and offset, to the bit, features, and ids.
type Row = (Option<u64>, u64, u64, Vec<(u32, u32)>, Vec<Vec<u8>>);

/// All that a reader gives but for how it comes in batches.
#[derive(Debug, Default, PartialEq)]
struct Read {
    /// Label, weight, offset, features and ids, to the bit.
    rows: Vec<Row>,
    names: Vec<(u32, String)>,
    skipped: u64,
    bytes: u64,
    errors: Vec<String>,
    notes: Vec<String>,
    id_names: Vec<String>,
    schema: String,
    format: String,
}

/// Reads all there is; with what is said of the cache when it is opened, and at the end.
fn read(inputs: &[Input], options: &Options) -> Result<(Read, Option<String>, Option<String>), DataError> {
    let mut reader = Reader::open(inputs, options.clone())?;
    let mut read = Read {
        notes: reader.notes().iter().map(onward_data::Message::command_line).collect(),
        id_names: reader.id_names().to_vec(),
        schema: format!("{:?}", reader.schema()),
        format: reader.format().to_string(),
        ..Read::default()
    };
    let has_ids = !read.id_names.is_empty();
    while let Some(parsed) = reader.next_batch()? {
        for (row, example) in parsed.batch.iter().enumerate() {
            let ids = if has_ids { parsed.ids(row).map(<[u8]>::to_vec).collect() } else { Vec::new() };
            let features = example.features.iter().map(|(index, value)| (index, value.to_bits())).collect();
            let (label, weight) = (example.label.map(f64::to_bits), example.weight.to_bits());
            read.rows.push((label, weight, example.features.offset().to_bits(), features, ids));
        }
        for (index, name) in parsed.names.iter() {
            // Which is the first of an index is all that matters.
            if !read.names.iter().rev().any(|&(other, _)| other == index) {
                read.names.push((index, name.to_string()));
            }
        }
        read.skipped += parsed.skipped;
        read.bytes += parsed.bytes;
        read.errors.extend(parsed.errors.iter().map(DataError::to_string));
    }
    let text = |said: Option<&str>| said.map(str::to_owned);
    let said = (text(reader.cache_note()), text(reader.cache_loss()));
    // Of many errors the first are shown.
    read.errors.truncate(5);
    Ok((read, said.0, said.1))
}

fn target(text: &str) -> Options {
    Options { target: Some(text.to_owned()), ..Options::default() }
}

fn is_read(note: &Option<String>) -> bool {
    note.as_ref().is_some_and(|note| note.ends_with("instead of the input"))
}

fn rebuilt(note: &Option<String>, why: &str) -> bool {
    note.as_ref().is_some_and(|note| note.contains(why) && note.ends_with("it is rebuilt"))
}

fn make_old(path: &Path) {
    let time = SystemTime::now() - Duration::from_secs(3600);
    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

/// Inputs that have all there is in them, and how they are read.
fn inputs(folder: &Folder) -> Vec<(Vec<Input>, Options)> {
    let skip = |options: Options| Options { on_error: OnError::Skip, ..options };
    // Pseudo-random, so that rows differ.
    let number = |at: usize| (at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    let svmlight: String = (0..9000)
        .map(|at| {
            let label = ["1", "-1", "?", "1"][at % 4];
            let features: String = (0..=at % 13)
                .map(|place| format!(" {}:{}", place * 7 + at % 7, number(at + place) as f64 / 64.0))
                .collect();
            if at % 1000 == 17 { "1 3:x\n".to_owned() } else { format!("{label}{features}\n") }
        })
        .collect();
    let vw: String = (0..9000)
        .map(|at| match at % 500 {
            3 => "no bar\n".to_owned(),
            4 => format!("'only-tag{at}| a\n"),
            _ => format!(
                "{} {} {} tag{at}|a x{} x{}:{} |b x{} x{}\n",
                ["1", "-1"][at % 2],
                at % 3,
                at % 5,
                number(at) % 3000,
                number(at + 1) % 50,
                number(at) as f64 / 8.0,
                at % 7,
                at % 7
            ),
        })
        .collect();
    let csv: String = (0..9000)
        .map(|at| match at % 700 {
            5 => format!("{at},bad\n"),
            _ => {
                let label = if at % 11 == 0 { String::new() } else { (number(at) % 2).to_string() };
                format!("\"{at},\",{label},{}.5,{},c{},k{at}\n", at % 4, number(at), number(at) % 900)
            }
        })
        .collect();
    let csv = format!("id,y,w,x,c,key\n{csv}");
    let json: String = (0..3000)
        .map(|at| match at % 900 {
            7 => "{\"y\": tru\n".to_owned(),
            _ => format!(
                "{{\"y\": {}, \"x\": {}, \"late{}\": {{\"deep\": \"d{}\"}}}}\n",
                at % 2 == 0,
                number(at),
                at / 50,
                at % 9
            ),
        })
        .collect();
    let of_csv = Options { weight: Some("w".to_owned()), ids: vec!["key".to_owned(), "id".to_owned()], ..target("y") };
    let cut = csv.match_indices('\n').nth(4000).unwrap().0 + 1;
    let later = format!("id,y,w,x,c,key\n{}", &csv[cut..]);
    vec![
        (vec![folder.write("x.svm", svmlight)], skip(Options::default())),
        (vec![folder.write("x.vw", vw)], skip(Options::default())),
        (vec![folder.write("x.csv", &csv)], skip(of_csv.clone())),
        (vec![folder.write("a.csv", &csv[..cut]), folder.write("b.csv", later)], skip(of_csv)),
        (vec![folder.write("x.jsonl", json)], skip(target("y"))),
    ]
}

#[test]
fn a_cache_gives_what_the_inputs_gave_on_any_number_of_threads() {
    let folder = Folder::new();
    for (inputs, options) in inputs(&folder) {
        let name = inputs[0].name();
        let (plain, note, loss) = read(&inputs, &options).unwrap();
        assert_eq!((note, loss), (None, None));
        assert!(plain.skipped > 3 && plain.rows.len() > 2000, "{name}");
        for (threads, chunk_size) in [(1, 1 << 18), (3, 1000)] {
            let writing = Options { threads, chunk_size, ..folder.cached(&options) };
            let (first, note, loss) = read(&inputs, &writing).unwrap();
            assert_eq!((note, loss), (None, None), "{name}");
            assert!(first == plain, "{name}");
            for threads in [1, 2] {
                let (again, note, loss) = read(&inputs, &Options { threads, ..folder.cached(&options) }).unwrap();
                assert!(is_read(&note) && loss.is_none(), "{name}: {note:?}");
                assert_eq!(again.errors, plain.errors, "{name}");
                assert!(again == plain, "{name}");
            }
            fs::remove_file(folder.path("cache")).unwrap();
        }
    }
}

#[test]
fn a_cache_of_ready_examples_gives_the_same_examples() {
    let folder = Folder::new();
    let (inputs, options) = inputs(&folder).swap_remove(0);
    let mut bytes = Vec::new();
    convert(&mut Reader::open(&inputs, options).unwrap(), &Format::ARROW, Compression::Zstd, &mut bytes).unwrap();
    let arrow = [folder.write("x.arrow", bytes)];
    let (plain, ..) = read(&arrow, &Options::default()).unwrap();
    let options = folder.cached(&Options::default());
    assert!(read(&arrow, &options).unwrap().0 == plain);
    let (again, note, _) = read(&arrow, &options).unwrap();
    assert!(is_read(&note) && again == plain);
    // And it is itself such a file.
    let cache = [Input::from(folder.path("cache").as_path())];
    assert!(read(&cache, &Options::default()).unwrap().0.rows == plain.rows);
}

/// A small input, its cache, and what both give.
fn small(folder: &Folder) -> ([Input; 1], Options, Read) {
    let text = "1 7 0.5 one|a x y:2 |b z\n-1 't2| x\nno bar\n'three|a x:0.25\n";
    let inputs = [folder.write("x.vw", text)];
    let options = folder.cached(&Options { on_error: OnError::Skip, threads: 1, ..Options::default() });
    let (plain, note, loss) = read(&inputs, &options).unwrap();
    assert_eq!((note, loss, plain.rows.len(), plain.skipped), (None, None, 3, 1));
    (inputs, options, plain)
}

#[test]
fn a_file_that_was_touched_or_moved_is_the_same() {
    let folder = Folder::new();
    let (inputs, options, plain) = small(&folder);
    make_old(&folder.path("x.vw"));
    let (again, note, _) = read(&inputs, &options).unwrap();
    assert!(is_read(&note) && again == plain);
    fs::rename(folder.path("x.vw"), folder.path("y.vw")).unwrap();
    let moved = [Input::from(folder.path("y.vw").as_path())];
    let (again, note, _) = read(&moved, &options).unwrap();
    assert!(is_read(&note) && again.rows == plain.rows);
    // Errors name the file as it is called now.
    assert_eq!(again.errors, read(&moved, &Options { cache: None, ..options }).unwrap().0.errors);
}

#[test]
fn a_change_of_content_is_noticed() {
    let folder = Folder::new();
    let (inputs, options, _) = small(&folder);
    let path = folder.path("x.vw");
    let text = fs::read_to_string(&path).unwrap();
    let unchanged = File::open(&path).unwrap().metadata().unwrap().modified().unwrap();
    let set_time = |time| File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    // Longer; as long, at the same time; and as long, long after it was made.
    for (number, (changed, time)) in [
        (format!("{text}1 |a y\n"), unchanged),
        (text.replace("y:2", "y:3"), unchanged),
        (text.replace("y:2", "y:4"), SystemTime::now() - Duration::from_secs(60)),
    ]
    .into_iter()
    .enumerate()
    {
        fs::write(&path, changed).unwrap();
        set_time(time);
        let (anew, note, loss) = read(&inputs, &options).unwrap();
        assert!(
            rebuilt(&note, "holds rows of other inputs, or of older versions of them") && loss.is_none(),
            "{number}: {note:?}"
        );
        assert!(anew == read(&inputs, &Options { cache: None, ..options.clone() }).unwrap().0, "{number}");
        let (again, note, _) = read(&inputs, &options).unwrap();
        assert!(is_read(&note) && again == anew, "{number}: {note:?}");
    }
}

#[test]
fn a_change_between_the_blocks_that_are_looked_at_is_noticed() {
    let folder = Folder::new();
    let line = "1 |a x:1 y:2 z:3\n";
    let mut text = line.repeat(20_000).into_bytes();
    let inputs = [folder.write("x.vw", &text)];
    let options = folder.cached(&Options::default());
    read(&inputs, &options).unwrap();
    let path = folder.path("x.vw");
    let time = File::open(&path).unwrap().metadata().unwrap().modified().unwrap();
    // 16 blocks of 4 KB begin every (size − 4096)/15 bytes: between the first two.
    let at = line.len() * 700 + 7;
    assert!(at > 4096 && at < (text.len() - 4096) / 15);
    text[at] = b'9';
    fs::write(&path, &text).unwrap();
    File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    assert!(rebuilt(&read(&inputs, &options).unwrap().1, "older versions of them"));
}

#[test]
fn other_inputs_or_another_order_are_noticed() {
    let folder = Folder::new();
    let (one, other) = (folder.write("a.svm", "1 1:2\n"), folder.write("b.svm", "-1 1:3\n"));
    let options = folder.cached(&Options::default());
    let both = [one.clone(), other.clone()];
    read(&both, &options).unwrap();
    assert!(is_read(&read(&both, &options).unwrap().1));
    for others in [&[other, one.clone()][..], &[one]] {
        assert!(rebuilt(&read(others, &options).unwrap().1, "holds rows of other inputs"));
    }
}

#[test]
fn another_reading_is_noticed_and_one_that_refuses_no_more_is_the_same() {
    let folder = Folder::new();
    let inputs = [folder.write("x.csv", format!("y,x,z\n{}", "1,2,a\n0,3,b\n1,4,a\n".repeat(20)))];
    let plain = folder.cached(&target("y"));
    let logistic: SharedLoss = onward::loss::parse("logistic").unwrap();
    let squared: SharedLoss = onward::loss::parse("squared").unwrap();
    let others = [
        Options { target: Some("x".to_owned()), ..plain.clone() },
        Options { ignore: vec!["z".to_owned()], ..plain.clone() },
        Options { categorical: vec!["x".to_owned()], ..plain.clone() },
        Options { text: vec!["z".to_owned()], ..plain.clone() },
        Options { bits: 10, ..plain.clone() },
        Options { ngrams: 2, ..plain.clone() },
        Options { ids: vec!["x".to_owned()], ..plain.clone() },
        Options { weight: Some("x".to_owned()), ..plain.clone() },
    ];
    for other in &others {
        let _ = fs::remove_file(folder.path("cache"));
        read(&inputs, &plain).unwrap();
        let (_, note, _) = read(&inputs, other).unwrap();
        assert!(rebuilt(&note, "read with other columns"), "{other:?}: {note:?}");
        assert!(is_read(&read(&inputs, other).unwrap().1), "{other:?}");
    }
    fs::remove_file(folder.path("cache")).unwrap();
    let (first, ..) = read(&inputs, &plain).unwrap();
    let schema = Reader::open(&inputs, target("y")).unwrap().schema().clone();
    for same in [
        Options { schema: Some(schema.clone()), ..folder.cached(&Options::default()) },
        Options { schema: Some(schema), require_target: false, ..folder.cached(&Options::default()) },
        Options { on_error: OnError::Skip, ..plain.clone() },
        Options { record_limit: 1 << 30, ..plain.clone() },
        Options { loss: Some(logistic.into()), ..plain.clone() },
    ] {
        let (again, note, _) = read(&inputs, &same).unwrap();
        assert!(is_read(&note), "{same:?}: {note:?}");
        assert!(again.rows == first.rows && again.names == first.names);
    }
    // Labels that are numbers were checked by one loss and not by another.
    let numbers = folder.cached(&target("x"));
    read(&inputs, &numbers).unwrap();
    assert!(rebuilt(
        &read(&inputs, &Options { loss: Some(squared.into()), ..numbers.clone() }).unwrap().1,
        "other options"
    ));
    assert!(rebuilt(&read(&inputs, &Options { record_limit: 100, ..numbers }).unwrap().1, "other options"));
}

#[test]
fn where_records_were_skipped_only_the_same_rules_skip_them_again() {
    let folder = Folder::new();
    let (inputs, options, _) = small(&folder);
    assert!(rebuilt(&read(&inputs, &Options { record_limit: 1 << 30, ..options.clone() }).unwrap().1, "other options"));
    let error = read(&inputs, &Options { on_error: OnError::Stop, ..options }).unwrap_err().command_line();
    assert!(error.contains("x.vw, line 3: expected '|'"), "{error}");
}

#[test]
fn whatever_byte_is_damaged_is_noticed_and_never_read() {
    let folder = Folder::new();
    let (inputs, options, plain) = small(&folder);
    let path = folder.path("cache");
    let whole = fs::read(&path).unwrap();
    let (mut anew, mut errors, mut foreign, mut harmless) = (0, 0, 0, 0);
    let mut look = |bytes: &[u8], what: &str| {
        fs::write(&path, bytes).unwrap();
        let mut reader = match Reader::open(&inputs, options.clone()) {
            Ok(reader) => reader,
            Err(error) => {
                assert!(error.to_string().contains("not a cache of Onward"), "{what}: {error}");
                foreign += 1;
                return;
            }
        };
        match reader.cache_note().unwrap() {
            // It is rebuilt at the end, which is not waited for.
            note if note.ends_with("it is rebuilt") => {
                let why = ["is damaged", "another version", "other options", "other inputs"];
                assert!(why.iter().any(|why| note.contains(why)), "{what}: {note}");
                anew += 1;
            }
            _ => match reader.next_batch() {
                Err(error) => {
                    let error = error.command_line();
                    assert!(
                        error.contains("cache: is damaged") && error.contains("remove this cache"),
                        "{what}: {error}"
                    );
                    errors += 1;
                }
                Ok(_) => {
                    drop(reader);
                    assert!(read(&inputs, &options).unwrap().0 == plain, "{what}");
                    harmless += 1;
                }
            },
        }
    };
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        look(&bytes, &format!("bit at {at}"));
    }
    for length in (0..whole.len()).step_by(13) {
        look(&whole[..length], &format!("cut at {length}"));
    }
    // Bytes of the footer that say again what the index says may change without harm.
    assert!(anew > 500 && errors > 500 && foreign > 5, "{anew} {errors} {foreign} {harmless}");
    assert!(harmless < 1200, "{harmless} of {}", whole.len());
    // And one that is rebuilt is whole again.
    fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    assert!(rebuilt(&read(&inputs, &options).unwrap().1, "is damaged"));
    assert!(is_read(&read(&inputs, &options).unwrap().1));
    assert_eq!(fs::read(&path).unwrap().len(), whole.len());
}

#[test]
fn what_is_no_cache_is_left_as_it_is() {
    let folder = Folder::new();
    let inputs = [folder.write("x.svm", "1 1:2\n-1 1:3\n")];
    let mut arrow = Vec::new();
    let mut reader = Reader::open(&inputs, Options::default()).unwrap();
    convert(&mut reader, &Format::ARROW, Compression::None, &mut arrow).unwrap();
    for bytes in [&b"something dear"[..], b"", b"ARROW1", &arrow] {
        folder.write("cache", bytes);
        let error = read(&inputs, &folder.cached(&Options::default())).unwrap_err().command_line();
        assert!(error.contains("cache: --cache names a file that is not a cache of Onward"), "{error}");
        assert_eq!(fs::read(folder.path("cache")).unwrap(), bytes);
    }
    fs::remove_file(folder.path("cache")).unwrap();
    fs::create_dir(folder.path("cache")).unwrap();
    assert!(read(&inputs, &folder.cached(&Options::default())).is_err());
    assert_eq!(folder.files(), ["cache", "x.svm"]);
}

#[test]
fn a_run_that_does_not_come_to_the_end_leaves_no_cache() {
    let folder = Folder::new();
    let inputs = [folder.write("x.svm", "1 1:2\n".repeat(50_000))];
    let options = folder.cached(&Options { chunk_size: 1000, ..Options::default() });
    let mut reader = Reader::open(&inputs, options.clone()).unwrap();
    reader.next_batch().unwrap();
    assert_eq!(reader.cache_loss(), Some("the run ended before the input did"));
    drop(reader);
    assert_eq!(folder.files(), ["x.svm"]);
    // Nor does one whose input has an error, or changes.
    let inputs = [folder.write("x.svm", "1 1:2\n".repeat(50_000) + "1 1:x\n")];
    let mut reader = Reader::open(&inputs, options.clone()).unwrap();
    while reader.next_batch().is_ok() {}
    assert_eq!(reader.cache_loss(), Some("the input could not be read to its end"));
    drop(reader);
    let inputs = [folder.write("x.svm", "1 1:2\n".repeat(50_000))];
    make_old(&folder.path("x.svm"));
    let mut reader = Reader::open(&inputs, options.clone()).unwrap();
    reader.next_batch().unwrap();
    folder.write("x.svm", "1 1:3\n".repeat(50_000));
    while reader.next_batch().unwrap().is_some() {}
    assert_eq!(reader.cache_loss(), Some("an input changed while it was being read"));
    drop(reader);
    assert_eq!(folder.files(), ["x.svm"]);
}

#[test]
fn what_can_be_read_once_has_no_cache() {
    let folder = Folder::new();
    let options = folder.cached(&Options::default());
    let error = read(&[Input::Standard], &options).unwrap_err().command_line();
    assert_eq!(
        error,
        "standard input: can be read only once, so it cannot be cached; save it to a file first, or leave \
         out --cache"
    );
    let inputs = [folder.write("x.svm", "1 1:2\n")];
    let error = read(&inputs, &Options { cache: Some("-".into()), ..Options::default() }).unwrap_err().command_line();
    assert!(error.contains("must name a file"), "{error}");
    let nowhere = Options { cache: Some(folder.path("no/folder")), ..Options::default() };
    let error = read(&inputs, &nowhere).unwrap_err().command_line();
    assert!(error.contains("no/folder: the cache cannot be written: no such file"), "{error}");
}
