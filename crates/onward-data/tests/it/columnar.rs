//! Parquet and Arrow files, read.

#![cfg(feature = "arrow")]

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::types::{Decimal128Type, Float16Type, Int8Type, Int32Type};
use arrow_array::*;
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::IpcWriteOptions;
use arrow_schema::{DataType, Field, Fields};
use onward_data::{Input, Layout, OnError, Options, Reader};
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use proptest::prelude::*;

use crate::support::*;

// The same rows as CSV and as columns give the same bits.

/// A value of each kind that CSV can say.
#[derive(Debug, Clone)]
struct Values {
    label: Option<i64>,
    number: Option<f64>,
    single: Option<f32>,
    whole: Option<i32>,
    flag: Option<bool>,
    word: Option<String>,
    moment: Option<i64>,
    date: Option<i32>,
}

fn values() -> impl Strategy<Value = Values> {
    let maybe = |none: f64| move |strategy| prop::option::weighted(1.0 - none, strategy);
    (
        prop::option::weighted(0.9, 0i64..2),
        prop::option::weighted(0.8, prop_oneof![-1e6..1e6f64, Just(0.0), Just(-0.0), Just(1e-300), Just(f64::NAN)]),
        prop::option::weighted(0.9, -1e3..1e3f32),
        prop::option::weighted(0.9, prop_oneof![Just(7), any::<i32>()]),
        prop::option::weighted(0.9, any::<bool>()),
        maybe(0.1)("[a-e]{1,2}| x|é|say \"hi\"\n, you"),
        prop::option::weighted(0.9, -4_000_000_000_000_000i64..4_000_000_000_000_000),
        prop::option::weighted(0.9, -20_000..40_000i32),
    )
        .prop_map(|(label, number, single, whole, flag, word, moment, date)| Values {
            label,
            number,
            single,
            whole,
            flag,
            word,
            moment,
            date,
        })
}

fn as_batch(rows: &[Values]) -> RecordBatch {
    batch(vec![
        ("label", array(Int64Array::from_iter(rows.iter().map(|row| row.label)))),
        ("number", array(Float64Array::from_iter(rows.iter().map(|row| row.number)))),
        ("single", array(Float32Array::from_iter(rows.iter().map(|row| row.single)))),
        ("whole", array(Int32Array::from_iter(rows.iter().map(|row| row.whole)))),
        ("flag", array(BooleanArray::from_iter(rows.iter().map(|row| row.flag)))),
        ("word", array(StringArray::from_iter(rows.iter().map(|row| row.word.as_deref())))),
        ("moment", array(TimestampMicrosecondArray::from_iter(rows.iter().map(|row| row.moment)))),
        ("date", array(Date32Array::from_iter(rows.iter().map(|row| row.date)))),
    ])
}

/// ISO 8601 by arrow's own calendar, not by ours.
fn moment_text(microseconds: i64) -> String {
    let moment = arrow_array::temporal_conversions::timestamp_us_to_datetime(microseconds).unwrap();
    moment.format("%Y-%m-%dT%H:%M:%S%.6f").to_string()
}

fn date_text(days: i32) -> String {
    let date = arrow_array::temporal_conversions::date32_to_datetime(days).unwrap();
    date.format("%Y-%m-%d").to_string()
}

fn as_csv(rows: &[Values]) -> Vec<u8> {
    fn text<T: ToString>(value: &Option<T>) -> String {
        value.as_ref().map_or_else(String::new, T::to_string)
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["label", "number", "single", "whole", "flag", "word", "moment", "date"]).unwrap();
    for row in rows {
        let cells = [
            text(&row.label),
            text(&row.number),
            text(&row.single.map(f64::from)),
            text(&row.whole),
            text(&row.flag),
            text(&row.word),
            row.moment.map_or_else(String::new, moment_text),
            row.date.map_or_else(String::new, date_text),
        ];
        writer.write_record(cells).unwrap();
    }
    writer.into_inner().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn columns_and_csv_of_the_same_rows_give_the_same_bits(
        rows in prop::collection::vec(values(), 1..120),
        cut in 0.0..1.0f64,
        chunk_size in prop_oneof![Just(1usize), Just(40), Just(1000), Just(1 << 18)],
        threads in 1usize..4,
    ) {
        let folder = Folder::new();
        let csv = folder.write("x.csv", as_csv(&rows));
        let options = Options { threads, ..target("label") };
        let mut expected_reader = open(&[csv], options.clone()).unwrap();
        let expected = read(&mut expected_reader).unwrap();
        let batch = as_batch(&rows);
        let at = ((rows.len() as f64 * cut) as usize).max(1);
        let batches = [batch.slice(0, at), batch.slice(at, rows.len() - at)];
        let paths = [folder.path("x.parquet"), folder.path("x.arrow"), folder.path("x.arrows")];
        write_parquet(&paths[0], &batches);
        write_arrow(&paths[1], &batches);
        write_stream(&paths[2], &batches);
        for path in paths {
            let options = Options { chunk_size, ..options.clone() };
            let mut reader = open(&[&path], options).unwrap();
            prop_assert_eq!(reader.schema(), expected_reader.schema());
            prop_assert_eq!(&reader.notes()[1..], &expected_reader.notes()[1..]);
            let found = read(&mut reader).unwrap();
            prop_assert_eq!(&found.rows, &expected.rows, "{}", path.display());
            prop_assert_eq!(&found.names, &expected.names);
            let size = std::fs::metadata(&path).unwrap().len();
            prop_assert_eq!(reader.progress(), (size, Some(size)));
        }
    }
}

// What becomes of each type.

fn file(folder: &Folder, columns: Vec<(&str, ArrayRef)>) -> PathBuf {
    let path = folder.path("x.arrow");
    write_arrow(&path, &[batch(columns)]);
    path
}

/// The label column, alternating, and a column `n` that changes.
fn labels(rows: usize) -> Vec<(&'static str, ArrayRef)> {
    let label = Int8Array::from_iter_values((0..rows).map(|row| (row % 2) as i8));
    vec![("y", array(label))]
}

/// What the features of a column `x` are named and worth, row by row.
fn features_of(x: ArrayRef, options: Options) -> Vec<Vec<(String, f32)>> {
    let folder = Folder::new();
    let mut columns = labels(x.len());
    columns.push(("x", x));
    let batch = batch(columns);
    let (arrow, parquet) = (folder.path("x.arrow"), folder.path("x.parquet"));
    write_arrow(&arrow, std::slice::from_ref(&batch));
    let found = read_all(&[arrow], options.clone()).unwrap();
    // Parquet has no type for some, and the others are the same.
    if !matches!(batch.column(1).data_type(), DataType::Dictionary(..)) {
        write_parquet(&parquet, &[batch]);
        assert_eq!(read_all(&[parquet], options).unwrap().rows, found.rows);
    }
    let named = |row: &Row| {
        let features = row.features.iter().filter(|(index, _)| *index != 0);
        features.map(|&(index, bits)| (found.names[&index].clone(), f32::from_bits(bits))).collect()
    };
    found.rows.iter().map(named).collect()
}

fn numbers(x: ArrayRef) -> Vec<f32> {
    let rows = features_of(x, target("y"));
    let value = |row: Vec<(String, f32)>| match &row[..] {
        [(name, value)] if name == "x" => *value,
        [(name, 1.0)] if name == "x missing" => f32::NAN,
        other => panic!("{other:?}"),
    };
    rows.into_iter().map(value).collect()
}

#[test]
fn numbers_of_every_width_are_numbers() {
    let expected = [1.0, 2.0, 3.0];
    let arrays: Vec<ArrayRef> = vec![
        array(Int8Array::from(vec![1, 2, 3])),
        array(Int16Array::from(vec![1, 2, 3])),
        array(Int32Array::from(vec![1, 2, 3])),
        array(Int64Array::from(vec![1, 2, 3])),
        array(UInt8Array::from(vec![1, 2, 3])),
        array(UInt16Array::from(vec![1, 2, 3])),
        array(UInt32Array::from(vec![1, 2, 3])),
        array(UInt64Array::from(vec![1, 2, 3])),
        array(Float16Array::from_iter_values(
            [1.0f32, 2.0, 3.0].map(<Float16Type as ArrowPrimitiveType>::Native::from_f32),
        )),
        array(Float32Array::from(vec![1.0, 2.0, 3.0])),
        array(Float64Array::from(vec![1.0, 2.0, 3.0])),
        array(Decimal32Array::from(vec![100, 200, 300]).with_precision_and_scale(9, 2).unwrap()),
        array(Decimal64Array::from(vec![100, 200, 300]).with_precision_and_scale(18, 2).unwrap()),
        array(Decimal128Array::from(vec![100, 200, 300]).with_precision_and_scale(38, 2).unwrap()),
        array(
            Decimal256Array::from_iter_values([1i128, 2, 3].map(arrow_buffer::i256::from_i128))
                .with_precision_and_scale(76, 0)
                .unwrap(),
        ),
    ];
    for array in arrays {
        let name = array.data_type().to_string();
        assert_eq!(numbers(array), expected, "{name}");
    }
}

#[test]
fn decimals_are_the_nearest_floats_to_what_is_written() {
    let unscaled = [123_456_789_012_345_678_901_234_567_890i128, 5, 9_007_199_254_740_993, 1_234_500_000_000_000];
    let text = ["1234567890123456789.01234567890", "0.00000000005", "90071.99254740993", "12345"];
    let decimals = Decimal128Array::from(unscaled.to_vec()).with_precision_and_scale(38, 11).unwrap();
    let expected = text.map(|text| text.parse::<f64>().unwrap());
    let folder = Folder::new();
    // Labels are read by way of text, weights and features are not.
    let columns =
        vec![("y", array(decimals.clone())), ("w", array(decimals)), ("x", array(Int8Array::from(vec![1, 2, 3, 4])))];
    let path = file(&folder, columns);
    let found = read_all(&[path], Options { weight: Some("w".to_owned()), ..target("y") }).unwrap();
    let labels: Vec<_> = found.rows.iter().map(|row| f64::from_bits(row.label.unwrap())).collect();
    let weights: Vec<_> = found.rows.iter().map(|row| f64::from_bits(row.weight)).collect();
    assert_eq!((&labels[..], &weights[..]), (&expected[..], &expected[..]));
}

#[test]
fn integers_beyond_the_range_of_floats_are_rounded() {
    let large = Int64Array::from(vec![9_007_199_254_740_993, i64::MIN, 5]);
    assert_eq!(numbers(array(large)), [9_007_199_254_740_992.0, i64::MIN as f32, 5.0]);
}

#[test]
fn nulls_and_nan_are_missing() {
    let x = Float64Array::from(vec![Some(1.0), None, Some(f64::NAN), Some(2.0)]);
    let found = numbers(array(x));
    assert_eq!((found[0], found[3]), (1.0, 2.0));
    assert!(found[1].is_nan() && found[2].is_nan());
}

#[test]
fn a_column_of_nulls_only_gives_no_feature() {
    let mut columns = labels(3);
    columns.push(("n", array(Int8Array::from(vec![1, 2, 3]))));
    columns.push(("x", array(NullArray::new(3))));
    let folder = Folder::new();
    let found = read_all(&[file(&folder, columns)], target("y")).unwrap();
    assert!(found.rows.iter().all(|row| row.features.len() == 2));
}

#[test]
fn infinity_is_an_error_with_its_row_and_column() {
    let folder = Folder::new();
    let mut columns = labels(3);
    columns.push(("x", array(Float32Array::from(vec![1.0, 2.0, f32::NEG_INFINITY]))));
    let path = file(&folder, columns);
    assert_eq!(
        folder.without(&error_of(&[&path], target("y"))),
        "x.arrow, row 3, column 'x': the value is infinite; rescale the column, or leave it out with --ignore; \
         write a missing value as null"
    );
    let options = Options { on_error: OnError::Skip, ..target("y") };
    let found = read_all(&[path], options).unwrap();
    assert_eq!((found.rows.len(), found.skipped), (2, 1));
}

#[test]
fn strings_of_every_layout_are_categories_even_if_they_look_like_numbers() {
    let words = ["7", "7", "8", "7", "8"];
    let expected: Vec<_> = words.iter().map(|word| vec![(format!("x={word}"), 1.0)]).collect();
    let dictionary: DictionaryArray<Int8Type> = words.into_iter().collect();
    let arrays: Vec<ArrayRef> = vec![
        array(StringArray::from_iter_values(words)),
        array(LargeStringArray::from_iter_values(words)),
        array(StringViewArray::from_iter_values(words)),
        array(dictionary),
    ];
    for array in arrays {
        assert_eq!(features_of(array, target("y")), expected);
    }
}

#[test]
fn dictionaries_of_numbers_are_numbers_and_their_nulls_are_missing() {
    let keys = Int8Array::from(vec![Some(0), None, Some(1), Some(2)]);
    let values = Float64Array::from(vec![Some(1.5), Some(2.5), None]);
    let found = numbers(array(DictionaryArray::<Int8Type>::new(keys, array(values))));
    assert_eq!((found[0], found[2]), (1.5, 2.5));
    assert!(found[1].is_nan() && found[3].is_nan());
    let empty = DictionaryArray::<Int8Type>::new(
        Int8Array::from(vec![None, None]),
        array(StringArray::from(Vec::<&str>::new())),
    );
    assert_eq!(features_of(array(empty), Options { numeric: vec!["x".to_owned()], ..target("y") })[0].len(), 1);
}

#[test]
fn booleans_are_true_or_false() {
    let found = numbers(array(BooleanArray::from(vec![Some(true), None, Some(false)])));
    assert_eq!((found[0], found[2]), (1.0, 0.0));
    assert!(found[1].is_nan());
}

#[test]
fn timestamps_of_every_unit_and_zone_are_moments() {
    // 2013-01-01T05:15 is 15706.21875 days after 1970, and 2013-02-02T06:00 15738.25.
    let seconds = [1_357_017_300i64, 1_359_784_800];
    let in_unit = |per_second: i64| seconds.map(|second| second * per_second).to_vec();
    let arrays: Vec<ArrayRef> = vec![
        array(TimestampSecondArray::from(in_unit(1))),
        array(TimestampMillisecondArray::from(in_unit(1_000))),
        array(TimestampMicrosecondArray::from(in_unit(1_000_000))),
        array(TimestampNanosecondArray::from(in_unit(1_000_000_000))),
        array(TimestampMillisecondArray::from(in_unit(1_000)).with_timezone("UTC")),
    ];
    for array in arrays {
        let name = array.data_type().to_string();
        let found = features_of(array, target("y"));
        let expected: Vec<_> = [("x days", 0.0), ("x hour=5", 1.0), ("x weekday=Tue", 1.0), ("x month=1", 1.0)]
            .map(|(name, value)| (name.to_owned(), value))
            .to_vec();
        assert_eq!(found[0], expected, "{name}");
        assert_eq!(found[1][0], ("x days".to_owned(), 32.03125));
    }
    let ahead = TimestampSecondArray::from(vec![seconds[0], seconds[1]]).with_timezone("+23:00");
    let found = features_of(array(ahead), target("y"));
    assert_eq!(found[0][1].0, "x hour=4");
    assert_eq!(found[0][2].0, "x weekday=Wed");
    assert_eq!(found[1][0].1, 32.03125);
}

#[test]
fn the_clock_of_a_place_is_said_to_be_read_as_utc() {
    let folder = Folder::new();
    let mut columns = labels(2);
    let times = TimestampSecondArray::from(vec![0, 90_000]).with_timezone("Europe/Berlin");
    columns.push(("t", array(times)));
    let reader = open(&[file(&folder, columns)], target("y")).unwrap();
    let expected = "times of 't' are read as UTC, because the offset of Europe/Berlin is not known here";
    assert_eq!(reader.notes().last().unwrap().command_line(), expected);
}

#[test]
fn dates_are_moments_without_an_hour() {
    let day = 86_400_000i64;
    let arrays: Vec<ArrayRef> = vec![
        array(Date32Array::from(vec![Some(15706), None, Some(15738)])),
        array(Date64Array::from(vec![Some(15706 * day), None, Some(15738 * day)])),
    ];
    for array in arrays {
        let found = features_of(array, target("y"));
        let names: Vec<_> = found[0].iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["x days", "x weekday=Tue", "x month=1"]);
        assert_eq!(found[1], [("x missing".to_owned(), 1.0)]);
        assert_eq!(found[2][0].1, 32.0);
    }
}

#[test]
fn lists_of_strings_are_sets() {
    let mut builder = ListBuilder::new(StringBuilder::new());
    builder.append_value([Some("a"), None, Some("b")]);
    builder.append_null();
    builder.append_value([] as [Option<&str>; 0]);
    builder.append_value([Some("b")]);
    let lists = builder.finish();
    let name = |element: &str| (format!("x={element}"), 1.0);
    let expected = [vec![name("a"), name("b")], vec![], vec![], vec![name("b")]];
    let options = Options { ignore: Vec::new(), ..target("y") };
    assert_eq!(features_of(array(lists.clone()), options.clone()), expected);
    // A slice begins in the middle.
    assert_eq!(features_of(array(lists.slice(2, 2)), options.clone()), expected[2..]);
    let fixed = FixedSizeListArray::new(
        Arc::new(Field::new_list_field(DataType::Utf8, true)),
        2,
        array(StringArray::from(vec!["a", "b", "?", "?", "b", "c"])),
        Some(NullBuffer::from(vec![true, false, true])),
    );
    assert_eq!(features_of(array(fixed), options), [vec![name("a"), name("b")], vec![], vec![name("b"), name("c")]]);
}

#[test]
fn structs_are_flattened_and_a_null_struct_is_missing_in_all_its_columns() {
    let inner =
        Fields::from(vec![Field::new("deep", DataType::Float64, true), Field::new("bytes", DataType::Binary, true)]);
    let deep = StructArray::new(
        inner.clone(),
        vec![array(Float64Array::from(vec![1.0, 2.0, 3.0, 4.0])), array(BinaryArray::from(vec![b"a".as_ref(); 4]))],
        Some(NullBuffer::from(vec![true, false, true, true])),
    );
    let fields =
        Fields::from(vec![Field::new("s", DataType::Struct(inner), true), Field::new("w", DataType::Utf8, true)]);
    let outer = StructArray::new(
        fields,
        vec![array(deep), array(StringArray::from(vec!["u", "v", "u", "v"]))],
        Some(NullBuffer::from(vec![true, true, false, true])),
    );
    let folder = Folder::new();
    let mut columns = labels(4);
    columns.push(("x", array(outer)));
    let batch = batch(columns);
    let paths = [folder.path("x.arrow"), folder.path("x.parquet")];
    write_arrow(&paths[0], std::slice::from_ref(&batch));
    write_parquet(&paths[1], &[batch]);
    for path in paths {
        let error = error_of(&[&path], target("y"));
        assert!(error.contains("column 'x.s.bytes': its type is binary"), "{error}");
        let options = Options { ignore: vec!["x.s.bytes".to_owned()], ..target("y") };
        let found = read_all(&[path], options).unwrap();
        let named = |row: usize| -> Vec<_> {
            found.rows[row].named(&found.names).into_iter().filter(|(name, _)| name != "bias").collect()
        };
        let feature = |name: &str, value| (name.to_owned(), value);
        assert_eq!(named(0), [feature("x.s.deep", 1.0), feature("x.w=u", 1.0)]);
        assert_eq!(named(1), [feature("x.s.deep missing", 1.0), feature("x.w=v", 1.0)]);
        assert_eq!(named(2), [feature("x.s.deep missing", 1.0)]);
        assert_eq!(named(3), [feature("x.s.deep", 4.0), feature("x.w=v", 1.0)]);
    }
}

#[test]
fn ids_and_categories_of_large_integers_and_moments_keep_every_digit() {
    let folder = Folder::new();
    let mut columns = labels(2);
    columns.push(("n", array(Int8Array::from(vec![1, 2]))));
    columns.push(("id", array(UInt64Array::from(vec![u64::MAX, u64::MAX - 1]))));
    columns.push(("at", array(TimestampMicrosecondArray::from(vec![1, 1_500_000]).with_timezone("+02:00"))));
    columns.push(("code", array(Int64Array::from(vec![i64::MAX, i64::MAX - 1]))));
    let decimals = Decimal128Array::from(vec![12_345_678_901_234_567_890_123, -10]);
    columns.push(("decimal", array(decimals.with_precision_and_scale(38, 2).unwrap())));
    columns.push(("short", array(Float32Array::from(vec![Some(0.1), None]))));
    let path = file(&folder, columns);
    let ids = ["id", "at", "decimal", "short"].map(str::to_owned).to_vec();
    let options = Options { ids, categorical: vec!["code".to_owned()], ..target("y") };
    let found = read_all(&[path], options).unwrap();
    let ids: Vec<_> = found.rows.iter().map(|row| row.ids.clone()).collect();
    let expected = [
        ["18446744073709551615", "1970-01-01T02:00:00.000001+02:00", "123456789012345678901.23", "0.1"],
        ["18446744073709551614", "1970-01-01T02:00:01.5+02:00", "-0.10", ""],
    ];
    assert_eq!(ids, expected.map(|ids| ids.map(|id| id.as_bytes().to_vec()).to_vec()));
    let codes: Vec<_> = found.names.values().filter(|name| name.starts_with("code=")).collect();
    assert_eq!(codes.len(), 2);
    assert!(codes.contains(&&"code=9223372036854775807".to_owned()));
}

fn refused(x: ArrayRef) -> String {
    let folder = Folder::new();
    let mut columns = labels(x.len());
    columns.push(("n", array(Int8Array::from_iter_values(0..x.len() as i8))));
    columns.push(("x", x));
    let path = file(&folder, columns);
    let error = error_of(&[&path], target("y"));
    let ignored = Options { ignore: vec!["x".to_owned()], ..target("y") };
    assert_eq!(read_all(&[path], ignored).unwrap().rows.len(), 2);
    let error = folder.without(&error);
    let rest = error.strip_prefix("x.arrow, column 'x': its type is ").unwrap_or(&error);
    let rest = rest.strip_suffix(", which cannot be a feature; leave it out with --ignore 'x'").unwrap_or(rest);
    rest.to_owned()
}

#[test]
fn binary_is_refused() {
    assert_eq!(refused(array(BinaryArray::from(vec![b"a".as_ref(); 2]))), "binary");
    assert_eq!(refused(array(LargeBinaryArray::from(vec![b"a".as_ref(); 2]))), "binary");
    assert_eq!(refused(array(BinaryViewArray::from(vec![b"a".as_ref(); 2]))), "binary");
    let fixed = FixedSizeBinaryArray::try_from_iter([[1u8, 2], [3, 4]].into_iter()).unwrap();
    assert_eq!(refused(array(fixed)), "binary");
}

#[test]
fn times_of_day_durations_and_intervals_are_refused() {
    assert_eq!(refused(array(Time32SecondArray::from(vec![1, 2]))), "time of day");
    assert_eq!(refused(array(Time64NanosecondArray::from(vec![1, 2]))), "time of day");
    assert_eq!(refused(array(DurationSecondArray::from(vec![1, 2]))), "duration");
    assert_eq!(refused(array(IntervalYearMonthArray::from(vec![1, 2]))), "interval");
}

#[test]
fn lists_of_anything_but_strings_are_refused() {
    let list = |values: ArrayRef| {
        let field = Arc::new(Field::new_list_field(values.data_type().clone(), true));
        array(ListArray::new(field, OffsetBuffer::from_lengths([1, 1]), values, None))
    };
    assert_eq!(refused(list(array(Int32Array::from(vec![1, 2])))), "list of numbers");
    assert_eq!(refused(list(array(BooleanArray::from(vec![true, false])))), "list of booleans");
    assert_eq!(refused(list(array(Date32Array::from(vec![1, 2])))), "list of dates");
    assert_eq!(refused(list(list(array(StringArray::from(vec!["a", "b"]))))), "list of list");
    assert_eq!(refused(list(array(BinaryArray::from(vec![b"a".as_ref(); 2])))), "list of binary");
}

#[test]
fn maps_unions_and_runs_are_refused() {
    let mut map = arrow_array::builder::MapBuilder::new(None, StringBuilder::new(), StringBuilder::new());
    for _ in 0..2 {
        map.keys().append_value("k");
        map.values().append_value("v");
        map.append(true).unwrap();
    }
    assert_eq!(refused(array(map.finish())), "map");
    let runs = RunArray::<Int32Type>::try_new(&Int32Array::from(vec![2]), &StringArray::from(vec!["a"])).unwrap();
    assert_eq!(refused(array(runs)), "run-end encoded");
    let fields = [(0, Arc::new(Field::new("a", DataType::Int32, false)))].into_iter().collect();
    let union =
        UnionArray::try_new(fields, vec![0, 0].into(), None, vec![array(Int32Array::from(vec![1, 2]))]).unwrap();
    assert_eq!(refused(array(union)), "union");
}

#[test]
fn a_dictionary_of_what_is_refused_is_refused() {
    let values = array(BinaryArray::from(vec![b"a".as_ref()]));
    let dictionary = DictionaryArray::<Int8Type>::new(Int8Array::from(vec![0, 0]), values);
    assert_eq!(refused(array(dictionary)), "dictionary of binary");
}

#[test]
fn a_column_that_a_model_does_not_know_may_be_of_any_type() {
    let folder = Folder::new();
    let mut columns = labels(3);
    columns.push(("x", array(Int8Array::from(vec![1, 2, 3]))));
    let first = folder.path("first.parquet");
    write_parquet(&first, &[batch(columns.clone())]);
    let schema = open(&[first], target("y")).unwrap().schema().clone();
    columns.push(("blob", array(BinaryArray::from(vec![b"a".as_ref(); 3]))));
    let options = Options { schema: Some(schema), ..Options::default() };
    let mut reader = open(&[file(&folder, columns)], options).unwrap();
    assert_eq!(reader.notes()[1].command_line(), "columns that the model does not know, ignored: blob");
    assert_eq!(read(&mut reader).unwrap().rows.len(), 3);
}

#[test]
fn a_set_is_no_target_no_weight_and_no_id() {
    let folder = Folder::new();
    let mut columns = labels(2);
    let mut builder = ListBuilder::new(StringBuilder::new());
    builder.append_value([Some("a")]);
    builder.append_value([Some("b")]);
    columns.push(("tags", array(builder.finish())));
    columns.push(("n", array(Int8Array::from(vec![1, 2]))));
    let path = [file(&folder, columns)];
    let message = |options| folder.without(&error_of(&path, options));
    assert_eq!(
        message(target("tags")),
        "x.arrow, column 'tags': its type is list, and the target must have one value per row; name another column"
    );
    let tags = || vec!["tags".to_owned()];
    assert!(message(Options { ids: tags(), ..target("y") }).contains("an id must have one value per row"));
    assert!(
        message(Options { weight: Some("tags".to_owned()), ..target("y") }).contains("the weight must have one value")
    );
}

// Several files.

#[test]
fn further_files_are_bound_by_name_and_may_have_other_types() {
    let folder = Folder::new();
    let first = batch(vec![
        ("y", array(Int8Array::from(vec![0, 1, 0]))),
        ("x", array(Int32Array::from(vec![1, 2, 3]))),
        ("w", array(StringArray::from(vec!["a", "b", "a"]))),
    ]);
    let second = batch(vec![
        ("new", array(BinaryArray::from(vec![b"?".as_ref()]))),
        ("x", array(StringViewArray::from(vec!["4"]))),
        ("y", array(BooleanArray::from(vec![true]))),
    ]);
    let paths = [folder.path("1.parquet"), folder.path("2.parquet")];
    write_parquet(&paths[0], &[first]);
    write_parquet(&paths[1], &[second]);
    for threads in 1..4 {
        let options = Options { threads, chunk_size: 1, ..target("y") };
        let found = read_all(&paths, options).unwrap();
        assert_eq!(found.rows.len(), 4);
        let last = found.rows[3].named(&found.names);
        assert_eq!(last.into_iter().collect::<Vec<_>>(), [("bias".to_owned(), 1.0), ("x".to_owned(), 4.0)]);
        assert_eq!(found.rows[3].label, Some(1f64.to_bits()));
    }
}

#[test]
fn an_error_in_a_further_file_names_it_and_its_row() {
    let folder = Folder::new();
    let write = |name: &str, x: ArrayRef| {
        let mut columns = labels(x.len());
        columns.push(("x", x));
        let path = folder.path(name);
        write_arrow(&path, &[batch(columns)]);
        path
    };
    let good = write("good.arrow", array(Float64Array::from(vec![1.0, 2.0])));
    let bad = write("bad.arrow", array(StringArray::from(vec!["3", "four"])));
    let error = folder.without(&error_of(&[good.clone(), bad], target("y")));
    assert!(error.starts_with("bad.arrow, row 2, column 'x': expected a number, found 'four'"), "{error}");
    let blob = write("blob.arrow", array(BinaryArray::from(vec![b"a".as_ref(); 2])));
    let error = folder.without(&error_of(&[good, blob], target("y")));
    assert!(error.starts_with("blob.arrow, column 'x': its type is binary"), "{error}");
}

#[test]
fn inputs_of_two_formats_are_refused() {
    let folder = Folder::new();
    let mut columns = labels(2);
    columns.push(("x", array(Int8Array::from(vec![1, 2]))));
    let parquet = folder.path("x.parquet");
    write_parquet(&parquet, &[batch(columns.clone())]);
    let arrow = file(&folder, columns);
    let error = folder.without(&error_of(&[parquet, arrow], target("y")));
    assert_eq!(
        error,
        "x.arrow: is not a parquet file; all inputs must have one format: convert it first, or leave it out"
    );
}

#[test]
fn files_without_rows_are_passed_over_and_if_all_are_that_is_an_error() {
    let folder = Folder::new();
    let mut columns = labels(2);
    columns.push(("x", array(Int8Array::from(vec![1, 2]))));
    let full = batch(columns);
    let paths = [folder.path("empty.parquet"), folder.path("full.parquet")];
    write_parquet(&paths[0], &[full.slice(0, 0)]);
    write_parquet(&paths[1], &[full]);
    assert_eq!(read_all(&paths, target("y")).unwrap().rows.len(), 2);
    let error = folder.without(&error_of(&paths[..1], target("y")));
    assert_eq!(error, "empty.parquet: holds no rows; give an input with examples in it");
}

#[test]
fn a_name_that_occurs_twice_is_refused() {
    let folder = Folder::new();
    let fields = Fields::from(vec![Field::new("b", DataType::Int8, true)]);
    let nested = StructArray::new(fields, vec![array(Int8Array::from(vec![1, 2]))], None);
    let mut columns = labels(2);
    columns.push(("a", array(nested)));
    columns.push(("a.b", array(Int8Array::from(vec![1, 2]))));
    let error = folder.without(&error_of(&[file(&folder, columns)], target("y")));
    assert_eq!(error, "x.arrow: columns 2 and 3 are both named 'a.b'; rename one of them");
}

// Sizes.

#[test]
fn a_huge_row_group_comes_in_pieces() {
    let rows = 40_000;
    let mut columns = labels(rows);
    columns.push(("x", array(Float64Array::from_iter_values((0..rows).map(|row| row as f64)))));
    let batch = batch(columns);
    let folder = Folder::new();
    let (parquet, arrow) = (folder.path("x.parquet"), folder.path("x.arrow"));
    write_parquet(&parquet, std::slice::from_ref(&batch));
    write_arrow(&arrow, &[batch]);
    let expected = read_all(&[&parquet], target("y")).unwrap();
    assert_eq!(expected.largest_batch, 8192);
    for path in [parquet, arrow] {
        for chunk_size in [1, 100, 5000] {
            let options = Options { chunk_size, threads: 3, ..target("y") };
            let found = read_all(&[&path], options).unwrap();
            assert!(found.largest_batch <= chunk_size * 8, "{}", found.largest_batch);
            assert_eq!(found.rows, expected.rows);
        }
    }
}

#[test]
fn wide_strings_make_short_pieces() {
    let rows = 500;
    let mut columns = labels(rows);
    let texts = (0..rows).map(|row| format!("{row} ").repeat(10_000));
    columns.push(("x", array(StringArray::from_iter_values(texts))));
    let folder = Folder::new();
    let path = folder.path("x.parquet");
    write_parquet(&path, &[batch(columns)]);
    let options = Options { text: vec!["x".to_owned()], ..target("y") };
    let found = read_all(&[path], options).unwrap();
    assert_eq!(found.rows.len(), rows);
    assert!(found.largest_batch < 100, "{}", found.largest_batch);
}

#[test]
fn every_compression_that_was_built_in_is_read() {
    let mut columns = labels(1000);
    columns.push(("x", array(Int32Array::from_iter_values(0..1000))));
    columns.push(("w", array(StringArray::from_iter_values((0..1000).map(|row| format!("w{}", row % 7))))));
    let batch = [batch(columns)];
    let folder = Folder::new();
    let path = folder.path("x.parquet");
    write_parquet(&path, &batch);
    let expected = read_all(&[path], target("y")).unwrap().rows;
    let codecs = [
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
        Compression::ZSTD(Default::default()),
    ];
    for codec in codecs {
        let path = folder.path("c.parquet");
        write_parquet_with(&path, &batch, compressed(codec));
        assert_eq!(read_all(&[path], target("y")).unwrap().rows, expected, "{codec}");
    }
    for codec in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
        let path = folder.path("c.arrow");
        let options = IpcWriteOptions::default().try_with_compression(Some(codec)).unwrap();
        write_arrow_with(&path, &batch, options);
        assert_eq!(read_all(&[path], target("y")).unwrap().rows, expected, "{codec:?}");
    }
}

/// Written by pyarrow: 20 rows of y and x = 0, 1, ….
#[test]
fn brotli_is_read_where_it_was_built_in_and_refused_by_name_elsewhere() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/files/brotli.parquet");
    let found = read_all(&[path], target("y"));
    if cfg!(feature = "brotli") {
        assert_eq!(found.unwrap().rows.len(), 20);
        return;
    }
    let error = found.err().unwrap().command_line();
    let expected = "column 'y' is compressed with Brotli, which this build does not read; write the file with \
                    Zstandard or Snappy, or build Onward with the feature brotli";
    assert!(error.ends_with(expected), "{error}");
}

#[test]
fn pages_of_both_versions_and_without_dictionaries_are_read() {
    let mut columns = labels(1000);
    columns.push(("x", array(Int64Array::from_iter((0..1000).map(|row| (row % 3 > 0).then_some(row))))));
    columns.push((
        "w",
        array(StringArray::from_iter((0..1000).map(|row| (row % 5 > 0).then(|| format!("w{}", row % 7))))),
    ));
    let batch = [batch(columns)];
    let folder = Folder::new();
    let path = folder.path("x.arrow");
    write_arrow(&path, &batch);
    let expected = read_all(&[path], target("y")).unwrap().rows;
    for version in
        [parquet::file::properties::WriterVersion::PARQUET_1_0, parquet::file::properties::WriterVersion::PARQUET_2_0]
    {
        for dictionary in [true, false] {
            let properties = WriterProperties::builder()
                .set_writer_version(version)
                .set_dictionary_enabled(dictionary)
                .set_data_page_row_count_limit(70)
                .set_max_row_group_row_count(Some(300))
                .build();
            let path = folder.path("v.parquet");
            write_parquet_with(&path, &batch, properties);
            let options = Options { chunk_size: 64, ..target("y") };
            assert_eq!(read_all(&[path], options).unwrap().rows, expected);
        }
    }
}

// Files that are bad.

#[test]
fn what_cannot_be_sought_in_is_refused() {
    for format in [onward_data::Format::PARQUET, onward_data::Format::ARROW] {
        let options = Options { format: Some(format.clone()), ..target("y") };
        let error = Reader::open(&[Input::Standard], options).err().unwrap().command_line();
        assert_eq!(
            error,
            format!(
                "standard input: {format} must come from a file, because it is read by seeking; save it to a file first"
            )
        );
    }
}

#[test]
fn what_is_compressed_encrypted_empty_or_something_else_is_told_apart() {
    let folder = Folder::new();
    let message = |content: &[u8]| {
        let path = folder.write("x.parquet", content);
        let options = Options { format: Some(onward_data::Format::PARQUET), ..target("y") };
        folder.without(&error_of(&[path], options))
    };
    assert_eq!(message(b""), "x.parquet: is empty; give an input with examples in it");
    assert_eq!(
        message(b"\x1f\x8b\x08\0"),
        "x.parquet: is not a parquet file; it is compressed as a whole: decompress it first"
    );
    assert_eq!(message(b"PARE...."), "x.parquet: is not a parquet file; it is encrypted: decrypt it first");
    assert!(message(b"a,b\n1,2\n").starts_with("x.parquet: is not a parquet file; all inputs"));
}

/// Rows with some of everything in them, small enough to be cut at every byte.
fn mixed() -> RecordBatch {
    let words: DictionaryArray<Int32Type> = ["u", "v", "u", "w"].into_iter().collect();
    let mut tags = ListBuilder::new(StringBuilder::new());
    for row in 0..4 {
        tags.append_value([Some("a"), (row > 1).then_some("b")]);
    }
    let fields = Fields::from(vec![Field::new("d", DataType::Decimal128(20, 3), true)]);
    let decimal = PrimitiveArray::<Decimal128Type>::from(vec![Some(1), None, Some(3), Some(4)])
        .with_precision_and_scale(20, 3)
        .unwrap();
    let nested = StructArray::new(fields, vec![array(decimal)], Some(NullBuffer::from(vec![true, true, false, true])));
    let mut columns = labels(4);
    columns.extend([
        ("n", array(Float64Array::from(vec![Some(0.5), None, Some(2.5), Some(-1.0)]))),
        ("s", array(StringArray::from(vec![Some("long enough to be no inline view"), None, Some("b"), Some("c")]))),
        (
            "v",
            array(StringViewArray::from(vec![Some("another that is longer than twelve"), None, Some("b"), Some("c")])),
        ),
        ("w", array(words)),
        ("t", array(TimestampMillisecondArray::from(vec![1, 2, 3, 4]).with_timezone("UTC"))),
        ("f", array(BooleanArray::from(vec![Some(true), Some(false), None, Some(true)]))),
        ("tags", array(tags.finish())),
        ("x", array(nested)),
    ]);
    batch(columns)
}

/// The files that are damaged: a plain and a compressed one of each kind.
fn victims(folder: &Folder) -> Vec<PathBuf> {
    let batches = [mixed(), mixed()];
    let paths: Vec<_> = ["p.parquet", "z.parquet", "2.parquet", "a.arrow", "s.arrows", "l.arrow", "z.arrow"]
        .map(|name| folder.path(name))
        .to_vec();
    write_parquet(&paths[0], &batches);
    write_parquet_with(&paths[1], &batches, compressed(Compression::ZSTD(Default::default())));
    let properties = WriterProperties::builder()
        .set_writer_version(parquet::file::properties::WriterVersion::PARQUET_2_0)
        .set_compression(Compression::LZ4_RAW)
        .set_max_row_group_row_count(Some(3))
        .build();
    write_parquet_with(&paths[2], &batches, properties);
    // The dictionaries of both batches are the same: a file has one.
    write_arrow(&paths[3], &batches);
    write_stream(&paths[4], &batches);
    for (path, codec) in [(&paths[5], CompressionType::LZ4_FRAME), (&paths[6], CompressionType::ZSTD)] {
        let options = IpcWriteOptions::default().try_with_compression(Some(codec)).unwrap();
        write_arrow_with(path, &batches, options);
    }
    paths
}

/// Every byte of a plain file, and some of the others, for all take their time.
fn step(path: &Path) -> usize {
    match path.file_name().and_then(|name| name.to_str()) {
        Some("p.parquet" | "a.arrow") => 1,
        _ => 5,
    }
}

#[test]
fn a_file_that_was_cut_short_is_an_error_wherever_it_was_cut() {
    let folder = Folder::new();
    for path in victims(&folder) {
        let whole = std::fs::read(&path).unwrap();
        let rows = read_all(&[&path], target("y")).unwrap().rows;
        assert_eq!(rows.len(), 8);
        let file = File::options().write(true).open(&path).unwrap();
        for length in (0..whole.len()).rev().step_by(step(&path)) {
            file.set_len(length as u64).unwrap();
            match read_all(&[&path], one_thread()) {
                Err(error) => assert!(!error.to_string().contains("bug in Onward"), "{error}"),
                // A stream may end where a message does.
                Ok(found) => {
                    assert!(path.extension().unwrap() == "arrows", "{} at {length}", path.display());
                    assert_eq!(found.rows, rows[..found.rows.len()]);
                }
            }
        }
    }
}

fn one_thread() -> Options {
    Options { threads: 1, ..target("y") }
}

#[test]
fn a_file_with_damaged_bytes_is_an_error_or_is_read_but_never_a_panic() {
    let folder = Folder::new();
    let mut random = 88_172_645_463_325_252u64;
    for path in victims(&folder) {
        let whole = std::fs::read(&path).unwrap();
        let mut file = File::options().write(true).open(&path).unwrap();
        let mut change = |at: usize, byte: u8| {
            file.seek(SeekFrom::Start(at as u64)).unwrap();
            file.write_all(&[byte]).unwrap();
        };
        for (at, &byte) in whole.iter().enumerate().step_by(step(&path)) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            change(at, byte ^ if at % 3 == 0 { 0xff } else { 1 << (random % 8) });
            if let Err(error) = read_all(&[&path], one_thread()) {
                assert!(!error.to_string().contains("bug in Onward"), "{error}");
            }
            change(at, byte);
        }
    }
}

#[test]
fn a_parquet_footer_that_counts_other_rows_than_there_are_is_an_error() {
    // The test above would take such a file for one that is read.
    let folder = Folder::new();
    let path = &victims(&folder)[0];
    let whole = std::fs::read(path).unwrap();
    let rows = read_all(&[&path], target("y")).unwrap().rows;
    let footer = whole.len() - 8 - u32::from_le_bytes(whole[whole.len() - 8..][..4].try_into().unwrap()) as usize;
    for at in footer..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 2;
        let path = folder.write("damaged", &damaged);
        if let Ok(found) = read_all(&[path], one_thread()) {
            assert_eq!(found.rows.len(), rows.len(), "at {at}");
        }
    }
}

// Files of examples.

fn examples(label: ArrayRef, weight: ArrayRef, indices: ArrayRef, values: ArrayRef) -> RecordBatch {
    batch(vec![("label", label), ("weight", weight), ("indices", indices), ("values", values)])
}

fn lists(indices: Vec<Vec<u32>>, values: Vec<Vec<f32>>) -> (ArrayRef, ArrayRef) {
    let lengths = |lists: &[usize]| OffsetBuffer::<i32>::from_lengths(lists.iter().copied());
    let field = |data_type| Arc::new(Field::new_list_field(data_type, true));
    let index_lengths: Vec<_> = indices.iter().map(Vec::len).collect();
    let value_lengths: Vec<_> = values.iter().map(Vec::len).collect();
    (
        array(ListArray::new(
            field(DataType::UInt32),
            lengths(&index_lengths),
            array(UInt32Array::from(indices.concat())),
            None,
        )),
        array(ListArray::new(
            field(DataType::Float32),
            lengths(&value_lengths),
            array(Float32Array::from(values.concat())),
            None,
        )),
    )
}

#[test]
fn lists_of_indices_and_values_are_examples_as_they_are() {
    let folder = Folder::new();
    let (indices, values) = lists(vec![vec![0, 9, 4], vec![], vec![7]], vec![vec![1.0, 0.0, -0.0], vec![], vec![2.5]]);
    let label = array(Float64Array::from(vec![Some(1.0), None, Some(-1.0)]));
    let path = folder.path("x.arrow");
    let weight = array(Float64Array::from(vec![1.0, 0.0, 2.5]));
    write_arrow(&path, &[examples(label, weight, indices, values)]);
    for threads in 1..4 {
        let options = Options { threads, chunk_size: 1, ..Options::default() };
        let mut reader = open(&[&path], options).unwrap();
        assert_eq!(reader.schema().layout, Layout::Indexed);
        let rows = read(&mut reader).unwrap().rows;
        let features = |row: usize| -> Vec<_> {
            rows[row].features.iter().map(|&(index, bits)| (index, f32::from_bits(bits))).collect()
        };
        assert_eq!(features(0), [(0, 1.0), (9, 0.0), (4, -0.0)]);
        assert_eq!(rows[0].features[2].1, (-0.0f32).to_bits());
        assert_eq!(features(1), []);
        assert_eq!(features(2), [(7, 2.5)]);
        assert_eq!(
            rows.iter().map(|row| row.label).collect::<Vec<_>>(),
            [Some(1f64.to_bits()), None, Some((-1f64).to_bits())]
        );
        assert_eq!(f64::from_bits(rows[2].weight), 2.5);
    }
}

#[test]
fn each_way_in_which_an_example_can_be_bad_has_its_message() {
    let folder = Folder::new();
    let message = |indices: Vec<Vec<u32>>, values: Vec<Vec<f32>>, weight: f64| {
        let (indices, values) = lists(indices, values);
        let label = array(Float64Array::from(vec![Some(1.0)]));
        let path = folder.path("x.arrow");
        write_arrow(&path, &[examples(label, array(Float64Array::from(vec![weight])), indices, values)]);
        folder.without(&error_of(&[path], Options::default()))
    };
    assert_eq!(
        message(vec![vec![1 << 31]], vec![vec![1.0]], 1.0),
        "x.arrow, row 1, column 'indices': the index 2147483648 is 2^31 or more; \
         indices must be below 2^31: renumber the features"
    );
    assert_eq!(
        message(vec![vec![3]], vec![vec![f32::NAN]], 1.0),
        "x.arrow, row 1, column 'values': the value of feature 3 is NaN; \
         values must be finite: leave out a feature that is missing"
    );
    assert_eq!(
        message(vec![vec![3, 4]], vec![vec![1.0]], 1.0),
        "x.arrow, row 1: a row must have as many indices as values; got 2 and 1"
    );
    assert_eq!(
        message(vec![vec![3]], vec![vec![1.0]], -1.0),
        "x.arrow, row 1, column 'weight': the importance weight must be 0 or from 1e-38 to 3.4e38; got -1"
    );
    let offset_message = |offset: f64| {
        let (indices, values) = lists(vec![vec![3]], vec![vec![1.0]]);
        let columns =
            vec![("offset", array(Float64Array::from(vec![offset]))), ("indices", indices), ("values", values)];
        let path = folder.path("x.arrow");
        write_arrow(&path, &[batch(columns)]);
        folder.without(&error_of(&[path], Options::default()))
    };
    assert_eq!(
        offset_message(f64::NAN),
        "x.arrow, row 1, column 'offset': the offset (initial prediction) must be within ±3.4e38; got NaN"
    );
}

#[test]
fn a_null_as_the_weight_or_offset_of_an_example_is_called_missing() {
    let folder = Folder::new();
    let message = |name: &str| {
        let (indices, values) = lists(vec![vec![3]], vec![vec![1.0]]);
        let columns = vec![(name, array(Float64Array::from(vec![None]))), ("indices", indices), ("values", values)];
        let path = folder.path("x.arrow");
        write_arrow(&path, &[batch(columns)]);
        folder.without(&error_of(&[path], Options::default()))
    };
    assert_eq!(
        message("weight"),
        "x.arrow, row 1, column 'weight': the importance weight must be 0 or from 1e-38 to 3.4e38; got missing"
    );
    assert!(message("offset").contains("the offset (initial prediction) must be within ±3.4e38; got missing"));
}

#[test]
fn a_null_in_a_list_of_an_example_is_an_error() {
    let folder = Folder::new();
    let (_, values) = lists(vec![vec![1, 2]], vec![vec![1.0, 2.0]]);
    let field = Arc::new(Field::new_list_field(DataType::UInt32, true));
    let nulls = UInt32Array::from(vec![Some(1), None]);
    let indices = ListArray::new(field, OffsetBuffer::from_lengths([2]), array(nulls), None);
    let path = folder.path("x.arrow");
    let label = array(Float64Array::from(vec![Some(1.0)]));
    write_arrow(&path, &[examples(label.clone(), label, array(indices), values)]);
    assert_eq!(
        folder.without(&error_of(&[path], Options::default())),
        "x.arrow, row 1, column 'indices': holds a null; every row must be a list of numbers: leave out a feature that is missing"
    );
}

#[test]
fn labels_of_examples_go_through_the_rules_of_targets() {
    let folder = Folder::new();
    let (indices, values) = lists(vec![vec![1]; 3], vec![vec![1.0]; 3]);
    let label = array(Float64Array::from(vec![Some(1.0), Some(3.0), Some(2.0)]));
    let path = folder.path("x.arrow");
    let batch = batch(vec![("indices", indices), ("values", values), ("label", label)]);
    write_arrow(&path, &[batch]);
    let labels = |options| -> Vec<_> {
        let rows = read_all(&[&path], options).unwrap().rows;
        rows.iter().map(|row| f64::from_bits(row.label.unwrap())).collect()
    };
    assert_eq!(labels(Options::default()), [1.0, 3.0, 2.0]);
    assert_eq!(labels(target("label==3")), [-1.0, 1.0, -1.0]);
    let error = error_of(&[&path], target("x"));
    assert!(error.ends_with("there is no column 'x' in this format; the one target is called label: use --target 'label==3', or leave --target out"), "{error}");
}

#[test]
fn a_label_of_examples_that_is_no_number_is_refused() {
    let folder = Folder::new();
    let (indices, values) = lists(vec![vec![1]], vec![vec![1.0]]);
    let path = folder.path("x.arrow");
    let label = array(StringArray::from(vec!["1"]));
    write_arrow(&path, &[batch(vec![("indices", indices), ("values", values), ("label", label)])]);
    assert_eq!(
        folder.without(&error_of(&[path], Options::default())),
        "x.arrow, column 'label': its type is Utf8; \
         in a file of examples (columns 'indices' and 'values') it must be a number"
    );
}

#[test]
fn a_newer_layout_of_examples_is_refused_by_its_number() {
    let folder = Folder::new();
    let (indices, values) = lists(vec![vec![1]], vec![vec![1.0]]);
    let label = array(Float64Array::from(vec![1.0]));
    let batch = examples(label.clone(), label, indices, values);
    let newer = [("onward.version".to_owned(), "2".to_owned())];
    let schema = batch.schema().as_ref().clone().with_metadata(std::collections::HashMap::from(newer));
    let path = folder.path("x.arrow");
    write_arrow(&path, &[batch.with_schema(Arc::new(schema)).unwrap()]);
    assert_eq!(
        folder.without(&error_of(&[path], Options::default())),
        "x.arrow: holds examples in layout 2, and this Onward reads layout 1; read it with a newer Onward"
    );
}

#[test]
fn a_file_of_examples_of_the_first_layout_stays_readable() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/examples-1.arrow");
    let found = read_all(&[path], Options::default()).unwrap();
    let rows: Vec<_> = found.rows.iter().map(|row| (row.label.map(f64::from_bits), row.named(&found.names))).collect();
    let named = |features: &[(&str, f32)]| features.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    let expected = [
        (Some(1.0), named(&[("bias", 1.0), ("distance", 0.1), ("carrier=UA", 1.0)])),
        (Some(-1.0), named(&[("bias", 1.0), ("distance", -2.5), ("carrier=AA", 1.0)])),
        (None, named(&[("bias", 1.0), ("distance missing", 1.0), ("carrier=UA", 1.0)])),
    ];
    assert_eq!(rows, expected);
    assert_eq!(f64::from_bits(found.rows[1].weight), 2.5);
}

#[test]
fn a_table_and_examples_do_not_mix() {
    let folder = Folder::new();
    let (indices, values) = lists(vec![vec![1]], vec![vec![1.0]]);
    let ready = folder.path("ready.arrow");
    let label = array(Float64Array::from(vec![1.0]));
    write_arrow(&ready, &[examples(label.clone(), label, indices, values)]);
    let mut columns = labels(2);
    columns.push(("x", array(Int8Array::from(vec![1, 2]))));
    let table = file(&folder, columns);
    let error = folder.without(&error_of(&[table.clone(), ready.clone()], target("y")));
    assert!(error.starts_with("ready.arrow: is laid out in another way than the inputs before it"), "{error}");
    let schema = open(&[table], target("y")).unwrap().schema().clone();
    let options = Options { schema: Some(schema), ..Options::default() };
    let error = folder.without(&error_of(&[ready], options));
    assert!(error.starts_with("ready.arrow: the model was learnt from named columns, but this is arrow"), "{error}");
}

#[test]
fn a_later_file_without_the_target_is_told_before_the_first_is_read() {
    let folder = Folder::new();
    let (first, second) = (folder.path("first"), folder.path("second"));
    let column = || array(Float64Array::from(vec![0.5, 1.5, 2.5]));
    write_parquet(&first, &[batch(vec![("y", column()), ("x", column())])]);
    write_parquet(&second, &[batch(vec![("Y", column()), ("x", column())])]);
    let error = open(&[&first, &second], target("y")).err().unwrap().command_line();
    assert_eq!(folder.without(&error), "second: the target names 'y', which is not a column; did you mean 'Y'?");
    let schema = open(&[&first], target("y")).unwrap().schema().clone();
    let predicting = Options { schema: Some(schema), require_target: false, ..Options::default() };
    assert_eq!(read_all(&[&first, &second], predicting).unwrap().rows.len(), 6);
}

#[test]
fn a_later_file_is_checked_for_its_columns_as_the_first_is() {
    let folder = Folder::new();
    let (first, second, third) = (folder.path("first"), folder.path("second"), folder.path("third"));
    let column = || array(Float64Array::from(vec![0.5, 1.5, 2.5]));
    write_parquet(&first, &[batch(vec![("y", column()), ("x", column()), ("z", column())])]);
    write_parquet(&second, &[batch(vec![("y", column()), ("other", column())])]);
    write_parquet(&third, &[batch(vec![("y", column()), ("x", column()), ("new", column())])]);
    let error = |options| folder.without(&error_of(&[first.clone(), second.clone()], options));
    let learning = error(target("y"));
    assert!(learning.starts_with("second: has none of the first input's columns, x, z"), "{learning}");
    let schema = open(&[&first], target("y")).unwrap().schema().clone();
    let predicting = Options { schema: Some(schema), require_target: false, ..Options::default() };
    let found = error(predicting.clone());
    assert!(found.starts_with("second: has none of the model's columns, x, z"), "{found}");
    let reader = open(&[&first, &third], predicting).unwrap();
    let notes: Vec<_> = reader.notes().iter().map(|note| folder.without(&note.command_line())).collect();
    assert!(notes.contains(&"third: columns of the model that the input lacks, treated as missing: z".to_owned()));
    assert!(notes.contains(&"third: columns that the model does not know, ignored: new".to_owned()));
}

#[test]
fn a_column_without_a_name_is_called_by_its_number() {
    let folder = Folder::new();
    let numbers = |from: i32| array(Int32Array::from(vec![from, from + 1, from + 3]));
    // The first column is left out, and the one without a name is the first of what is read.
    let columns = || vec![("a", numbers(7)), ("", numbers(10)), ("y", array(Int32Array::from(vec![0, 1, 1])))];
    let (parquet, arrow) = (folder.path("x.parquet"), folder.path("x.arrow"));
    write_parquet(&parquet, &[batch(columns())]);
    write_arrow(&arrow, &[batch(columns())]);
    for path in [parquet, arrow] {
        let named = |ignore: &str| {
            let found = read_all(&[&path], Options { ignore: vec![ignore.to_owned()], ..target("y") }).unwrap();
            (found.rows[0].features[1].1, found.names.into_values().collect::<Vec<_>>())
        };
        assert_eq!(named("a"), (10f32.to_bits(), vec!["bias".to_owned(), "column 2".to_owned()]));
        assert_eq!(named("column 2"), (7f32.to_bits(), vec!["bias".to_owned(), "a".to_owned()]));
    }
}

#[test]
fn files_of_columns_are_read_from_memory_too() {
    let folder = Folder::new();
    let rows = batch(vec![
        ("y", array(Int64Array::from_iter((0..50).map(|at| Some(at % 2))))),
        ("x", array(Float64Array::from_iter((0..50).map(|at| Some(f64::from(at)))))),
    ]);
    let paths = ["1.parquet", "2.arrow", "3.arrows"].map(|name| folder.path(name));
    write_parquet(&paths[0], std::slice::from_ref(&rows));
    write_arrow(&paths[1], std::slice::from_ref(&rows));
    write_stream(&paths[2], std::slice::from_ref(&rows));
    for path in paths {
        let input = Input::bytes("memory", std::fs::read(&path).unwrap());
        let found = read(&mut Reader::open(&[input], target("y")).unwrap()).unwrap();
        assert_eq!(found.rows.len(), 50);
        assert_eq!(found, read_all(&[path], target("y")).unwrap());
    }
}
