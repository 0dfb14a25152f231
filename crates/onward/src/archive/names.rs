//! The names of features, as far as they are known, in bounded memory.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::Archive;
use crate::Error;
use crate::hashing::index_map::IndexMap;
use crate::simd::prefetch_at;

/// Most bytes of names that are kept; those met later have none.
const MOST_BYTES: usize = 16 << 20;
/// Most names: a million.
const MOST_NAMES: usize = 1 << 20;

/// Indices below this have a bit.
const LOW: u32 = 1 << 25;

/// Names by feature index: the first name met for each.
///
/// ```
/// let mut names = onward::archive::Names::default();
/// names.add(3, "hour");
/// names.add(3, "minute");
/// names.add(4, "day");
/// names.add_product(9, &[3, 4]);
/// assert_eq!(names.get(3).as_deref(), Some("hour"));
/// assert_eq!(names.get(9).as_deref(), Some("hour*day"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// Which low indices a name was met for, a bit each up to the largest: what is asked of each new name of each thread that
    /// parses. (With a million names of 2^24 indices 2 MB, where a map of their numbers has 16.)
    met: Vec<u64>,
    /// The number of each index that has a name, known as soon as it is asked for; names are one after the other in order of
    /// number: a million names are as many bytes and little more, and none of them is allocated.
    numbers: OnceLock<IndexMap>,
    indices: Vec<u32>,
    ends: Vec<u32>,
    text: String,
    /// How many names came when the memory for them was used up.
    lost: u64,
    products: ProductNames,
}

/// The products of features that have a name, by index: that of their factors. There can be
/// very many, so that names are made of them only when they are asked for.
#[derive(Debug, Clone, Default)]
struct ProductNames {
    /// Where what is known of an index begins in `all`.
    starts: IndexMap,
    /// Index, number of factors, and factors of one after the other.
    all: Vec<u32>,
    count: usize,
}

/// The first index and its factors of what is one after the other, and what comes then.
fn first_product(all: &[u32]) -> Option<(u32, &[u32], &[u32])> {
    let [index, count, rest @ ..] = all else { return None };
    let (factors, after) = rest.split_at_checked(*count as usize)?;
    Some((*index, factors, after))
}

impl ProductNames {
    fn get(&self, index: u32) -> Option<&[u32]> {
        let start = self.starts.find(index).ok()?;
        first_product(&self.all[start as usize..]).map(|(_, factors, _)| factors)
    }

    fn add(&mut self, index: u32, factors: &[u32]) {
        if self.count < Names::MOST_PRODUCTS
            && let Err(entry) = self.starts.find(index)
        {
            self.starts.insert(index, self.all.len() as u32, entry);
            self.all.extend([index, factors.len() as u32]);
            self.all.extend_from_slice(factors);
            self.count += 1;
        }
    }

    /// Index, number of factors, factors of each, in order of index.
    fn column(&self) -> Vec<u32> {
        let mut found = Vec::with_capacity(self.count);
        let mut rest = self.all.as_slice();
        while let Some((index, factors, after)) = first_product(rest) {
            found.push((index, factors));
            rest = after;
        }
        found.sort_unstable_by_key(|&(index, _)| index);
        let mut column = Vec::with_capacity(self.all.len());
        for (index, factors) in found {
            column.extend([index, factors.len() as u32]);
            column.extend_from_slice(factors);
        }
        column
    }

    /// From such a column.
    fn from_column(mut column: &[u32]) -> Option<Self> {
        let mut products = Self::default();
        while let Some((index, factors, after)) = first_product(column) {
            products.add(index, factors);
            column = after;
        }
        column.is_empty().then_some(products)
    }
}

impl Names {
    /// Adds a name, unless the index has one or the memory for names is used up.
    pub fn add(&mut self, index: u32, name: &str) {
        if !self.is_new(index) {
            return;
        }
        if self.text.len() + name.len() > MOST_BYTES || self.indices.len() == MOST_NAMES {
            self.lost += 1;
            return;
        }
        if let Some(numbers) = self.numbers.get_mut()
            && let Err(entry) = numbers.find(index)
        {
            numbers.insert(index, self.indices.len() as u32, entry);
        }
        self.indices.push(index);
        self.text.push_str(name);
        // At most MOST_BYTES: fits.
        self.ends.push(self.text.len() as u32);
    }

    /// Whether no name was met for an index; one is from now on.
    fn is_new(&mut self, index: u32) -> bool {
        if index >= LOW {
            return self.numbers().find(index).is_err();
        }
        let (word, bit) = ((index / 64) as usize, 1 << (index % 64));
        if word >= self.met.len() {
            self.met.resize((word + 1).next_power_of_two(), 0);
        }
        let before = self.met[word];
        self.met[word] |= bit;
        before & bit == 0
    }

    /// Where names are.
    fn numbers(&self) -> &IndexMap {
        self.numbers.get_or_init(|| IndexMap::of(&self.indices))
    }

    /// Adds many names. Looking an index up waits for memory where there are many: those to come are fetched meanwhile.
    ///
    /// ```
    /// let mut names = onward::archive::Names::default();
    /// names.add_all(&[7, 3], ["seven", "three"].into_iter());
    /// assert_eq!(names.get(3).as_deref(), Some("three"));
    /// ```
    pub fn add_all<'a>(&mut self, indices: &[u32], names: impl Iterator<Item = &'a str>) {
        /// How far ahead.
        const AHEAD: usize = 16;
        for (at, (&index, name)) in indices.iter().zip(names).enumerate() {
            if let Some(&later) = indices.get(at + AHEAD) {
                prefetch_at(&self.met, (later / 64) as usize);
            }
            self.add(index, name);
        }
    }

    /// The name with this number.
    fn numbered(&self, number: usize) -> &str {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.text[start as usize..self.ends[number] as usize]
    }

    fn plain(&self, index: u32) -> Option<&str> {
        self.numbers().find(index).ok().map(|number| self.numbered(number as usize))
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
        if let Some(name) = self.plain(index) {
            return Some(Cow::Borrowed(name));
        }
        let factors = self.products.get(index)?;
        let name = |&index: &u32| self.plain(index).map_or_else(|| format!("#{index}"), str::to_owned);
        Some(Cow::Owned(factors.iter().map(name).collect::<Vec<_>>().join("*")))
    }

    /// How many names are kept.
    pub fn len(&self) -> usize {
        self.indices.len() + self.products.count
    }

    /// Whether no name is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The names in order of index, as columns.
    ///
    /// # Errors
    /// When something is missing or does not match.
    pub fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        let mut order: Vec<usize> = (0..self.indices.len()).collect();
        order.sort_unstable_by_key(|&number| self.indices[number]);
        let mut indices: Vec<u32> = order.iter().map(|&number| self.indices[number]).collect();
        let (mut text, mut ends) = (Vec::with_capacity(self.text.len()), Vec::with_capacity(order.len()));
        for &number in &order {
            text.extend_from_slice(self.numbered(number).as_bytes());
            ends.push(text.len() as u32);
        }
        let (mut lost, mut products) = (self.lost, self.products.column());
        archive.count("lost", &mut lost)?;
        archive.column("index", &mut indices)?;
        archive.column("end", &mut ends)?;
        archive.column("text", &mut text)?;
        archive.optional_column("products", &mut products)?;
        if archive.is_loading() {
            let names = Self::of_columns(&indices, &ends, &text);
            let names = archive.require(names, "text", "must hold a name for each of 'index', up to its 'end'")?;
            let products = ProductNames::from_column(&products);
            let products = archive.require(products, "products", "must hold indices with their factors")?;
            *self = Self { lost, products, ..names };
        }
        Ok(())
    }

    /// Of such columns, if they fit together.
    fn of_columns(indices: &[u32], ends: &[u32], text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let (mut names, mut start) = (Self::default(), 0);
        for (&index, &end) in indices.iter().zip(ends) {
            names.add(index, text.get(start..end as usize)?);
            start = end as usize;
        }
        (indices.len() == ends.len()).then_some(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::{SavedColumn, State};

    fn saved(names: &Names) -> State {
        Archive::saved(|archive| names.clone().persist(archive)).unwrap()
    }

    fn loaded(state: State) -> Result<Names, Error> {
        let mut names = Names::default();
        names.persist(&mut Archive::loading(state)).map(|()| names)
    }

    #[test]
    fn the_first_name_of_an_index_is_kept_whenever_it_is_asked_for() {
        let mut random = crate::numeric::rng::SplitMix64::new(31);
        let (mut names, mut expected) = (Names::default(), std::collections::BTreeMap::new());
        for round in 0..4000 {
            // Low ones and such as have no bit, some of them again.
            let index = if round % 3 == 0 { LOW - 50 + random.below(500) as u32 } else { random.below(900) as u32 };
            let name = format!("{index} in round {round}");
            names.add(index, &name);
            let first = expected.entry(index).or_insert(name);
            if round > 2000 && round % 7 == 0 {
                assert_eq!(names.get(index).as_deref(), Some(first.as_str()));
            }
        }
        assert_eq!(names.len(), expected.len());
        for (index, name) in expected {
            assert_eq!(names.get(index), Some(Cow::Owned(name)));
        }
    }

    #[test]
    fn products_are_named_by_their_factors_and_survive_saving() {
        let mut names = Names::default();
        names.add(3, "a=x");
        names.add(4, "b");
        names.add_product(90, &[3, 4]);
        names.add_product(7, &[4, 4, 5]);
        // The first one met keeps the index.
        names.add_product(90, &[4, 3]);
        for names in [loaded(saved(&names)).unwrap(), names] {
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
            let mut state = saved(&names);
            state.set_column("products", SavedColumn::U32(damaged));
            assert!(loaded(state).is_err());
        }
        let mut state = saved(&names);
        state.set_column("products", SavedColumn::U8(vec![1]));
        assert!(loaded(state).is_err());
    }
}
