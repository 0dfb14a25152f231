//! Records as they come: one at a time, from a map or a JSON value, without a file, a reader or a thread.

use std::sync::Arc;

use serde::de::value::{Error, MapDeserializer, SeqDeserializer};
use serde::de::{Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use crate::encode::ParsedBatch;
use crate::error::DataError;
use crate::format::jsonl::ObjectEncoder;
use crate::open::{self, infer};
use crate::options::Options;
use crate::schema::{Layout, Schema};

/// Turns records into the examples that the reader of JSON lines would make of them.
///
/// With the schema of a model, columns are those of the schema, and keys that it does not know are hashed by their names. Without
/// one, all keys are, but for those that the options name: a number is a feature of the key, a string or truth value one of
/// `key=value`, and nested keys are joined by dots. A record without the target has no label.
///
/// ```
/// use onward_data::{Options, ParsedBatch, RecordEncoder};
/// use serde_json::json;
///
/// let options = Options { target: Some("delay>15".to_owned()), ..Options::default() };
/// let mut encoder = RecordEncoder::new(&options)?;
/// let mut rows = ParsedBatch::default();
/// encoder.encode(&json!({"delay": 20, "carrier": "UA", "distance": 733}), &mut rows)?;
/// encoder.encode_fields([("carrier", "AA".into()), ("distance", 1089.0.into())], &mut rows)?;
/// assert_eq!(rows.batch.get(0).label, Some(1.0));
/// assert_eq!(rows.batch.get(1).label, None);
/// // The bias, the carrier, the distance.
/// assert_eq!(rows.batch.get(1).features.len(), 3);
///
/// let error = encoder.encode(&json!({"delay": "late"}), &mut rows).unwrap_err();
/// assert_eq!(error.position().column.as_deref(), Some("delay"));
/// assert_eq!(rows.batch.len(), 2);
/// # Ok::<(), onward_data::DataError>(())
/// ```
pub struct RecordEncoder {
    objects: ObjectEncoder,
    schema: Arc<Schema>,
}

/// A value in a record.
#[derive(Debug, Clone, PartialEq)]
pub enum Field<'a> {
    /// Nothing is known.
    Missing,
    /// A number; NaN is missing.
    Number(f64),
    /// True or false.
    Boolean(bool),
    /// A text.
    Text(&'a str),
    /// Several: if all are numbers, the columns `name.0`, `name.1` and so on; else a set, each element a feature
    /// `name=element`.
    List(Vec<Field<'a>>),
}

impl From<f64> for Field<'_> {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for Field<'_> {
    fn from(flag: bool) -> Self {
        Self::Boolean(flag)
    }
}

impl<'a> From<&'a str> for Field<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a, F: Into<Field<'a>>> From<Option<F>> for Field<'a> {
    fn from(field: Option<F>) -> Self {
        field.map_or(Self::Missing, F::into)
    }
}

impl<'a, F: Into<Field<'a>>> From<Vec<F>> for Field<'a> {
    fn from(fields: Vec<F>) -> Self {
        Self::List(fields.into_iter().map(F::into).collect())
    }
}

impl<'de> Deserializer<'de> for Field<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Self::Missing => visitor.visit_unit(),
            Self::Number(number) if number.is_nan() => visitor.visit_unit(),
            Self::Number(number) if is_exact(number) => visitor.visit_i64(number as i64),
            Self::Number(number) => visitor.visit_f64(number),
            Self::Boolean(flag) => visitor.visit_bool(flag),
            Self::Text(text) => visitor.visit_str(text),
            Self::List(fields) => visitor.visit_seq(SeqDeserializer::new(fields.into_iter())),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct
        seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// Whether a number is a whole one that is written without a point.
fn is_exact(number: f64) -> bool {
    (number as i64) as f64 == number && number.abs() < 9_007_199_254_740_992.0
}

impl IntoDeserializer<'_, Error> for Field<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl RecordEncoder {
    /// An encoder by the [schema](Options::schema) of the options, or else by the columns that they name, the target at least.
    ///
    /// # Errors
    /// When the options do not go together, or the schema is not one of named columns.
    pub fn new(options: &Options) -> Result<Self, DataError> {
        open::check_options(options)?;
        let schema = match &options.schema {
            Some(schema) => schema.clone(),
            None => infer::unseen(options)?,
        };
        Self::of(Arc::new(schema), options)
    }

    fn of(schema: Arc<Schema>, options: &Options) -> Result<Self, DataError> {
        if schema.layout != Layout::Table {
            return Err(DataError::options("the schema describes features, not named columns")
                .advise("records need the schema of a table: CSV, JSON lines, Parquet"));
        }
        let rules = open::rules(Arc::clone(&schema), options, Default::default());
        Ok(Self { objects: ObjectEncoder::new(&rules), schema })
    }

    /// An encoder by the schema of a model.
    ///
    /// # Errors
    /// When it is not one of named columns.
    pub fn with_schema(schema: impl Into<Arc<Schema>>) -> Result<Self, DataError> {
        Self::of(schema.into(), &Options { require_target: false, ..Options::default() })
    }

    /// What the columns mean. A model that shares it knows the records of this encoder without comparing columns.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Adds a record to a batch: a JSON object as a value or a map, or whatever else deserializes as a map.
    ///
    /// # Errors
    /// When it is not a map, a value is not what its column holds, or the batch has rows of another schema. The batch is
    /// then as it was.
    pub fn encode<'de, R: Deserializer<'de>>(&mut self, record: R, out: &mut ParsedBatch) -> Result<(), DataError> {
        self.add(record, None, out)
    }

    /// Adds a record whose label is given apart.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn encode_labelled<'de, R: Deserializer<'de>>(
        &mut self,
        record: R,
        label: f64,
        out: &mut ParsedBatch,
    ) -> Result<(), DataError> {
        self.add(record, Some(label), out)
    }

    fn add<'de, R: Deserializer<'de>>(
        &mut self,
        record: R,
        label: Option<f64>,
        out: &mut ParsedBatch,
    ) -> Result<(), DataError> {
        let is_own = |schema: &Arc<Schema>| Arc::ptr_eq(schema, &self.schema) || *schema == self.schema;
        if out.schema.as_ref().is_some_and(|schema| !is_own(schema)) {
            return Err(DataError::options("the batch has rows of another schema").advise("clear it first"));
        }
        self.objects.object(record, label, out).or_else(|error| out.refuse(error, false))?;
        out.schema.get_or_insert_with(|| Arc::clone(&self.schema));
        Ok(())
    }

    /// Adds a record that is a sequence of names and values, each name once.
    ///
    /// # Errors
    /// As [`encode`](Self::encode).
    pub fn encode_fields<'f, 'n>(
        &mut self,
        fields: impl IntoIterator<Item = (&'n str, Field<'f>)>,
        out: &mut ParsedBatch,
    ) -> Result<(), DataError> {
        self.encode(MapDeserializer::<_, Error>::new(fields.into_iter()), out)
    }
}
