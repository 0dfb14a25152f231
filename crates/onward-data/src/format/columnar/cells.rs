//! Columns of Arrow arrays as cells: each is downcast once a batch, not once a cell.

use std::fmt::Write;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    DecimalType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray, GenericStringArray, OffsetSizeTrait, RecordBatch, StringViewArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Fields, Schema, TimeUnit};

use crate::encode::TextList;
use crate::format::csv::cells::unnamed;
use crate::schema::sample::ColumnSample;
use crate::schema::{CellValue, timestamp};
use crate::text::numbers;
use crate::text::numbers::print::shortest_single;

/// A column of a file once structs are flattened.
#[derive(Debug, Clone)]
pub(crate) struct LeafColumn {
    /// The names on the way to it, joined by dots; its number from 1 where it has none.
    pub(crate) name: String,
    pub(crate) data_type: DataType,
    /// The names on the way to it.
    pub(crate) path: Vec<String>,
}

/// The columns of a schema, structs flattened, in order.
pub(crate) fn leaves(schema: &Schema) -> Vec<LeafColumn> {
    let mut found = Vec::new();
    descend(schema.fields(), &mut Vec::new(), &mut found);
    for (at, leaf) in found.iter_mut().enumerate() {
        if leaf.name.is_empty() {
            leaf.name = unnamed(at);
        }
    }
    found
}

/// The columns of what was read of a file, named as in the whole file: those without a name are
/// numbered there. All of them are read if one is, because they are asked for by name.
pub(crate) fn projected(schema: &Schema, whole: &Schema) -> Vec<LeafColumn> {
    let is_unnamed = |leaf: &LeafColumn| leaf.path.concat().is_empty();
    let mut unnamed = leaves(whole).into_iter().filter(is_unnamed);
    let mut found = leaves(schema);
    for leaf in found.iter_mut().filter(|leaf| is_unnamed(leaf)) {
        if let Some(same) = unnamed.next() {
            leaf.name = same.name;
        }
    }
    found
}

fn descend(fields: &Fields, path: &mut Vec<String>, found: &mut Vec<LeafColumn>) {
    for field in fields {
        path.push(field.name().clone());
        match field.data_type() {
            DataType::Struct(fields) => descend(fields, path, found),
            data_type => {
                found.push(LeafColumn { name: path.join("."), data_type: data_type.clone(), path: path.clone() })
            }
        }
        path.pop();
    }
}

/// The arrays of a batch, structs flattened, in the order of [`leaves`], each with where
/// it is null because of itself or a struct around it.
pub(crate) fn arrays(batch: &RecordBatch) -> Vec<(ArrayRef, Option<NullBuffer>)> {
    let mut found = Vec::new();
    flatten(batch.columns(), None, &mut found);
    found
}

fn flatten(columns: &[ArrayRef], outer: Option<&NullBuffer>, found: &mut Vec<(ArrayRef, Option<NullBuffer>)>) {
    for array in columns {
        let nulls = NullBuffer::union(outer, array.nulls());
        match array.as_struct_opt() {
            Some(array) => flatten(array.columns(), nulls.as_ref(), found),
            None => found.push((ArrayRef::clone(array), nulls)),
        }
    }
}

/// What a type is called in a message, if its values cannot be features.
pub(crate) fn refused(data_type: &DataType) -> Option<String> {
    match element_type(data_type) {
        Some(element) if is_text(element) => None,
        Some(element) if element.is_numeric() => Some("list of numbers".to_owned()),
        Some(element) => Some(format!("list of {}", name_of(element))),
        None => (!is_scalar(data_type)).then(|| name_of(data_type)),
    }
}

/// The type of the elements of a list.
fn element_type(data_type: &DataType) -> Option<&DataType> {
    match data_type {
        DataType::List(field) | DataType::LargeList(field) | DataType::FixedSizeList(field, _) => {
            Some(field.data_type())
        }
        _ => None,
    }
}

fn name_of(data_type: &DataType) -> String {
    use DataType as T;
    let name = match data_type {
        T::Binary | T::LargeBinary | T::BinaryView | T::FixedSizeBinary(_) => "binary",
        T::Map(..) => "map",
        T::Interval(_) => "interval",
        T::Duration(_) => "duration",
        T::Time32(_) | T::Time64(_) => "time of day",
        T::List(_) | T::LargeList(_) | T::FixedSizeList(..) | T::ListView(_) | T::LargeListView(_) => "list",
        T::Struct(_) => "struct",
        T::Union(..) => "union",
        T::Dictionary(_, value) => return format!("dictionary of {}", name_of(value)),
        T::RunEndEncoded(..) => "run-end encoded",
        T::Boolean => "booleans",
        T::Date32 | T::Date64 => "dates",
        T::Timestamp(..) => "timestamps",
        other => return other.to_string(),
    };
    name.to_owned()
}

fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, value) => is_text(value),
        _ => false,
    }
}

/// Whether a value of the type is one cell.
pub(crate) fn is_scalar(data_type: &DataType) -> bool {
    use DataType as T;
    match data_type {
        T::Null | T::Boolean | T::Date32 | T::Date64 | T::Timestamp(..) => true,
        T::Dictionary(_, value) => !matches!(**value, T::Dictionary(..)) && is_scalar(value),
        data_type => is_text(data_type) || data_type.is_numeric(),
    }
}

/// Whether a column holds a set of strings per row.
pub(crate) fn is_set(data_type: &DataType) -> bool {
    element_type(data_type).is_some()
}

/// The zone of a timestamp that is a place, whose clock is not known here.
pub(crate) fn named_zone(data_type: &DataType) -> Option<&str> {
    match data_type {
        DataType::Timestamp(_, Some(zone)) if timestamp::fixed_offset(zone).is_none() => Some(zone),
        DataType::Dictionary(_, value) => named_zone(value),
        _ => None,
    }
}

/// How the cells of a column will be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CellForm {
    /// As what they are.
    Typed,
    /// As text wherever that says more than a 64-bit float: large integers, decimals, moments.
    Exact,
    /// As text that people read: short floats are short, too.
    Written,
}

/// A column of a batch, downcast.
pub(crate) struct ArrayCells<'a> {
    nulls: Option<NullBuffer>,
    values: ArrayValues<'a>,
}

enum ArrayValues<'a> {
    Missing,
    /// NaN is missing.
    Numbers(Vec<f64>),
    Booleans(&'a BooleanArray),
    Timestamps(Vec<i64>, TimeUnits),
    Text(&'a GenericStringArray<i32>),
    LargeText(&'a GenericStringArray<i64>),
    TextView(&'a StringViewArray),
    Written(TextList),
    Dictionary(Vec<usize>, Box<ArrayCells<'a>>),
    /// Where in the elements each row begins, and the last ends.
    Set(Vec<usize>, Box<ArrayCells<'a>>),
}

/// What moments are counted in.
#[derive(Debug, Clone, Copy)]
enum TimeUnits {
    Days,
    Seconds { per_second: i64, offset: Option<i64> },
}

/// Values as text.
fn texts<T>(values: impl ExactSizeIterator<Item = T>, mut write: impl FnMut(&mut String, T)) -> TextList {
    let (mut text, mut ends) = (String::new(), Vec::with_capacity(values.len()));
    for value in values {
        write(&mut text, value);
        ends.push(text.len());
    }
    TextList { bytes: text.into_bytes(), ends }
}

impl<'a> ArrayCells<'a> {
    /// Downcasts an array; `None` when its type is one of those [`refused`].
    pub(crate) fn new(array: &'a dyn Array, nulls: Option<NullBuffer>, form: CellForm) -> Option<Self> {
        let values = ArrayValues::new(array, form)?;
        Some(Self { nulls, values })
    }

    /// The cell of a row. (For a set, [`elements`](Self::elements) has them.)
    #[inline]
    pub(crate) fn cell(&self, row: usize) -> CellValue<'_> {
        if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return CellValue::Missing;
        }
        match &self.values {
            ArrayValues::Numbers(values) => CellValue::Number(values[row]),
            ArrayValues::Text(array) => CellValue::Text(array.value(row).as_bytes()),
            ArrayValues::LargeText(array) => CellValue::Text(array.value(row).as_bytes()),
            ArrayValues::TextView(array) => CellValue::Text(array.value(row).as_bytes()),
            ArrayValues::Written(written) => CellValue::Text(written.get(row)),
            ArrayValues::Booleans(array) => CellValue::Boolean(array.value(row)),
            ArrayValues::Timestamps(values, unit) => CellValue::Timestamp(unit.moment(values[row])),
            ArrayValues::Dictionary(keys, values) => values.cell(keys[row]),
            ArrayValues::Missing | ArrayValues::Set(..) => CellValue::Missing,
        }
    }

    pub(crate) fn is_set(&self) -> bool {
        matches!(self.values, ArrayValues::Set(..))
    }

    /// Takes in the cell of a row as inference does a cell of CSV, except that strings which
    /// look like numbers stay strings.
    pub(crate) fn look(&self, row: usize, seen: &mut ColumnSample) {
        match self.cell(row) {
            CellValue::Text(text) if self.is_written() => seen.text(text),
            CellValue::Missing if self.elements(row).is_some() => seen.sets += 1,
            cell => seen.cell(cell),
        }
    }

    fn is_written(&self) -> bool {
        match &self.values {
            ArrayValues::Written(_) => true,
            ArrayValues::Dictionary(_, values) => values.is_written(),
            _ => false,
        }
    }

    /// The strings of a row, if the column holds sets and this one is not null.
    pub(crate) fn elements(&self, row: usize) -> Option<impl Iterator<Item = &str>> {
        if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return None;
        }
        let ArrayValues::Set(starts, elements) = &self.values else { return None };
        let text = |at| match elements.cell(at) {
            CellValue::Text(text) => std::str::from_utf8(text).ok(),
            _ => None,
        };
        Some((starts[row]..starts[row + 1]).filter_map(text))
    }
}

impl<'a> ArrayValues<'a> {
    fn new(array: &'a dyn Array, form: CellForm) -> Option<Self> {
        use DataType as T;
        Some(match array.data_type() {
            T::Null => Self::Missing,
            T::Boolean => Self::Booleans(array.as_boolean()),
            T::Int8 => as_numbers::<Int8Type>(array, f64::from),
            T::Int16 => as_numbers::<Int16Type>(array, f64::from),
            T::Int32 => as_numbers::<Int32Type>(array, f64::from),
            T::UInt8 => as_numbers::<UInt8Type>(array, f64::from),
            T::UInt16 => as_numbers::<UInt16Type>(array, f64::from),
            T::UInt32 => as_numbers::<UInt32Type>(array, f64::from),
            T::Int64 => integers::<Int64Type>(array, form, |value| value as f64),
            T::UInt64 => integers::<UInt64Type>(array, form, |value| value as f64),
            T::Float16 => floats::<Float16Type>(array, form),
            T::Float32 => floats::<Float32Type>(array, form),
            T::Float64 => as_numbers::<Float64Type>(array, |value| value),
            T::Decimal32(..) => decimals::<Decimal32Type>(array, form, |value| Some(value.into())),
            T::Decimal64(..) => decimals::<Decimal64Type>(array, form, |value| Some(value.into())),
            T::Decimal128(..) => decimals::<Decimal128Type>(array, form, Some),
            T::Decimal256(..) => decimals::<Decimal256Type>(array, form, |value| value.to_i128()),
            T::Utf8 => Self::Text(array.as_string()),
            T::LargeUtf8 => Self::LargeText(array.as_string()),
            T::Utf8View => Self::TextView(array.as_string_view()),
            T::Date32 | T::Date64 | T::Timestamp(..) => moments(array, form)?,
            T::Dictionary(..) => dictionary(array, form)?,
            _ => set(array)?,
        })
    }
}

fn as_numbers<'a, T: ArrowPrimitiveType>(array: &dyn Array, number: impl Fn(T::Native) -> f64) -> ArrayValues<'a> {
    written_or_numbers::<T>(array, false, number, |_, _| {})
}

/// Values as text, or else as numbers.
fn written_or_numbers<'a, T: ArrowPrimitiveType>(
    array: &dyn Array,
    is_written: bool,
    number: impl Fn(T::Native) -> f64,
    mut write: impl FnMut(&mut String, T::Native),
) -> ArrayValues<'a> {
    let values = array.as_primitive::<T>().values();
    match is_written {
        true => ArrayValues::Written(texts(values.iter(), |text, &value| write(text, value))),
        false => ArrayValues::Numbers(values.iter().map(|&value| number(value)).collect()),
    }
}

fn integers<'a, T>(array: &dyn Array, form: CellForm, number: impl Fn(T::Native) -> f64) -> ArrayValues<'a>
where
    T: ArrowPrimitiveType<Native: std::fmt::Display>,
{
    written_or_numbers::<T>(array, form != CellForm::Typed, number, |text, value| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{value}");
    })
}

/// Floats of fewer than 64 bits.
fn floats<'a, T>(array: &dyn Array, form: CellForm) -> ArrayValues<'a>
where
    T: ArrowPrimitiveType<Native: Into<f32> + Into<f64>>,
{
    let mut buffer = Vec::new();
    written_or_numbers::<T>(array, form == CellForm::Written, T::Native::into, |text, value| {
        buffer.clear();
        shortest_single(value.into(), &mut buffer);
        text.extend(buffer.iter().map(|&byte| char::from(byte)));
    })
}

/// Decimals: `whole` has the digits as an integer, if it is not too large for one.
fn decimals<'a, T: DecimalType>(
    array: &dyn Array,
    form: CellForm,
    whole: impl Fn(T::Native) -> Option<i128>,
) -> ArrayValues<'a> {
    let decimals = array.as_primitive::<T>();
    let (precision, scale) = (decimals.precision(), decimals.scale());
    let written = |value: T::Native| T::format_decimal(value, precision, scale);
    let number = |value: T::Native| {
        let parsed = || numbers::finite(written(value).as_bytes()).unwrap_or(f64::INFINITY);
        decimal(whole(value), scale).unwrap_or_else(parsed)
    };
    written_or_numbers::<T>(array, form != CellForm::Typed, number, |text, value| text.push_str(&written(value)))
}

/// The float nearest to `digits` · 10^−`scale`, if both are small enough to tell at once.
fn decimal(digits: Option<i128>, scale: i8) -> Option<f64> {
    const EXACT: u128 = 1 << 53;
    let power = numbers::EXACT_POWERS.get(usize::try_from(scale).ok()?)?;
    // Both are exact, so the quotient is rounded once.
    let digits = digits.filter(|digits| digits.unsigned_abs() <= EXACT)?;
    Some(digits as f64 / power)
}

fn moments<'a>(array: &dyn Array, form: CellForm) -> Option<ArrayValues<'a>> {
    const PER_DAY: i64 = 86_400_000;
    let (values, unit): (Vec<i64>, _) = match array.data_type() {
        DataType::Date32 => (in_units::<Date32Type>(array, i64::from), TimeUnits::Days),
        DataType::Date64 => (in_units::<Date64Type>(array, |value| value.div_euclid(PER_DAY)), TimeUnits::Days),
        DataType::Timestamp(unit, zone) => {
            // The clock of a place is not known here: that of UTC is shown.
            let offset = zone.as_ref().map(|zone| timestamp::fixed_offset(zone).unwrap_or(0));
            let (values, per_second) = match unit {
                TimeUnit::Second => (in_units::<TimestampSecondType>(array, |value| value), 1),
                TimeUnit::Millisecond => (in_units::<TimestampMillisecondType>(array, |value| value), 1000),
                TimeUnit::Microsecond => (in_units::<TimestampMicrosecondType>(array, |value| value), 1_000_000),
                TimeUnit::Nanosecond => (in_units::<TimestampNanosecondType>(array, |value| value), 1_000_000_000),
            };
            (values, TimeUnits::Seconds { per_second, offset })
        }
        _ => return None,
    };
    Some(match form {
        CellForm::Typed => ArrayValues::Timestamps(values, unit),
        CellForm::Exact | CellForm::Written => {
            ArrayValues::Written(texts(values.into_iter(), |text, value| unit.write(text, value)))
        }
    })
}

fn in_units<T: ArrowPrimitiveType>(array: &dyn Array, unit: impl Fn(T::Native) -> i64) -> Vec<i64> {
    array.as_primitive::<T>().values().iter().map(|&value| unit(value)).collect()
}

impl TimeUnits {
    fn moment(self, value: i64) -> timestamp::Timestamp {
        match self {
            Self::Days => timestamp::from_date(value),
            Self::Seconds { per_second, offset } => timestamp::from_units(value, per_second, offset.unwrap_or(0)),
        }
    }

    fn write(self, text: &mut String, value: i64) {
        match self {
            Self::Days => timestamp::write_date(text, value),
            Self::Seconds { per_second, offset } => timestamp::write_units(text, value, per_second, offset),
        }
    }
}

fn dictionary<'a>(array: &'a dyn Array, form: CellForm) -> Option<ArrayValues<'a>> {
    let dictionary = array.as_any_dictionary_opt()?;
    let values: &'a ArrayRef = dictionary.values();
    if values.is_empty() {
        return Some(ArrayValues::Missing);
    }
    let keys = dictionary.normalized_keys();
    let values = ArrayCells::new(values, values.nulls().cloned(), form)?;
    Some(ArrayValues::Dictionary(keys, Box::new(values)))
}

/// Where in its elements each row of a list begins and the last ends, and the elements; `None` of what is no list.
pub(crate) fn list_parts(array: &dyn Array) -> Option<(Vec<usize>, &ArrayRef)> {
    fn parts<O: OffsetSizeTrait>(array: &dyn Array) -> (Vec<usize>, &ArrayRef) {
        let list = array.as_list::<O>();
        (list.value_offsets().iter().map(|offset| offset.as_usize()).collect(), list.values())
    }
    match array.data_type() {
        DataType::List(_) => Some(parts::<i32>(array)),
        DataType::LargeList(_) => Some(parts::<i64>(array)),
        DataType::FixedSizeList(_, length) => {
            let starts = (0..=array.len()).map(|row| row * *length as usize).collect();
            Some((starts, array.as_fixed_size_list().values()))
        }
        _ => None,
    }
}

fn set(array: &dyn Array) -> Option<ArrayValues<'_>> {
    let (starts, elements) = list_parts(array)?;
    if !is_text(elements.data_type()) {
        return None;
    }
    let elements = ArrayCells::new(elements, elements.nulls().cloned(), CellForm::Typed)?;
    Some(ArrayValues::Set(starts, Box::new(elements)))
}
