//! What is converted and read again is what it was.

#![cfg(feature = "arrow")]

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use arrow_array::*;
use onward_data::{Compression, ConvertError, Converted, Format, Input, Options, Reader, convert};
use proptest::prelude::*;

use crate::support::*;

fn convert_to<P: AsRef<Path>>(
    paths: &[P],
    options: Options,
    format: &Format,
) -> Result<(Vec<u8>, Converted), ConvertError> {
    let mut out = Vec::new();
    let converted = convert(&mut open(paths, options)?, format, Compression::None, &mut out)?;
    Ok((out, converted))
}

fn text_of(csv: &str, options: Options, format: &Format) -> String {
    let folder = Folder::new();
    let path = folder.write("x.csv", csv);
    let (out, _) = convert_to(&[path], options, format).unwrap();
    String::from_utf8(out).unwrap()
}

fn error(csv: &str, options: Options, format: &Format) -> String {
    let folder = Folder::new();
    let path = folder.write("x.csv", csv);
    worded(convert_to(&[path], options, format).unwrap_err())
}

fn weighted() -> Options {
    Options { weight: Some("weight".to_owned()), ignore: vec!["id".to_owned()], ..target("label") }
}

/// Rows of CSV: label, weight, id, numbers, a category and words.
fn csv() -> impl Strategy<Value = String> {
    let row = (
        prop_oneof![Just(""), Just("0"), Just("1")],
        prop_oneof![Just("1"), Just("0"), Just("2.5"), Just("0.1")],
        "[a-z ]{0,3}",
        prop_oneof![
            Just(String::new()),
            (-1e6..1e6f64).prop_map(|x| x.to_string()),
            Just("0".to_owned()),
            Just("-0".to_owned())
        ],
        any::<i32>(),
        "[a-c]{0,2}",
        "([a-f]{1,2} ){0,7}",
    );
    prop::collection::vec(row, 1..80).prop_map(|rows| {
        let mut text = "label,weight,id,x,n,c,words\n".to_owned();
        for (label, weight, id, x, n, c, words) in rows {
            text += &format!("{label},{weight},{id},{x},{n},{c},{words}\n");
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn examples_in_arrow_are_read_again_to_the_bit(
        text in csv(),
        bits in prop_oneof![Just(2u32), Just(22)],
        threads in 1usize..4,
        chunk_size in prop_oneof![Just(1usize), Just(300), Just(1 << 18)],
        compression in prop_oneof![Just(Compression::None), Just(Compression::Lz4), Just(Compression::Zstd)],
    ) {
        let folder = Folder::new();
        let path = [folder.write("x.csv", &text)];
        let options = Options { bits, threads, chunk_size, ..weighted() };
        let expected = read_all(&path, options.clone()).unwrap();
        let mut out = Vec::new();
        let converted = convert(&mut open(&path, options.clone()).unwrap(), &Format::ARROW, compression, &mut out).unwrap();
        prop_assert_eq!(converted.rows, expected.rows.len() as u64);
        prop_assert_eq!(converted.names, expected.names.len() as u64);
        let again = folder.write("x.arrow", &out);
        let options = Options { threads, chunk_size, ..Options::default() };
        let found = read_all(&[&again], options.clone()).unwrap();
        prop_assert_eq!(&found.rows, &expected.rows);
        prop_assert_eq!(&found.names, &expected.names);
        // And once more from there.
        let mut second = Vec::new();
        let mut reader = open(&[again], options).unwrap();
        convert(&mut reader, &Format::ARROW, compression, &mut second).unwrap();
        let found = read_all(&[folder.write("y.arrow", &second)], Options::default()).unwrap();
        prop_assert_eq!(&found.rows, &expected.rows);
        prop_assert_eq!(&found.names, &expected.names);
    }

    #[test]
    fn svmlight_says_what_the_examples_hold_but_for_zeros(text in csv(), threads in 1usize..4) {
        let folder = Folder::new();
        let path = [folder.write("x.csv", text.replace("weight", "other"))];
        let options = Options { threads, chunk_size: 200, ..target("label") };
        let expected = read_all(&path, options.clone()).unwrap();
        let (out, _) = convert_to(&path, options, &Format::SVMLIGHT).unwrap();
        let lines: Vec<_> = std::str::from_utf8(&out).unwrap().lines().collect();
        prop_assert_eq!(lines.len(), expected.rows.len());
        for (line, row) in lines.iter().zip(&expected.rows) {
            let mut words = line.split(' ');
            let label = words.next().unwrap();
            prop_assert_eq!((label != "?").then(|| label.parse::<f64>().unwrap().to_bits()), row.label);
            let features: Vec<_> = words.map(|word| {
                let (index, value) = word.split_once(':').unwrap();
                // By way of f64, as our reader does it.
                (index.parse::<u32>().unwrap() + 1, (value.parse::<f64>().unwrap() as f32).to_bits())
            }).collect();
            let of_row = row.features[1..].iter().copied().filter(|(_, bits)| f32::from_bits(*bits) != 0.0);
            prop_assert_eq!(features, of_row.collect::<Vec<_>>());
        }
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let folder = Folder::new();
    let rows: String = (0..500).map(|row| format!("{},{},{}\n", row % 2, row, row % 7)).collect();
    let path = [folder.write("x.csv", format!("y,a,b\n{rows}"))];
    let bytes = |threads, format| {
        let options = Options { threads, chunk_size: 100, categorical: vec!["b".to_owned()], ..target("y") };
        convert_to(&path, options, format).unwrap().0
    };
    for format in &[Format::ARROW, Format::VW, Format::SVMLIGHT] {
        let first = bytes(1, format);
        assert!((1..5).all(|threads| bytes(threads, format) == first));
    }
}

#[test]
fn labels_of_every_rule_are_read_again_as_they_were() {
    let inputs = [
        ("y,x\n0,1\n1,2\n", target("y")),
        ("y,x\nno,1\nyes,2\n,3\n", target("y")),
        ("y,x\nlate,1\nearly,2\non time,3\n", target("y==late")),
        ("y,x\n0,1\n1,2\n0,3\n", Options { task: Some(onward::loss::Task::Regression), ..target("y") }),
        ("y,x\n0.5,1\n1,2\n0,3\n", Options { task: Some(onward::loss::Task::Binary), ..target("y") }),
        ("y,x\n-0.25,1\n1e300,2\n", Options { task: Some(onward::loss::Task::Binary), ..target("y>0") }),
    ];
    for (csv, options) in inputs {
        let folder = Folder::new();
        let path = [folder.write("x.csv", csv)];
        let expected = read_all(&path, options.clone()).unwrap();
        let (out, _) = convert_to(&path, options, &Format::ARROW).unwrap();
        let found = read_all(&[folder.write("x.arrow", out)], Options::default()).unwrap();
        assert_eq!(found.rows, expected.rows, "{csv}");
    }
}

#[test]
fn a_target_that_is_asked_for_goes_before_the_one_of_the_file() {
    let folder = Folder::new();
    let path = [folder.write("x.csv", "y,x\n3,1\n4,2\n5,3\n")];
    let (out, _) = convert_to(&path, target("y"), &Format::ARROW).unwrap();
    let found = read_all(&[folder.write("x.arrow", out)], target("label==4")).unwrap();
    let labels: Vec<_> = found.rows.iter().map(|row| f64::from_bits(row.label.unwrap())).collect();
    assert_eq!(labels, [-1.0, 1.0, -1.0]);
}

#[test]
fn the_metadata_of_examples_say_where_they_come_from() {
    let folder = Folder::new();
    let path = [folder.write("x.csv", "delay,from\n20,JFK\n3,\"L \"\"GA\"\n7,JFK\n")];
    let (out, converted) = convert_to(&path, target("delay>15"), &Format::ARROW).unwrap();
    assert_eq!(converted.names, 3);
    let reader = arrow_ipc::reader::FileReader::try_new(io::Cursor::new(out), None).unwrap();
    let schema = reader.schema();
    assert_eq!(schema.metadata()["onward.version"], "1");
    assert_eq!(schema.metadata()["onward.target"], "delay>15");
    let origin: onward_data::Schema = serde_json::from_str(&schema.metadata()["onward.schema"]).unwrap();
    assert_eq!(origin, *open(&path, target("delay>15")).unwrap().schema());
    let names: BTreeMap<u32, String> = serde_json::from_str(&reader.custom_metadata()["onward.names"]).unwrap();
    let names: Vec<_> = names.into_values().collect();
    assert_eq!(names[0], "bias");
    assert!(names.contains(&"from=L \"GA".to_owned()));
    let types: Vec<_> = schema.fields().iter().map(|field| field.data_type().to_string()).collect();
    assert_eq!(types, ["Float64", "Float64", "Float64", "List(non-null UInt32)", "List(non-null Float32)"]);
}

#[test]
fn names_that_are_damaged_are_an_error() {
    let folder = Folder::new();
    let path = [folder.write("x.csv", "y,x\n1,1\n0,2\n")];
    let (mut out, _) = convert_to(&path, target("y"), &Format::ARROW).unwrap();
    let at = out.windows(6).rposition(|word| word == b"\"bias\"").unwrap();
    out[at] = b'x';
    let error = error_of(&[folder.write("x.arrow", out)], Options::default());
    assert!(
        folder.without(&error).starts_with("x.arrow: is damaged: its metadata 'onward.names' cannot be read"),
        "{error}"
    );
}

#[test]
fn many_rows_make_several_record_batches() {
    let rows = 70_000u32;
    let folder = Folder::new();
    let path = folder.path("x.parquet");
    let label = Int8Array::from_iter_values((0..rows).map(|row| (row % 2) as i8));
    let x = UInt32Array::from_iter_values(0..rows);
    write_parquet(&path, &[batch(vec![("y", array(label)), ("x", array(x))])]);
    let expected = read_all(&[&path], target("y")).unwrap();
    let (out, converted) = convert_to(&[path], target("y"), &Format::ARROW).unwrap();
    assert_eq!(converted.rows, u64::from(rows));
    let reader = arrow_ipc::reader::FileReader::try_new(io::Cursor::new(&out), None).unwrap();
    let sizes: Vec<_> = reader.map(|batch| batch.unwrap().num_rows()).collect();
    assert_eq!(sizes, [65_536, 4_464]);
    let found = read_all(&[folder.write("x.arrow", out)], Options::default()).unwrap();
    assert_eq!(found.rows, expected.rows);
}

#[test]
fn examples_are_written_as_vowpal_wabbit_has_them() {
    let csv = "y,weight,id,a b,c\n1,1,,0.1,\n,2,r|1,1,x:y\n0,2.5,r 2,-3,z\n1,1,,,z\n";
    let options = Options { weight: Some("weight".to_owned()), ids: vec!["id".to_owned()], ..target("y") };
    assert_eq!(
        text_of(csv, options, &Format::VW),
        "1 | a%20b:0.1\n\
         'r%7C1 | a%20b c=x%3Ay\n\
         -1 2.5 'r%202 | a%20b:-3 c=z\n\
         1 | a%20b%20missing c=z\n"
    );
}

#[test]
fn examples_are_written_as_svmlight_has_them() {
    let csv = "y,a,b\n1,0.1,0\n,1,-2.5e-7\nNA,,1e20\n0,16777217,3\n";
    assert_eq!(
        text_of(csv, target("y"), &Format::SVMLIGHT),
        "1 0:0.1\n\
         ? 0:1 2:-2.5e-7\n\
         ? 1:1 2:1e+20\n\
         -1 0:16777216 2:3\n"
    );
}

#[test]
fn several_ids_are_one_tag() {
    let ids = ["a", "b"].map(str::to_owned).to_vec();
    let text = text_of("y,a,b,x\n1,u,v w,1\n0,u,,2\n", Options { ids, ..target("y") }, &Format::VW);
    assert_eq!(text, "1 'u,v%20w | x\n-1 'u, | x:2\n");
}

#[test]
fn svmlight_and_arrow_have_no_ids() {
    for format in &[Format::SVMLIGHT, Format::ARROW] {
        let options = Options { ids: vec!["id".to_owned()], ..target("y") };
        assert_eq!(
            error("y,id,x\n1,u,1\n0,v,2\n", options, format),
            format!(
                "column 'id' is an id, but examples in {format} have no ids; convert to vw, where ids are tags, or leave \
                 the column out with --ignore instead of --id"
            )
        );
    }
}

#[test]
fn indices_without_names_are_told_apart_in_vw() {
    let folder = Folder::new();
    let path = folder.path("x.arrow");
    let list = |values: ArrayRef| {
        let field = std::sync::Arc::new(arrow_schema::Field::new_list_field(values.data_type().clone(), false));
        array(ListArray::new(field, arrow_buffer::OffsetBuffer::from_lengths([2, 2]), values, None))
    };
    let columns = vec![
        ("label", array(Float64Array::from(vec![1.0, -1.0]))),
        ("indices", list(array(UInt32Array::from(vec![0, 1, 0, 2])))),
        ("values", list(array(Float32Array::from(vec![3.0, 1.0, 1.0, 2.0])))),
    ];
    write_arrow(&path, &[batch(columns)]);
    let (out, _) = convert_to(&[path], Options::default(), &Format::VW).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "1 | bias:3 0\n-1 | 1:2\n");
}

#[test]
fn svmlight_has_no_weights() {
    assert_eq!(
        error("y,w,a\n1,1,2\n0,2,3\n", Options { weight: Some("w".to_owned()), ..target("y") }, &Format::SVMLIGHT),
        "example 2 has weight 2, and svmlight has no weights; convert to vw or arrow"
    );
}

#[test]
fn svmlight_has_examples_with_a_bias_only() {
    let folder = Folder::new();
    let path = folder.path("x.arrow");
    let list = |values: ArrayRef| {
        let field = std::sync::Arc::new(arrow_schema::Field::new_list_field(values.data_type().clone(), false));
        array(ListArray::new(field, arrow_buffer::OffsetBuffer::from_lengths([1]), values, None))
    };
    let columns = vec![
        ("label", array(Float64Array::from(vec![1.0]))),
        ("indices", list(array(UInt32Array::from(vec![5])))),
        ("values", list(array(Float32Array::from(vec![2.0])))),
    ];
    write_arrow(&path, &[batch(columns)]);
    let error = convert_to(&[&path], Options::default(), &Format::SVMLIGHT).unwrap_err();
    assert_eq!(
        error.to_string(),
        "example 1 does not begin with the bias (index 0, value 1), which reading svmlight adds; \
         convert to arrow"
    );
    let (out, _) = convert_to(&[path], Options::default(), &Format::VW).unwrap();
    assert_eq!(out, b"1 | 4:2\n");
}

#[test]
fn what_shares_an_index_is_added_up() {
    let folder = Folder::new();
    let path = [folder.write("x.csv", "y,t\n1,a b c d e f\n0,a b\n1,g h a i j k l\n")];
    let of = |bits| Options { bits, text: vec!["t".to_owned()], ..target("y") };
    let (out, _) = convert_to(&path, of(1), &Format::SVMLIGHT).unwrap();
    let text = String::from_utf8(out).unwrap();
    // With 22 bits each word has an index of its own.
    let apart = read_all(&path, of(22)).unwrap().rows;
    assert_eq!(apart[0].features.len(), 1 + 6);
    for (line, row) in text.lines().zip(&apart) {
        let pairs: Vec<_> = line.split(' ').skip(1).map(|word| word.split_once(':').unwrap()).collect();
        assert!(pairs.len() <= 2 && (pairs.len() < 2 || pairs[0].0 != pairs[1].0), "{line}");
        let sum: f64 = pairs.iter().map(|(_, value)| value.parse::<f64>().unwrap()).sum();
        let expected: f64 = row.features[1..].iter().map(|&(_, bits)| f64::from(f32::from_bits(bits))).sum();
        assert!((sum - expected).abs() < 1e-6);
    }
}

#[test]
fn the_bits_that_svmlight_needs_are_told() {
    let folder = Folder::new();
    let path = [folder.write("x.csv", "y,a,b,c\n1,1,2,3\n0,4,5,6\n")];
    // Indices 1, 3 and 5: 0, 2 and 4 in the file, which are below 2^3.
    let (_, converted) = convert_to(&path, target("y"), &Format::SVMLIGHT).unwrap();
    assert_eq!(converted.bits, 3);
}

#[test]
fn skipped_records_are_counted() {
    let folder = Folder::new();
    let path = [folder.write("x.csv", "y,a\n1,1\n0\n0,3\n")];
    let options = Options { on_error: onward_data::OnError::Skip, ..target("y") };
    let (_, converted) = convert_to(&path, options, &Format::VW).unwrap();
    assert_eq!((converted.rows, converted.skipped), (2, 1));
    let error = convert_to(&path, target("y"), &Format::VW).unwrap_err();
    assert!(matches!(error, ConvertError::Data(_)));
}

/// Takes some bytes, and then no more.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0 < bytes.len() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.0 -= bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_output_that_is_full_is_a_fault_of_writing() {
    let folder = Folder::new();
    let path = [folder.write("x.csv", "y,a\n1,1\n0,2\n0,3\n")];
    for format in &[Format::ARROW, Format::VW, Format::SVMLIGHT] {
        let whole = convert_to(&path, target("y"), format).unwrap().0.len();
        for room in 0..whole {
            let mut reader = open(&path, target("y")).unwrap();
            let error = convert(&mut reader, format, Compression::None, &mut Full(room)).unwrap_err();
            let ConvertError::Write(error) = error else {
                panic!("{error}");
            };
            assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        }
    }
}

#[test]
fn only_arrow_is_compressed_from_inside() {
    let folder = Folder::new();
    let path = [folder.write("x.csv", "y,a\n1,1\n0,2\n")];
    let mut reader = open(&path, target("y")).unwrap();
    let error = convert(&mut reader, &Format::VW, Compression::Zstd, &mut Vec::new()).unwrap_err();
    assert_eq!(error.to_string(), "vw has no compression of its own; leave it out, and compress the file as a whole");
}

// Tables.

fn copy_to<P: AsRef<Path>>(
    paths: &[P],
    options: Options,
    format: &Format,
) -> Result<(Vec<u8>, Converted), ConvertError> {
    let inputs: Vec<_> = paths.iter().map(|path| Input::from(path.as_ref())).collect();
    let mut out = Vec::new();
    let mut reader = Reader::open_table(&inputs, options)?;
    let converted = convert(&mut reader, format, Compression::None, &mut out)?;
    Ok((out, converted))
}

fn copied(csv: &str, options: Options, format: &Format) -> String {
    let folder = Folder::new();
    let path = folder.write("x.csv", csv);
    String::from_utf8(copy_to(&[path], options, format).unwrap().0).unwrap()
}

fn copy_error(csv: &str, options: Options, format: &Format) -> String {
    let folder = Folder::new();
    let path = folder.write("x.csv", csv);
    worded(copy_to(&[path], options, format).unwrap_err())
}

/// Cells that are hard to keep: what looks like a number, needs quotes, is empty.
fn cell() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("007".to_owned()),
        Just("NA".to_owned()),
        Just("true".to_owned()),
        "[ -~\n\té]{0,6}",
        any::<f64>().prop_filter("finite", |x| x.is_finite()).prop_map(|x| x.to_string()),
        any::<i64>().prop_map(|x| x.to_string()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn cells_stay_what_they_are_through_every_format_of_tables(
        rows in prop::collection::vec(prop::collection::vec(cell(), 3), 1..40),
        threads in 1usize..4,
        chunk_size in prop_oneof![Just(1usize), Just(100), Just(1 << 18)],
    ) {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(["a", "b,\"c\"", "d"]).unwrap();
        rows.iter().for_each(|row| writer.write_record(row).unwrap());
        let folder = Folder::new();
        let first = folder.write("x.csv", writer.into_inner().unwrap());
        // As text, for what is in them has no type.
        let options = Options {
            categorical: ["a", "b,\"c\"", "d"].map(str::to_owned).to_vec(),
            threads,
            chunk_size,
            ..Options::default()
        };
        let mut path = first.clone();
        for (format, name) in [
            (Format::CSV, "1.csv"),
            (Format::TSV, "2.tsv"),
            (Format::PARQUET, "3.parquet"),
            (Format::CSV, "4.csv"),
        ] {
            let (out, converted) = copy_to(&[&path], options.clone(), &format).unwrap();
            prop_assert_eq!(converted.rows, rows.len() as u64);
            path = folder.write(name, out);
        }
        let text = std::fs::read(path).unwrap();
        let mut reader = csv::Reader::from_reader(&text[..]);
        let found: Vec<Vec<String>> = reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect();
        prop_assert_eq!(&found, &rows);
        // JSON has a null for what is empty.
        let (out, _) = copy_to(&[first], options, &Format::JSONL).unwrap();
        for (line, row) in std::str::from_utf8(&out).unwrap().lines().zip(&rows) {
            let object: BTreeMap<String, Option<String>> = serde_json::from_str(line).unwrap();
            let found: Vec<_> = object.into_values().map(Option::unwrap_or_default).collect();
            prop_assert_eq!(&found, row);
        }
    }
}

#[test]
fn columns_are_written_as_what_the_first_rows_hold() {
    let csv = "whole,number,flag,word,day,empty\n1,0.50,true,x,2013-01-01,\n-2,1e3,false,NA,2013-01-02,\nNA,,,\"a \"\"b\"\"\",,\n";
    assert_eq!(
        copied(csv, Options::default(), &Format::JSONL),
        "{\"whole\":1,\"number\":0.50,\"flag\":true,\"word\":\"x\",\"day\":\"2013-01-01\",\"empty\":null}\n\
         {\"whole\":-2,\"number\":1e3,\"flag\":false,\"word\":\"NA\",\"day\":\"2013-01-02\",\"empty\":null}\n\
         {\"whole\":null,\"number\":null,\"flag\":null,\"word\":\"a \\\"b\\\"\",\"day\":null,\"empty\":null}\n"
    );
    let folder = Folder::new();
    let path = folder.write("x.csv", csv);
    let (out, _) = copy_to(&[path], Options::default(), &Format::PARQUET).unwrap();
    let path = folder.write("x.parquet", out);
    let file = std::fs::File::open(path).unwrap();
    let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let types: Vec<_> = reader.schema().fields().iter().map(|field| field.data_type().to_string()).collect();
    assert_eq!(types, ["Int64", "Float64", "Boolean", "Utf8", "Utf8", "Utf8"]);
    let batch = reader.build().unwrap().next().unwrap().unwrap();
    let nulls: Vec<_> = batch.columns().iter().map(|column| column.null_count()).collect();
    assert_eq!(nulls, [1, 1, 1, 0, 1, 3]);
}

#[test]
fn numbers_that_json_does_not_know_are_written_anew() {
    assert_eq!(
        copied("x\n+5.5\n.5\n1.\n-.5e1\n", Options::default(), &Format::JSONL),
        "{\"x\":5.5}\n{\"x\":0.5}\n{\"x\":1}\n{\"x\":-5}\n"
    );
}

#[test]
fn codes_with_zeros_in_front_do_not_become_numbers() {
    let csv = "zip,n\n10115,1\n01067,2\n";
    assert_eq!(
        copy_error(csv, Options::default(), &Format::JSONL),
        "row 2, column 'zip': '01067' would lose the zeros in front of it as a number; --categorical 'zip' writes it as text"
    );
    let options = Options { categorical: vec!["zip".to_owned()], ..Options::default() };
    assert_eq!(copied(csv, options, &Format::JSONL), "{\"zip\":\"10115\",\"n\":1}\n{\"zip\":\"01067\",\"n\":2}\n");
    assert_eq!(copied(csv, Options::default(), &Format::CSV), csv);
}

/// A column of which the last cell, beyond the first 10,000 rows, is another than the rest.
fn late(usual: [&str; 2], last: &str) -> String {
    let rows: String = (0..10_000).map(|row| format!("{}\n", usual[row % 2])).collect();
    format!("x\n{rows}{last}\n")
}

#[test]
fn a_later_cell_that_does_not_fit_is_an_error_with_a_remedy() {
    let message = |usual, last: &str| copy_error(&late(usual, last), Options::default(), &Format::PARQUET);
    assert_eq!(
        message(["1", "2"], "2.5"),
        "row 10001, column 'x': '2.5' is not a whole number, unlike the values in the first rows; \
         --numeric 'x' writes all as 64-bit floats, --categorical 'x' as text"
    );
    assert_eq!(
        message(["1", "2"], "18446744073709551615").split(';').next().unwrap(),
        "row 10001, column 'x': '18446744073709551615' is not a whole number, unlike the values in the first rows"
    );
    assert_eq!(
        message(["1.5", "2"], "late"),
        "row 10001, column 'x': 'late' is not a finite number, unlike the values in the first rows; \
         --categorical 'x' writes all as text"
    );
    assert_eq!(
        message(["true", "false"], "maybe"),
        "row 10001, column 'x': 'maybe' is neither true nor false, unlike the values in the first rows; \
         --categorical 'x' writes all as text"
    );
    let options = Options { numeric: vec!["x".to_owned()], ..Options::default() };
    let text = copied(&late(["1", "2"], "2.5"), options, &Format::JSONL);
    assert!(text.ends_with("{\"x\":2.5}\n"));
}

#[test]
fn tables_of_parquet_and_arrow_keep_their_types_and_digits() {
    let folder = Folder::new();
    let columns = vec![
        ("id", array(Int64Array::from(vec![i64::MAX, i64::MIN]))),
        ("code", array(StringArray::from(vec!["007", "1"]))),
        ("f", array(Float64Array::from(vec![Some(0.1), None]))),
        ("b", array(BooleanArray::from(vec![true, false]))),
        ("t", array(TimestampMillisecondArray::from(vec![0, 1]))),
    ];
    let (parquet, arrow) = (folder.path("x.parquet"), folder.path("x.arrow"));
    write_parquet(&parquet, &[batch(columns.clone())]);
    write_arrow(&arrow, &[batch(columns)]);
    for path in [parquet, arrow] {
        let (out, _) = copy_to(&[&path], Options::default(), &Format::JSONL).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "{\"id\":9223372036854775807,\"code\":\"007\",\"f\":0.1,\"b\":true,\"t\":\"1970-01-01T00:00:00\"}\n\
             {\"id\":-9223372036854775808,\"code\":\"1\",\"f\":null,\"b\":false,\"t\":\"1970-01-01T00:00:00.001\"}\n"
        );
        let (out, _) = copy_to(&[path], Options::default(), &Format::CSV).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "id,code,f,b,t\n\
             9223372036854775807,007,0.1,true,1970-01-01T00:00:00\n\
             -9223372036854775808,1,,false,1970-01-01T00:00:00.001\n"
        );
    }
}

#[test]
fn columns_to_ignore_are_left_out_and_further_files_are_bound_by_name() {
    let folder = Folder::new();
    let first = folder.write("1.csv", "a,b,c\n1,2,3\n");
    let second = folder.write("2.csv", "c,a\n6,4\n");
    let options = Options { ignore: vec!["b".to_owned()], ..Options::default() };
    let (out, converted) = copy_to(&[first, second], options, &Format::CSV).unwrap();
    assert_eq!(out, b"a,c\n1,3\n4,6\n");
    assert_eq!((converted.rows, converted.skipped), (2, 0));
}

#[test]
fn what_has_no_header_gets_none() {
    let options = Options { header: false, ..Options::default() };
    assert_eq!(copied("x,2\ny,3\n", options, &Format::TSV), "x\t2\ny\t3\n");
}

#[test]
fn lists_are_no_cells() {
    let folder = Folder::new();
    let mut builder = builder::ListBuilder::new(builder::StringBuilder::new());
    builder.append_value([Some("a")]);
    let path = folder.path("x.parquet");
    write_parquet(&path, &[batch(vec![("tags", array(builder.finish())), ("n", array(Int8Array::from(vec![1])))])]);
    let error = worded(copy_to(&[&path], Options::default(), &Format::CSV).unwrap_err());
    assert_eq!(
        folder.without(&error),
        "x.parquet, column 'tags': holds lists, and a cell is one value; leave it out with --ignore 'tags'"
    );
    let options = Options { ignore: vec!["tags".to_owned()], ..Options::default() };
    assert_eq!(copy_to(&[path], options, &Format::CSV).unwrap().0, b"n\n1\n");
}

#[test]
fn examples_are_no_table_and_tables_are_no_examples() {
    let folder = Folder::new();
    let csv = folder.write("x.csv", "y,x\n1,1\n0,2\n");
    let (out, _) = convert_to(&[&csv], target("y"), &Format::ARROW).unwrap();
    let arrow = folder.write("x.arrow", out);
    let svmlight = folder.write("x.svm", "1 1:2\n");
    for (path, format) in [(arrow, "arrow"), (svmlight, "svmlight")] {
        let error = worded(copy_to(&[path], Options::default(), &Format::CSV).unwrap_err());
        assert!(
            error.ends_with(&format!(
                ": is {format}, which holds examples, not a table; convert it to svmlight, vw or arrow"
            )),
            "{error}"
        );
    }
    let error = worded(convert_to(&[&csv], target("y"), &Format::CSV).unwrap_err());
    assert!(
        error.starts_with("csv cannot be written from these inputs; open tables with Reader::open_table"),
        "{error}"
    );
    let error = worded(copy_to(&[&csv], Options::default(), &Format::VW).unwrap_err());
    assert!(error.starts_with("vw cannot be written from these inputs"), "{error}");
}

#[test]
fn many_rows_of_a_table_make_a_parquet_that_is_read_again() {
    let rows: String = (0..50_000).map(|row| format!("{},{},w{}\n", row % 2, row, row % 9)).collect();
    let folder = Folder::new();
    let csv = folder.write("x.csv", format!("y,n,w\n{rows}"));
    let (out, converted) = copy_to(&[&csv], Options::default(), &Format::PARQUET).unwrap();
    assert_eq!(converted.rows, 50_000);
    let parquet = folder.write("x.parquet", out);
    let expected = read_all(&[csv], target("y")).unwrap();
    assert_eq!(read_all(&[parquet], target("y")).unwrap().rows, expected.rows);
}

#[test]
fn a_table_whose_output_is_full_is_a_fault_of_writing() {
    let folder = Folder::new();
    let csv = folder.write("x.csv", "y,a\n1,1\n0,2\n0,3\n");
    for format in &[Format::CSV, Format::JSONL, Format::PARQUET] {
        let whole = copy_to(&[&csv], Options::default(), format).unwrap().0.len();
        for room in 0..whole {
            let mut reader = Reader::open_table(&[Input::from(csv.as_path())], Options::default()).unwrap();
            let error = convert(&mut reader, format, Compression::None, &mut Full(room)).unwrap_err();
            let ConvertError::Write(error) = error else {
                panic!("{error}");
            };
            assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        }
    }
}
