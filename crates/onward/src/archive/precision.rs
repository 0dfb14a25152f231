//! How precisely weights are kept.

use super::{Archive, SavedColumn};

/// The bits of the weights that a guarantee speaks of. With 32 bits a weight stands still where its steps have become
/// 2⁻²⁴ of it, after so many rounds or beside one of large importance, and its theorem no longer holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Precision {
    /// 32 bits, in models that were saved when weights had no more: they go on to the bit.
    Single,
    /// 64 bits.
    #[default]
    Double,
}

impl Precision {
    /// A weight as it is kept. A loop over weights takes one of both outside of it.
    #[inline]
    pub(crate) fn rounded(self, weight: f64) -> f64 {
        if self == Self::Single { single(weight) } else { weight }
    }
}

/// A weight with 32 bits.
#[inline]
pub(crate) fn single(weight: f64) -> f64 {
    f64::from(weight as f32)
}

impl Archive {
    /// The precision of the weights of a column: on loading that of the column, which a
    /// [`Field::Weight`](super::Field::Weight) then reads.
    pub(crate) fn precision(&self, name: &str, precision: &mut Precision) {
        if let Some(column) = self.saved_column(name) {
            let is_single = matches!(column, SavedColumn::F32(_));
            *precision = if is_single { Precision::Single } else { Precision::Double };
        }
    }
}
