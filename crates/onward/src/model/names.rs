//! The names of features, as far as they are known, in bounded memory.

use std::borrow::Cow;
use std::collections::HashMap;

use super::{Column, State};
use crate::Error;

/// Most bytes of names that are kept; those met later have none.
const MOST_BYTES: usize = 32 << 20;

/// Names by feature index: the first name met for each.
///
/// ```
/// let mut names = onward::model::Names::default();
/// names.add(3, "hour");
/// names.add(3, "minute");
/// names.add(4, "day");
/// names.add_product(9, &[3, 4]);
/// assert_eq!(names.get(3).as_deref(), Some("hour"));
/// assert_eq!(names.get(9).as_deref(), Some("hour*day"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Names {
    names: HashMap<u32, Box<str>>,
    bytes: usize,
    lost: u64,
    products: Products,
}

/// The products of features that have a name, by index: that of their factors. There can be
/// very many, so that names are made of them only when they are asked for.
#[derive(Debug, Clone, Default)]
struct Products {
    /// Where the factors of an index begin in `factors`, with their number first.
    starts: HashMap<u32, u32>,
    factors: Vec<u32>,
}

impl Products {
    fn get(&self, index: u32) -> Option<&[u32]> {
        let start = *self.starts.get(&index)? as usize;
        let count = self.factors[start] as usize;
        self.factors.get(start + 1..=start + count)
    }

    fn add(&mut self, index: u32, factors: &[u32]) {
        if self.starts.len() < Names::MOST_PRODUCTS && !self.starts.contains_key(&index) {
            self.starts.insert(index, self.factors.len() as u32);
            self.factors.push(factors.len() as u32);
            self.factors.extend_from_slice(factors);
        }
    }

    /// Index, number of factors, factors of each, in order of index.
    fn column(&self) -> Vec<u32> {
        let mut indices: Vec<u32> = self.starts.keys().copied().collect();
        indices.sort_unstable();
        let mut column = Vec::with_capacity(indices.len() + self.factors.len());
        for index in indices {
            let factors = self.get(index).unwrap_or_default();
            column.extend([index, factors.len() as u32]);
            column.extend_from_slice(factors);
        }
        column
    }

    /// From such a column.
    fn from_column(mut column: &[u32]) -> Option<Self> {
        let mut products = Self::default();
        while let [index, count, rest @ ..] = column {
            let (factors, after) = rest.split_at_checked(*count as usize)?;
            products.add(*index, factors);
            column = after;
        }
        column.is_empty().then_some(products)
    }
}

impl Names {
    /// Adds a name, unless the index has one or the memory for names is used up.
    pub fn add(&mut self, index: u32, name: &str) {
        if self.names.contains_key(&index) {
            return;
        }
        if self.bytes + name.len() > MOST_BYTES {
            self.lost += 1;
            return;
        }
        self.bytes += name.len();
        self.names.insert(index, name.into());
    }

    /// How many products of features are kept, at the most: those met first. A parser need not
    /// hand on more.
    pub const MOST_PRODUCTS: usize = 1 << 18;

    /// Adds a product of features, by their indices, unless the index has one or
    /// [`MOST_PRODUCTS`](Self::MOST_PRODUCTS) are kept.
    pub fn add_product(&mut self, index: u32, factors: &[u32]) {
        self.products.add(index, factors);
    }

    /// The name of an index; that of a product is `carrier=UA*origin=EWR`, with `#7` for a factor
    /// without a name.
    pub fn get(&self, index: u32) -> Option<Cow<'_, str>> {
        if let Some(name) = self.names.get(&index) {
            return Some(Cow::Borrowed(name));
        }
        let factors = self.products.get(index)?;
        let name = |index: &u32| match self.names.get(index) {
            Some(name) => name.to_string(),
            None => format!("#{index}"),
        };
        Some(Cow::Owned(factors.iter().map(name).collect::<Vec<_>>().join("*")))
    }

    /// How many names came when the memory for them was used up.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// How many names are kept.
    pub fn len(&self) -> usize {
        self.names.len() + self.products.starts.len()
    }

    /// Whether no name is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The names in order of index, as columns.
    pub fn state(&self) -> State {
        let mut indices: Vec<u32> = self.names.keys().copied().collect();
        indices.sort_unstable();
        let mut text = Vec::with_capacity(self.bytes);
        let mut ends = Vec::with_capacity(indices.len());
        for index in &indices {
            text.extend_from_slice(self.names[index].as_bytes());
            // At most MOST_BYTES: fits.
            ends.push(text.len() as u32);
        }
        let mut state = State::default();
        state.set("lost", self.lost as f64);
        state.set_column("index", Column::U32(indices));
        state.set_column("end", Column::U32(ends));
        state.set_column("text", Column::U8(text));
        if !self.products.starts.is_empty() {
            state.set_column("products", Column::U32(self.products.column()));
        }
        state
    }

    /// The names of a saved state.
    ///
    /// # Errors
    /// When something is missing or does not match.
    pub fn restore(state: &State) -> Result<Self, Error> {
        let damaged = || Error::model("the names of features do not match: the model is damaged");
        let (indices, ends, text) = (state.u32s("index")?, state.u32s("end")?, state.u8s("text")?);
        let text = std::str::from_utf8(text).map_err(|_| damaged())?;
        if indices.len() != ends.len() {
            return Err(damaged());
        }
        let mut names = Self::default();
        let mut start = 0;
        for (&index, &end) in indices.iter().zip(ends) {
            names.add(index, text.get(start..end as usize).ok_or_else(damaged)?);
            start = end as usize;
        }
        names.lost = state.number("lost")? as u64;
        if state.columns().contains_key("products") {
            names.products = Products::from_column(state.u32s("products")?).ok_or_else(damaged)?;
        }
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_named_by_their_factors_and_survive_saving() {
        let mut names = Names::default();
        names.add(3, "a=x");
        names.add(4, "b");
        names.add_product(90, &[3, 4]);
        names.add_product(7, &[4, 4, 5]);
        // The first one met keeps the index.
        names.add_product(90, &[4, 3]);
        for names in [Names::restore(&names.state()).unwrap(), names] {
            assert_eq!(names.get(90).as_deref(), Some("a=x*b"));
            assert_eq!(names.get(7).as_deref(), Some("b*b*#5"));
            assert_eq!(names.get(8), None);
            assert_eq!(names.len(), 4);
        }
    }

    #[test]
    fn no_more_products_are_kept_than_said() {
        let mut names = Names::default();
        (0..Names::MOST_PRODUCTS as u32 + 5).for_each(|index| names.add_product(index, &[1, 2]));
        assert_eq!(names.len(), Names::MOST_PRODUCTS);
    }

    #[test]
    fn damaged_products_are_refused() {
        let mut names = Names::default();
        names.add_product(90, &[3, 4]);
        for damaged in [vec![90], vec![90, 3, 3, 4], vec![90, 2, 3, 4, 5]] {
            let mut state = names.state();
            state.set_column("products", Column::U32(damaged));
            assert!(Names::restore(&state).is_err());
        }
        let mut state = names.state();
        state.set_column("products", Column::U8(vec![1]));
        assert!(Names::restore(&state).is_err());
    }
}
