//! Reads a value of any kind, which serde hands over by its type.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::schema::CellValue;

/// What takes a value of any kind.
pub(super) trait TakeValue<'de>: Sized {
    /// Null, a truth value or a number; `text` has the number as it is written.
    fn cell<E: Error>(self, cell: CellValue<'_>, text: impl Fn() -> String) -> Result<(), E>;

    fn text<E: Error>(self, text: &str) -> Result<(), E>;

    fn object<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error>;

    fn array<A: SeqAccess<'de>>(self, array: A) -> Result<(), A::Error>;
}

/// Reads a value of any kind.
pub(super) struct AnySeed<T>(pub(super) T);

impl<'de, T: TakeValue<'de>> DeserializeSeed<'de> for AnySeed<T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: TakeValue<'de>> Visitor<'de> for AnySeed<T> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.0.cell(CellValue::Missing, String::new)
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<(), E> {
        self.0.cell(CellValue::Boolean(flag), String::new)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        self.0.cell(CellValue::Number(number as f64), || number.to_string())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        self.0.cell(CellValue::Number(number as f64), || number.to_string())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        self.0.cell(CellValue::Number(number), || zmij::Buffer::new().format(number).to_owned())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.0.text(text)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.0.object(map)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, array: A) -> Result<(), A::Error> {
        self.0.array(array)
    }
}
