//! The CSV reader against the `csv` crate: on generated tables, however they are
//! quoted, cut and shared among threads, and on the flights file.

use std::io::Write;
use std::path::Path;

use onward::hashing::feature_hash as hash;
use onward_data::{Input, Kind, OnError, Options, Reader, Role, Schema};
use proptest::prelude::*;

use crate::text;

/// An example: features, label.
type Row = (Vec<(u32, u32)>, Option<f64>);

/// All examples of a file, values as bits.
fn read(path: &Path, options: Options) -> (Schema, Vec<Row>) {
    let mut reader = Reader::open(&[Input::from(path)], options).unwrap();
    let schema = reader.schema().clone();
    let mut rows = Vec::new();
    while let Some(parsed) = reader.next_batch().unwrap() {
        for example in parsed.batch.iter() {
            let features = example.features.iter().map(|(index, value)| (index, value.to_bits())).collect();
            rows.push((features, example.label));
        }
    }
    (schema, rows)
}

fn is_missing(cell: &str) -> bool {
    ["", "na", "n/a", "nan", "null"].contains(&cell.trim().to_lowercase().as_str())
}

/// The encoding as the documentation of the formats has it, written plainly.
fn expected(schema: &Schema, record: &csv::StringRecord) -> Row {
    let reserved = schema.reserved();
    let hashed = |column: &str, name: &[u8]| {
        reserved + (hash::name(hash::seed(column.as_bytes()), name) & ((1 << schema.bits) - 1)) as u32
    };
    let (mut features, mut label) = (vec![(0, 1f32.to_bits())], None);
    for (column, cell) in schema.columns.iter().zip(record) {
        let missing = is_missing(cell);
        match &column.role {
            Role::Feature(Kind::Numeric { slot, .. }) if missing => features.push((slot + 1, 1f32.to_bits())),
            Role::Feature(Kind::Numeric { slot, origin }) => {
                let value: f64 = cell.trim().parse().unwrap();
                if Some(value) != *origin {
                    features.push((*slot, ((value - origin.unwrap_or(0.0)) as f32).to_bits()));
                }
            }
            Role::Feature(Kind::Categorical { origin }) if !missing && origin.as_deref() != Some(cell) => {
                features.push((hashed(&column.name, cell.as_bytes()), 1f32.to_bits()));
            }
            Role::Feature(Kind::Timestamp { slot, origin }) => {
                // Of flights: the clock as written, the weekday and month of other columns, days from the hour.
                let (date, time) = cell.split_once('T').unwrap();
                let day: f64 = day_of_2013(date);
                let (hours, minutes): (f64, f64) = (time[..2].parse().unwrap(), time[3..5].parse().unwrap());
                let days = 15_706.0 + day + (hours * 3600.0 + minutes * 60.0) / 86_400.0 - origin;
                features.push((*slot, (days as f32).to_bits()));
                let weekday =
                    ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"].iter().position(|day| *day == &record[3]);
                let month: u8 = record[2].parse().unwrap();
                for (part, number) in [(b'h', hours as u8), (b'd', weekday.unwrap() as u8), (b'm', month)] {
                    features.push((hashed(&column.name, &[0, part, number]), 1f32.to_bits()));
                }
            }
            Role::Target if !missing => {
                let value: f64 = cell.trim().parse().unwrap();
                label = Some(if schema.target.rule.task() == onward::loss::Task::Binary {
                    if value > 15.0 { 1.0 } else { -1.0 }
                } else {
                    value
                });
            }
            _ => {}
        }
    }
    (features, label)
}

/// Days since 2013-01-01 of a date in that year.
fn day_of_2013(date: &str) -> f64 {
    const BEFORE: [u32; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let (month, day): (usize, u32) = (date[5..7].parse().unwrap(), date[8..10].parse().unwrap());
    f64::from(BEFORE[month - 1] + day - 1)
}

#[test]
fn flights_are_read_as_the_csv_crate_reads_them() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/flights.csv.zst");
    let options = Options { target: Some("arr_delay>15".to_owned()), ..Options::default() };
    let (schema, rows) = read(&path, options);
    let text = zstd::decode_all(std::fs::File::open(&path).unwrap()).unwrap();
    let mut records = csv::Reader::from_reader(text.as_slice());
    let mut count = 0;
    for (row, record) in rows.iter().zip(records.records()) {
        assert_eq!(*row, expected(&schema, &record.unwrap()), "row {count}");
        count += 1;
    }
    assert_eq!((count, rows.len()), (336_776, 336_776));
}

/// A cell of text: with all that has to be quoted, and words for missing.
fn text_cell() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-c]{1,2}",
        2 => "[ab\"\n\r,;' é]{0,6}",
        1 => Just("NA".to_owned()),
        1 => Just(String::new()),
    ]
}

fn number_cell() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => any::<f32>().prop_filter("finite", |value| value.is_finite()).prop_map(|value| value.to_string()),
        2 => (-1000i32..1000).prop_map(|value| value.to_string()),
        1 => (any::<i16>(), -20i32..20).prop_map(|(digits, exponent)| format!("{digits}e{exponent}")),
        1 => Just(" 12.50 ".to_owned()),
        1 => Just("nan".to_owned()),
    ]
}

/// A table as CSV with cells quoted where they must be, or everywhere.
fn table(rows: &[(String, String, String)], style: csv::QuoteStyle, crlf: bool) -> Vec<u8> {
    let mut builder = csv::WriterBuilder::new();
    builder.quote_style(style).terminator(if crlf { csv::Terminator::CRLF } else { csv::Terminator::Any(b'\n') });
    let mut writer = builder.from_writer(Vec::new());
    writer.write_record(["y", "name, quoted", "x"]).unwrap();
    for (y, name, x) in rows {
        writer.write_record([y, name, x]).unwrap();
    }
    writer.into_inner().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn tables_are_read_as_the_csv_crate_reads_them(
        rows in prop::collection::vec((number_cell(), text_cell(), number_cell()), 1..40),
        always in any::<bool>(),
        crlf in any::<bool>(),
        chunk_size in 1usize..200,
        threads in 1usize..4,
    ) {
        let style = if always { csv::QuoteStyle::Always } else { csv::QuoteStyle::Necessary };
        let bytes = table(&rows, style, crlf);
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&bytes).unwrap();
        let options = Options {
            target: Some("y".to_owned()),
            task: Some(onward::loss::Task::Regression),
            numeric: vec!["x".to_owned()],
            categorical: vec!["name, quoted".to_owned()],
            bits: 8,
            chunk_size,
            threads,
            ..Options::default()
        };
        let (schema, found) = read(file.path(), options);
        let mut records = csv::Reader::from_reader(bytes.as_slice());
        let expected: Vec<Row> = records.records().map(|record| expected(&schema, &record.unwrap())).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn what_is_skipped_does_not_depend_on_where_the_text_is_cut(
        bytes in prop::collection::vec(prop_oneof![
            2 => Just(b'"'), 2 => Just(b','), 2 => Just(b'\n'), 1 => Just(b'\r'), 2 => Just(b'1'), 1 => Just(0xff),
        ], 0..200),
        chunk_size in 1usize..100,
        threads in 1usize..4,
    ) {
        let text = [b"y,x\n1,2\n", bytes.as_slice()].concat();
        let options = |chunk_size, threads| Options {
            target: Some("y".to_owned()),
            task: Some(onward::loss::Task::Regression),
            numeric: vec!["x".to_owned()],
            format: Some(onward_data::Format::CSV),
            on_error: OnError::Skip,
            chunk_size,
            threads,
            ..Options::default()
        };
        let [whole, cut] = [options(1 << 18, 1), options(chunk_size, threads)].map(|options| text::read(&text, options));
        prop_assert_eq!(whole.error, None);
        prop_assert_eq!((whole.rows, whole.skipped), (cut.rows, cut.skipped));
        // A piece keeps its first few errors.
        let kept = whole.errors.len();
        prop_assert_eq!(whole.errors.as_slice(), &cut.errors[..kept]);
    }

    #[test]
    fn no_bytes_make_the_reader_panic_or_hang(
        bytes in prop::collection::vec(prop_oneof![
            Just(b'"'), Just(b','), Just(b'\n'), Just(b'\r'), Just(b'1'), Just(b'a'), any::<u8>(),
        ], 0..300),
        chunk_size in 1usize..50,
        skip in any::<bool>(),
    ) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"y,x\n1,2\n").unwrap();
        file.write_all(&bytes).unwrap();
        let options = Options {
            target: Some("y".to_owned()),
            chunk_size,
            on_error: if skip { OnError::Skip } else { OnError::Stop },
            format: Some(onward_data::Format::CSV),
            ..Options::default()
        };
        if let Ok(mut reader) = Reader::open(&[Input::from(file.path())], options) {
            let mut batches = 0;
            while let Ok(Some(_)) = reader.next_batch() {
                batches += 1;
                prop_assert!(batches <= 400);
            }
        }
    }
}

/// The columns of a table, of all kinds.
const COLUMNS: [&str; 10] = ["a", "k", "b", "y", "t", "c", "f", "w", "id", "o"];

/// Where the ids are.
const ID: usize = 8;

/// A cell of each, as files have them and otherwise.
fn cells() -> impl Strategy<Value = Vec<String>> {
    let number = || {
        prop_oneof![
            4 => "-?[0-9]{1,5}(\\.[0-9]{1,4})?",
            2 => Just(String::new()),
            1 => "-?[0-9]{1,3}\\.[0-9]{14,18}",
            1 => "(NA|nan| 7|1e5|\\+3|\\.5|5\\.|-0|-?[0-9]{14,17})",
        ]
    };
    let bad = "(x|-|1-2|inf|1e39|1\\.2\\.3|3 )";
    let category = prop_oneof![
        6 => "[A-Za-z0-9_ ]{0,20}",
        1 => "(NA|na|null|n/a| NaN |\\x22x|x\\x22y|x\ny|x\ry)",
    ];
    let flag = prop_oneof![Just("true".to_owned()), Just("false".to_owned()), Just(String::new())];
    let moment = prop_oneof![
        12 => "20[0-9]{2}-0[1-9]-1[0-9]( 1[0-9]:2[0-9])?",
        1 => "(NA|| 2020-01-02T03:04 |2020-1-1|2020-13-01|x)",
    ];
    // Constant but for these.
    let constant = prop_oneof![4 => Just("7.5".to_owned()), 1 => "(|7|7\\.50|-1e3|1e39)"];
    let target = prop_oneof![8 => "-?[0-9]{1,3}(\\.[0-9])?", 1 => Just(String::new())];
    let weight = prop_oneof![12 => "[1-3]", 1 => "(-1|x)"];
    let first = prop_oneof![12 => number().boxed(), 1 => bad.boxed()];
    (first, category, number(), target, moment, number(), flag, weight, "[a-z]{0,3}", constant)
        .prop_map(|(a, k, b, y, t, c, f, w, id, o)| vec![a, k, b, y, t, c, f, w, id, o])
}

/// How a table is written.
#[derive(Debug, Clone, Copy)]
struct Form {
    separator: &'static str,
    line_end: &'static str,
    has_last_end: bool,
}

fn form() -> impl Strategy<Value = Form> {
    let separator = prop_oneof![2 => Just(","), 1 => Just(";"), 1 => Just("\t"), 1 => Just("|")];
    let line_end = prop_oneof![2 => Just("\n"), 1 => Just("\r\n")];
    (separator, line_end, any::<bool>()).prop_map(|(separator, line_end, has_last_end)| Form {
        separator,
        line_end,
        has_last_end,
    })
}

/// A text of these rows, of some columns in some order; with all cells quoted, or only those that have to be.
fn table_of(rows: &[Vec<String>], columns: &[usize], form: Form, is_quoted: bool) -> String {
    let Form { separator, line_end, has_last_end } = form;
    let quoted = |cell: &String| match is_quoted || cell.starts_with('"') || cell.contains('\n') || cell.ends_with('\r')
    {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.clone(),
    };
    let header = columns.iter().map(|&column| COLUMNS[column]).collect::<Vec<_>>().join(separator);
    let row =
        |cells: &Vec<String>| columns.iter().map(|&column| quoted(&cells[column])).collect::<Vec<_>>().join(separator);
    let lines: Vec<_> = std::iter::once(header).chain(rows.iter().map(row)).collect();
    // A blank line counts for nothing.
    let text = lines.join(line_end).replacen(line_end, &line_end.repeat(2), usize::from(lines.len() % 2 == 0));
    text + if has_last_end { line_end } else { "" }
}

/// Rows by which the columns are known for what they are.
fn known() -> impl Iterator<Item = Vec<String>> {
    let row = |at: usize| {
        let (number, flag) = (format!("{at}.5"), at.is_multiple_of(2).to_string());
        let word = format!("w{}", at % 5);
        let date = "2020-01-02".to_owned();
        vec![
            number.clone(),
            word,
            number.clone(),
            number.clone(),
            date,
            number,
            flag,
            "1".to_owned(),
            "i".to_owned(),
            "7.5".to_owned(),
        ]
    };
    (0..200).map(row)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(384))]

    /// Quoted cells are read one by one, others some records together.
    #[test]
    fn records_without_quotes_are_read_as_those_with_quotes(
        rows in prop::collection::vec(cells(), 0..60),
        later in prop::collection::vec(cells(), 0..20),
        order in Just((0..COLUMNS.len()).collect::<Vec<_>>()).prop_shuffle(),
        // A column that the second file lacks, perhaps.
        lacking in prop::option::of(prop_oneof![Just(0usize), Just(1), Just(2), Just(4), Just(6), Just(ID)]),
        form in form(),
        target in prop_oneof![Just("y"), Just("y>0.25"), Just("y<=-1"), Just("y==0.5")],
        chunk_size in prop_oneof![Just(1 << 18), Just(3000)],
        threads in 1..4usize,
        skips in any::<bool>(),
        // No column that is taken by itself.
        is_simple in any::<bool>(),
        is_constant in any::<bool>(),
        // With few, names share indices.
        bits in prop_oneof![Just(22), 4..7u32],
    ) {
        let on_error = if skips { OnError::Skip } else { OnError::Stop };
        let options = || Options {
            target: Some(target.to_owned()),
            weight: Some("w".to_owned()).filter(|_| !is_simple),
            ids: if is_simple && lacking != Some(ID) { Vec::new() } else { vec!["id".to_owned()] },
            on_error,
            chunk_size,
            threads,
            bits,
            ..Options::default()
        };
        let mut first: Vec<_> = known().chain(rows).collect();
        // In the rows that columns are judged by: later it may change.
        for row in first.iter_mut().filter(|_| is_constant) {
            row[COLUMNS.len() - 1] = "7.5".to_owned();
        }
        let is_wanted = |&column: &usize| !is_simple || !["f", "w", "id"].contains(&COLUMNS[column]);
        // Ids that the first file has and the second lacks.
        let has_ids = is_simple && lacking == Some(ID);
        let in_order: Vec<_> =
            (0..COLUMNS.len()).filter(|column| is_wanted(column) || has_ids && *column == ID).collect();
        let others = order.into_iter().filter(|&column| Some(column) != lacking);
        let others: Vec<_> = others.filter(is_wanted).collect();
        let outcome = |is_quoted: bool| {
            let first = table_of(&first, &in_order, form, is_quoted);
            let later = table_of(&later, &others, form, is_quoted);
            text::read_files(&[("first", first.as_bytes()), ("later", later.as_bytes())], options())
        };
        let expected = outcome(true);
        let _alone = text::alone();
        for is_portable in [false, true] {
            onward::simd::set_portable(is_portable);
            let found = outcome(false);
            prop_assert_eq!(&found.error, &expected.error);
            prop_assert_eq!(&found.rows, &expected.rows);
            // Of each piece some errors are kept, and pieces differ; and so do names up to where an error ends the run.
            prop_assert!(chunk_size == 3000 || found.errors == expected.errors);
            // Each thread names what is new to it: of names that share an index another one may be the first.
            if !(chunk_size == 3000 && found.error.is_some()) && (threads == 1 || bits == 22) {
                prop_assert_eq!(&found.names, &expected.names);
            }
            prop_assert_eq!(found.skipped, expected.skipped);
        }
        onward::simd::set_portable(false);
    }
}
