//! Columns of numbers of one type, and how a model file has them.

use std::borrow::Cow;

use safetensors::tensor::Dtype;

/// A number that columns hold.
pub trait ColumnNumber: Copy + Sized {
    /// The column of these numbers.
    fn column(values: Vec<Self>) -> SavedColumn;
    /// The numbers of a column, if it holds this type.
    fn values(column: SavedColumn) -> Option<Vec<Self>>;
}

/// Defines the columns: for each type of number its name in a model file.
macro_rules! columns {
    ($($(#[$meta:meta])* $name:ident($number:ty),)+) => {
        /// A column of numbers of one type.
        #[derive(Debug, Clone, PartialEq)]
        pub enum SavedColumn {
            $($(#[$meta])* $name(Vec<$number>),)+
        }

        impl SavedColumn {
            /// How many numbers the column holds.
            pub fn len(&self) -> usize {
                match self {
                    $(Self::$name(values) => values.len(),)+
                }
            }

            /// The type of its numbers in a model file.
            pub(super) fn dtype(&self) -> Dtype {
                match self {
                    $(Self::$name(_) => Dtype::$name,)+
                }
            }

            /// Its numbers in a model file: the lowest byte of each comes first.
            pub(super) fn bytes(&self) -> Cow<'_, [u8]> {
                match self {
                    $(Self::$name(values) => match cfg!(target_endian = "little") {
                        true => Cow::Borrowed(bytemuck::must_cast_slice(values)),
                        false => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
                    },)+
                }
            }

            /// The column of these bytes of a model file; `None` if no column has numbers of that type.
            pub(super) fn of_bytes(dtype: Dtype, bytes: &[u8]) -> Option<Self> {
                match dtype {
                    $(Dtype::$name => {
                        let numbers = bytes.as_chunks().0.iter().copied().map(<$number>::from_le_bytes);
                        Some(Self::$name(numbers.collect()))
                    })+
                    _ => None,
                }
            }
        }

        $(impl ColumnNumber for $number {
            fn column(values: Vec<Self>) -> SavedColumn {
                SavedColumn::$name(values)
            }

            fn values(column: SavedColumn) -> Option<Vec<Self>> {
                match column {
                    SavedColumn::$name(values) => Some(values),
                    _ => None,
                }
            }
        })+
    };
}

columns! {
    /// 32-bit floats (weights).
    F32(f32),
    /// 64-bit floats (sums and statistics).
    F64(f64),
    /// Feature indices.
    U32(u32),
    /// Text and small codes.
    U8(u8),
}

impl SavedColumn {
    /// Whether the column is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
