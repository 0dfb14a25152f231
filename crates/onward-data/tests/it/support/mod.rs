//! What the tests of columnar files and of converting share.

#![allow(unreachable_pub)]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use onward_data::{DataError, Input, Options, Reader};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

/// All that a reader gave, to the bit.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Read {
    pub rows: Vec<Row>,
    pub names: BTreeMap<u32, String>,
    pub skipped: u64,
    pub bytes: u64,
    pub largest_batch: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The bits; `None` is missing.
    pub label: Option<u64>,
    pub weight: u64,
    /// Indices with the bits of values.
    pub features: Vec<(u32, u32)>,
    pub ids: Vec<Vec<u8>>,
}

impl Row {
    /// The values by name.
    pub fn named(&self, names: &BTreeMap<u32, String>) -> BTreeMap<String, f32> {
        let named = |&(index, bits): &(u32, u32)| (names[&index].clone(), f32::from_bits(bits));
        self.features.iter().map(named).collect()
    }
}

pub fn open<P: AsRef<Path>>(paths: &[P], options: Options) -> Result<Reader, DataError> {
    let inputs: Vec<_> = paths.iter().map(|path| Input::from(path.as_ref())).collect();
    Reader::open(&inputs, options)
}

/// Reads all there is.
pub fn read(reader: &mut Reader) -> Result<Read, DataError> {
    let mut read = Read::default();
    let ids = reader.id_names().len();
    while let Some(parsed) = reader.next_batch()? {
        for (row, example) in parsed.batch.iter().enumerate() {
            read.rows.push(Row {
                label: example.label.map(f64::to_bits),
                weight: example.weight.to_bits(),
                features: example.features.iter().map(|(index, value)| (index, value.to_bits())).collect(),
                ids: if ids == 0 { Vec::new() } else { parsed.ids(row).map(<[u8]>::to_vec).collect() },
            });
        }
        for (index, name) in parsed.names.iter() {
            read.names.entry(index).or_insert_with(|| name.to_string());
        }
        read.skipped += parsed.skipped;
        read.bytes += parsed.bytes;
        read.largest_batch = read.largest_batch.max(parsed.batch.len());
    }
    Ok(read)
}

pub fn read_all<P: AsRef<Path>>(paths: &[P], options: Options) -> Result<Read, DataError> {
    read(&mut open(paths, options)?)
}

/// The error of reading files that have one.
pub fn error_of<P: AsRef<Path>>(paths: &[P], options: Options) -> String {
    read_all(paths, options).expect_err("there should be an error").command_line()
}

/// An error as the command line words it.
pub fn worded(error: onward_data::ConvertError) -> String {
    match error {
        onward_data::ConvertError::Data(error) => error.command_line(),
        other => other.to_string(),
    }
}

pub fn target(name: &str) -> Options {
    Options { target: Some(name.to_owned()), ..Options::default() }
}

pub fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap()
}

pub fn write_parquet(path: &Path, batches: &[RecordBatch]) {
    write_parquet_with(path, batches, WriterProperties::builder().build());
}

pub fn write_parquet_with(path: &Path, batches: &[RecordBatch], properties: WriterProperties) {
    let file = File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batches[0].schema(), Some(properties)).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.close().unwrap();
}

pub fn compressed(compression: Compression) -> WriterProperties {
    WriterProperties::builder().set_compression(compression).build()
}

pub fn write_arrow(path: &Path, batches: &[RecordBatch]) {
    write_arrow_with(path, batches, IpcWriteOptions::default());
}

pub fn write_arrow_with(path: &Path, batches: &[RecordBatch], options: IpcWriteOptions) {
    let file = File::create(path).unwrap();
    let mut writer = FileWriter::try_new_with_options(file, &batches[0].schema(), options).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.finish().unwrap();
}

pub fn write_stream(path: &Path, batches: &[RecordBatch]) {
    let file = File::create(path).unwrap();
    let mut writer = StreamWriter::try_new(file, &batches[0].schema()).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.finish().unwrap();
}

/// A folder, and how to name files in it.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// A message without the folder in it.
    pub fn without(&self, message: &str) -> String {
        message.replace(&format!("{}/", self.0.path().display()), "")
    }
}

pub fn array<A: arrow_array::Array + 'static>(array: A) -> ArrayRef {
    Arc::new(array)
}
