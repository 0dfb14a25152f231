//! The table of an adaptive rule, and the row that is being learnt from.

// Of two halves of a block, both are worked on alike.
#![allow(clippy::needless_range_loop)]

use bytemuck::Zeroable;

use super::{AdaptiveRule, Entry};
use crate::Features;
use crate::numeric::sum::{self, LANES};
use crate::simd::f64x4::{self, F64x4, FOUR, by_f64x4};
use crate::storage::table::{ParameterTable, Positions, RowPositions};

/// The entries of all features, and the entries of a row while it is worked on.
#[derive(Debug, Clone)]
pub(crate) struct AdaptiveTable<R: AdaptiveRule<N>, const N: usize> {
    entries: ParameterTable<R::Entry>,
    /// Where the entries of this round's features are.
    positions: Positions,
    row: Vec<Block<N>>,
    /// How many blocks it fills.
    blocks: usize,
    /// Whether one of its features has a larger value than ever.
    is_wider: bool,
}

/// Eight features of a row side by side, in two halves. What a row lacks of a multiple of eight is filled up with
/// features of which all is 0.
#[derive(Debug, Clone, Copy, Zeroable)]
#[repr(C)]
struct Block<const N: usize> {
    value: [[f64; FOUR]; 2],
    numbers: [[[f64; FOUR]; N]; 2],
    /// What the weight moves by for u = 1.
    direction: [[f64; FOUR]; 2],
}

/// Where each of eight entries is among themselves.
const IN_ORDER: [u32; LANES] = [0, 1, 2, 3, 4, 5, 6, 7];

impl<R: AdaptiveRule<N>, const N: usize> Default for AdaptiveTable<R, N> {
    fn default() -> Self {
        let (entries, positions, row) = Default::default();
        Self { entries, positions, row, blocks: 0, is_wider: false }
    }
}

impl<R: AdaptiveRule<N>, const N: usize> AdaptiveTable<R, N> {
    /// The entries of all features.
    pub(crate) fn entries(&self) -> &ParameterTable<R::Entry> {
        &self.entries
    }

    /// The same, to be changed between rounds.
    pub(crate) fn entries_mut(&mut self) -> &mut ParameterTable<R::Entry> {
        &mut self.entries
    }

    /// The numbers of the row that has begun, as they are in the table.
    pub(crate) fn row<'a>(&'a self, x: Features<'a>) -> impl Iterator<Item = [f64; N]> + 'a {
        self.entries.these(self.positions.of(x).all()).map(R::Entry::numbers)
    }

    pub(super) fn dot(&self, rule: &R, x: Features<'_>) -> f64 {
        let products = self.entries.row(x).map(|(entry, value)| {
            let value = f64::from(value);
            rule.weight(entry.numbers(), value) * value
        });
        sum::sum(products)
    }

    pub(super) fn prefetch(&mut self, x: Features<'_>) {
        self.entries.prefetch(x);
    }

    /// Gathers the entries of a row. Gives ⟨w, x⟩.
    pub(super) fn begin(&mut self, rule: &R, x: Features<'_>) -> f64 {
        self.entries.locate(x, &mut self.positions);
        let positions = self.positions.of(x);
        self.blocks = positions.all().len().div_ceil(LANES);
        if self.blocks > self.row.len() {
            self.row.resize(self.blocks, Block::zeroed());
        }
        let (score, is_wider) = gather(rule, self.entries.all(), positions, x.values(), &mut self.row[..self.blocks]);
        self.is_wider = is_wider;
        score
    }

    /// Has the rule take in the gradient of the row that has begun. Gives the sums of its terms.
    pub(crate) fn observe(&mut self, rule: &mut R) -> [f64; 2] {
        let row = &mut self.row[..self.blocks];
        if self.is_wider {
            widen(&*rule, row);
        }
        observe(rule, row)
    }

    /// Moves the weights of the row by u times their directions, and writes all back. Gives the largest |w| of the row,
    /// if the rule [wants to know](AdaptiveRule::KNOWS_LARGEST) it.
    pub(crate) fn advance(&mut self, rule: &R, u: f64, x: Features<'_>) -> f64 {
        advance(rule, self.entries.all(), self.positions.of(x), &self.row[..self.blocks], u)
    }
}

by_f64x4! {
    fn gather<Q, R: AdaptiveRule<N>; const N: usize>(
        rule: &R,
        entries: &[R::Entry],
        positions: RowPositions<'_>,
        values: &[f32],
        row: &mut [Block<N>],
    ) -> (f64, bool) {
        assert!(positions.are_below(entries.len()), "a position beyond the table");
        let (mut products, mut is_wider) = ([Q::all(0.0); 2], false);
        let (whole, last) = positions.all().as_chunks::<LANES>();
        let (whole_values, last_values) = values.as_chunks::<LANES>();
        for (block, (positions, values)) in row.iter_mut().zip(whole.iter().zip(whole_values)) {
            // SAFETY: all positions were found to be those of entries.
            #[allow(unsafe_code)]
            unsafe { block.gather::<Q, R>(rule, entries, positions, values, &mut products, &mut is_wider) };
        }
        if let (false, Some(block)) = (last.is_empty(), row.last_mut()) {
            let (mut few, mut few_values) = ([R::Entry::zeroed(); LANES], [0.0; LANES]);
            for (at, (&position, &value)) in last.iter().zip(last_values).enumerate() {
                (few[at], few_values[at]) = (entries[position as usize], value);
            }
            // SAFETY: there are eight.
            #[allow(unsafe_code)]
            unsafe { block.gather::<Q, R>(rule, &few, &IN_ORDER, &few_values, &mut products, &mut is_wider) };
        }
        (f64x4::join(products), is_wider)
    }
}

by_f64x4! {
    fn widen<Q, R: AdaptiveRule<N>; const N: usize>(rule: &R, row: &mut [Block<N>]) {
        for block in row {
            for half in 0..2 {
                let numbers = load::<Q, N>(&block.numbers[half]);
                store(rule.widen(numbers, Q::load(&block.value[half])), &mut block.numbers[half]);
            }
        }
    }
}

by_f64x4! {
    fn observe<Q, R: AdaptiveRule<N>; const N: usize>(rule: &mut R, row: &mut [Block<N>]) -> [f64; 2] {
        let mut sums = [[Q::all(0.0); 2]; 2];
        for block in row {
            for half in 0..2 {
                let value = Q::load(&block.value[half]);
                let (numbers, direction, terms) = rule.observe(load::<Q, N>(&block.numbers[half]), value);
                for at in 0..2 {
                    sums[at][half] = sums[at][half] + terms[at];
                }
                store(numbers, &mut block.numbers[half]);
                direction.store(&mut block.direction[half]);
            }
        }
        [f64x4::join(sums[0]), f64x4::join(sums[1])]
    }
}

by_f64x4! {
    fn advance<Q, R: AdaptiveRule<N>; const N: usize>(
        rule: &R,
        entries: &mut [R::Entry],
        positions: RowPositions<'_>,
        row: &[Block<N>],
        u: f64,
    ) -> f64 {
        assert!(positions.are_below(entries.len()), "a position beyond the table");
        let (u, mut largest) = (Q::all(u), [Q::all(0.0); 2]);
        let (whole, last) = positions.all().as_chunks::<LANES>();
        for (block, positions) in row.iter().zip(whole) {
            // SAFETY: all positions were found to be those of entries.
            #[allow(unsafe_code)]
            unsafe { block.advance::<Q, R>(rule, u, entries, positions, &mut largest) };
        }
        if let (false, Some(block)) = (last.is_empty(), row.last()) {
            let mut few = [R::Entry::zeroed(); LANES];
            // SAFETY: there are eight.
            #[allow(unsafe_code)]
            unsafe { block.advance::<Q, R>(rule, u, &mut few, &IN_ORDER, &mut largest) };
            for (&position, entry) in last.iter().zip(few) {
                entries[position as usize] = entry;
            }
        }
        largest[0].larger(largest[1]).numbers().into_iter().fold(0.0, f64::max)
    }
}

impl<const N: usize> Block<N> {
    /// Reads the entries at eight positions.
    ///
    /// # Safety
    /// All positions are below the number of entries.
    #[inline(always)]
    #[allow(unsafe_code)]
    unsafe fn gather<Q: F64x4, R: AdaptiveRule<N>>(
        &mut self,
        rule: &R,
        entries: &[R::Entry],
        positions: &[u32; LANES],
        values: &[f32; LANES],
        products: &mut [Q; 2],
        is_wider: &mut bool,
    ) {
        let positions: &[[u32; FOUR]; 2] = bytemuck::must_cast_ref(positions);
        let values: &[[f32; FOUR]; 2] = bytemuck::must_cast_ref(values);
        for half in 0..2 {
            // SAFETY: the caller says that all positions are there.
            let numbers = unsafe { R::Entry::gather::<Q>(entries, &positions[half]) };
            let value = Q::widen(Q::load_f32(&values[half]));
            products[half] = products[half] + rule.weight(numbers, value) * value;
            *is_wider |= rule.is_wider(numbers, value);
            value.store(&mut self.value[half]);
            store(numbers, &mut self.numbers[half]);
        }
    }

    /// Moves the weights, and writes the entries at eight positions.
    ///
    /// # Safety
    /// All positions are below the number of entries.
    #[inline(always)]
    #[allow(unsafe_code)]
    unsafe fn advance<Q: F64x4, R: AdaptiveRule<N>>(
        &self,
        rule: &R,
        u: Q,
        entries: &mut [R::Entry],
        positions: &[u32; LANES],
        largest: &mut [Q; 2],
    ) {
        let positions: &[[u32; FOUR]; 2] = bytemuck::must_cast_ref(positions);
        for half in 0..2 {
            let change = u * Q::load(&self.direction[half]);
            let numbers = rule.step(load::<Q, N>(&self.numbers[half]), change);
            if R::KNOWS_LARGEST {
                largest[half] = rule.weight(numbers, Q::all(0.0)).abs().larger(largest[half]);
            }
            // SAFETY: the caller says that all positions are there.
            unsafe { R::Entry::scatter(entries, &positions[half], numbers) }
        }
    }
}

#[inline(always)]
fn load<Q: F64x4, const N: usize>(numbers: &[[f64; FOUR]; N]) -> [Q; N] {
    let mut loaded = [Q::all(0.0); N];
    for (loaded, number) in loaded.iter_mut().zip(numbers) {
        *loaded = Q::load(number);
    }
    loaded
}

#[inline(always)]
fn store<Q: F64x4, const N: usize>(numbers: [Q; N], into: &mut [[f64; FOUR]; N]) {
    for (number, into) in numbers.into_iter().zip(into) {
        number.store(into);
    }
}
