//! Products of features from two to eight groups, made as rows are read.
//!
//! Where a group meets itself (`a*a`), each unordered combination of its features is made
//! once, including that of a feature with itself. Features of a table that are always 1 (categories,
//! elements of sets, truth values) have no such squares, which would say nothing new.
//!
//! The value is the product of the values, in 64 bits, then narrowed to 32; zeros are dropped. The index
//! is that of the hash [`onward::hashing::feature_hash::product`] of the indices. The bias and
//! indicators of missing values belong to no group.

use std::collections::HashSet;

use onward::archive::Names;
use onward::hashing::feature_hash as hash;

use super::{NamesSeen, ParsedBatch, TextList};
use crate::error::{DataError, MEND, Result};
use crate::schema::interactions::{
    Combinations, Interaction, Level, MOST_PRODUCTS, MOST_TERMS, NONE, distinct_names, features,
};
use crate::schema::{Column, Kind, Role, Schema};

/// Features of a group below this index are multiplied with themselves: those whose square says what they do not.
fn square_limit(kind: &Kind, reserved: u32) -> u32 {
    match kind {
        Kind::Numeric { .. } | Kind::Timestamp { .. } => reserved,
        Kind::Text => u32::MAX,
        Kind::Boolean { .. } | Kind::Categorical { .. } => 0,
    }
}

/// How groups are told apart.
enum FeatureGroups {
    /// The group of each column of a table.
    Columns(Vec<u32>),
    /// The seeds of the namespaces that are named.
    Named(Vec<u64>),
    /// All namespaces, because there are wildcards.
    All(NamespaceGroups),
}

impl FeatureGroups {
    /// The names of the groups of a combination.
    fn names(&self, levels: &[Level], schema: &Schema) -> String {
        let name = |group: usize| match self {
            Self::Columns(_) => features(&schema.columns).nth(group).map(|column| column.name.clone()),
            Self::Named(_) => distinct_names(&schema.interactions).get(group).map(|&name| name.to_owned()),
            Self::All(met) => {
                met.distinct.get(group).map(|&part| String::from_utf8_lossy(met.names.get(part)).into_owned())
            }
        };
        let names: Vec<_> = levels.iter().map(|level| name(level.group as usize).unwrap_or_default()).collect();
        names.join("*")
    }
}

/// The namespaces of a row, where each is a group. The combinations stay as long as rows have the
/// same namespaces in the same order.
#[derive(Debug, Default)]
struct NamespaceGroups {
    interactions: Vec<Interaction>,
    /// Of each part of the row, the seed and the name of its namespace.
    seeds: Vec<u64>,
    names: TextList,
    /// The seeds of the row that the combinations were made for, and the groups of its parts.
    known: Vec<u64>,
    groups: Vec<u32>,
    /// The first part of each name, in the order of the names.
    distinct: Vec<usize>,
}

impl NamespaceGroups {
    /// Numbers the groups by the order of their names, and makes their combinations.
    fn settle(&mut self, combinations: &mut Combinations) -> Result<(), u64> {
        if self.seeds == self.known {
            return Ok(());
        }
        self.known.clear();
        let mut order: Vec<usize> = (0..self.seeds.len()).collect();
        order.sort_unstable_by(|&one, &other| self.names.get(one).cmp(self.names.get(other)));
        self.groups.clear();
        self.groups.resize(order.len(), NONE);
        self.distinct.clear();
        for part in order {
            if self.distinct.last().is_none_or(|&last| self.names.get(last) != self.names.get(part)) {
                self.distinct.push(part);
            }
            self.groups[part] = self.distinct.len() as u32 - 1;
        }
        let find = |name: &str| self.distinct.binary_search_by(|&part| self.names.get(part).cmp(name.as_bytes())).ok();
        combinations.expand(&self.interactions, self.distinct.len(), find)?;
        self.known.extend_from_slice(&self.seeds);
        Ok(())
    }
}

/// Consecutive features of a row that belong to one group.
#[derive(Debug, Clone, Copy)]
struct GroupSpan {
    group: u32,
    /// Where they begin in the row: they end where the next part begins.
    start: u32,
}

/// A feature that is multiplied with others.
#[derive(Debug, Clone, Copy)]
struct Factor {
    index: u32,
    value: f32,
    /// Its place in the row.
    place: u32,
    has_square: bool,
}

/// Makes the products of each row. A parser has one of its own, if there are interactions: it
/// tells where groups begin, and at the end of the row the products are added to it.
pub(crate) struct InteractionEncoder {
    groups: FeatureGroups,
    combinations: Combinations,
    /// Of each group, the index below which its features have squares; all have, if none is told.
    squares: Vec<u32>,
    meets_itself: Vec<bool>,
    parts: Vec<GroupSpan>,
    /// The factors by group, and where each group's begin and end.
    factors: Vec<Factor>,
    ranges: Vec<(u32, u32)>,
    naming: ProductNames,
    /// The first index of hashed features.
    reserved: u32,
}

/// Which products have been handed on, to be named.
#[derive(Debug, Default)]
struct ProductNames {
    seen: NamesSeen,
    count: usize,
}

impl ProductNames {
    /// Whether a product must be handed on. A reader keeps a limited number, the first that it met: a
    /// parser, which reads ever later pieces, need not look at more.
    #[inline]
    fn wants(&mut self, index: u32) -> bool {
        self.count < Names::MOST_PRODUCTS && self.seen.first(index)
    }
}

impl InteractionEncoder {
    /// For the columns of a table; `None` without interactions.
    pub(crate) fn of_columns(schema: &Schema) -> Option<Box<Self>> {
        if schema.interactions.is_empty() {
            return None;
        }
        let combinations = Combinations::of_columns(&schema.interactions, &schema.columns).unwrap_or_default();
        let used: HashSet<u32> = combinations.levels.iter().map(|level| level.group).collect();
        let (reserved, mut squares) = (schema.reserved(), Vec::new());
        let mut group = |column: &Column| {
            let Role::Feature(kind) = &column.role else { return NONE };
            let group = squares.len() as u32;
            squares.push(square_limit(kind, reserved));
            if used.contains(&group) { group } else { NONE }
        };
        let groups = schema.columns.iter().map(&mut group).collect();
        Some(Box::new(Self::new(FeatureGroups::Columns(groups), combinations, squares, schema)))
    }

    /// For namespaces; `None` without interactions.
    pub(crate) fn of_namespaces(schema: &Schema) -> Option<Box<Self>> {
        let interactions = &schema.interactions;
        if interactions.is_empty() {
            return None;
        }
        let mut combinations = Combinations::default();
        if interactions.iter().any(Interaction::has_wildcards) {
            let met = NamespaceGroups { interactions: interactions.clone(), ..NamespaceGroups::default() };
            return Some(Box::new(Self::new(FeatureGroups::All(met), combinations, Vec::new(), schema)));
        }
        let names = distinct_names(interactions);
        let find = |name: &str| names.iter().position(|other| *other == name);
        // Without wildcards there are no more than were named.
        let _ = combinations.expand(interactions, names.len(), find);
        let seeds = names.iter().map(|name| hash::seed(name.as_bytes())).collect();
        Some(Box::new(Self::new(FeatureGroups::Named(seeds), combinations, Vec::new(), schema)))
    }

    fn new(groups: FeatureGroups, combinations: Combinations, squares: Vec<u32>, schema: &Schema) -> Self {
        let mut products = Self {
            groups,
            combinations,
            squares,
            meets_itself: Vec::new(),
            parts: Vec::new(),
            factors: Vec::new(),
            ranges: Vec::new(),
            naming: ProductNames::default(),
            reserved: schema.reserved(),
        };
        products.look_for_pairs();
        products
    }

    /// Finds the groups that there are, and those that meet themselves.
    fn look_for_pairs(&mut self) {
        let groups = self.combinations.levels.iter().map(|level| level.group as usize + 1).max().unwrap_or(0);
        self.meets_itself.clear();
        self.meets_itself.resize(groups, false);
        for level in self.combinations.levels.iter().filter(|level| level.same.is_some()) {
            self.meets_itself[level.group as usize] = true;
        }
        self.ranges.resize(groups, (0, 0));
    }

    /// A row begins.
    #[inline]
    pub(crate) fn begin(&mut self) {
        self.parts.clear();
        if let FeatureGroups::All(met) = &mut self.groups {
            met.seeds.clear();
            met.names.truncate(0);
        }
    }

    /// The features of a column begin; the row has `start` so far.
    #[inline]
    pub(crate) fn column(&mut self, column: usize, start: usize) {
        let group = match &self.groups {
            FeatureGroups::Columns(groups) => groups[column],
            _ => NONE,
        };
        self.parts.push(GroupSpan { group, start: start as u32 });
    }

    /// The features of a namespace begin; the row has `start` so far.
    // Not inlined: the loop over the features has the registers to itself.
    #[inline(never)]
    pub(crate) fn namespace(&mut self, seed: u64, name: &[u8], start: usize) {
        let group = match &mut self.groups {
            FeatureGroups::Named(seeds) => seeds.iter().position(|&other| other == seed).map_or(NONE, |at| at as u32),
            FeatureGroups::All(met) => {
                met.seeds.push(seed);
                met.names.push(name);
                NONE
            }
            FeatureGroups::Columns(_) => NONE,
        };
        self.parts.push(GroupSpan { group, start: start as u32 });
    }

    /// Features begin that belong to no group.
    #[inline]
    pub(crate) fn nothing(&mut self, start: usize) {
        self.parts.push(GroupSpan { group: NONE, start: start as u32 });
    }

    /// Adds the products to the row that is being filled.
    pub(crate) fn finish(&mut self, schema: &Schema, out: &mut ParsedBatch) -> Result {
        if let FeatureGroups::All(met) = &mut self.groups {
            let is_known = met.seeds == met.known;
            met.settle(&mut self.combinations).map_err(|count| too_many(count, &schema.interactions))?;
            self.parts.iter_mut().zip(&met.groups).for_each(|(part, &group)| part.group = group);
            if !is_known {
                self.look_for_pairs();
            }
        }
        let (indices, values) = out.batch.pending_row();
        self.gather(indices, values);
        let count = self.count();
        if count > MOST_PRODUCTS as f64 {
            return Err(too_many(count as u64, &schema.interactions));
        }
        let Self { groups, combinations, factors, ranges, naming, reserved, .. } = self;
        let mut run =
            ProductWalk { levels: &[], factors, ranges, chosen: [0; MOST_TERMS], reserved: *reserved, schema, naming };
        for levels in combinations.iter() {
            let has_factors = |level: &Level| ranges.get(level.group as usize).is_some_and(|(start, end)| start < end);
            if levels.iter().all(has_factors) {
                run.levels = levels;
                run.descend(0, 0, 1.0, out).map_err(|error| error.column(&groups.names(levels, schema)))?;
            }
        }
        Ok(())
    }

    /// Collects the factors by group.
    fn gather(&mut self, indices: &[u32], values: &[f32]) {
        let Self { parts, ranges, factors, squares, meets_itself, .. } = self;
        ranges.iter_mut().for_each(|range| *range = (0, 0));
        let ends = |at: usize| parts.get(at + 1).map_or(indices.len(), |part| part.start as usize);
        // A namespace may come several times: first how many there are, then where they go.
        let used = || parts.iter().enumerate().filter(|(_, part)| (part.group as usize) < meets_itself.len());
        for (at, part) in used() {
            let count = values[part.start as usize..ends(at)].iter().filter(|&&value| value != 0.0).count();
            ranges[part.group as usize].1 += count as u32;
        }
        let mut start = 0;
        for range in ranges.iter_mut() {
            let end = start + range.1;
            *range = (start, start);
            start = end;
        }
        factors.clear();
        factors.resize(start as usize, Factor { index: 0, value: 0.0, place: 0, has_square: true });
        for (at, part) in used() {
            let limit = squares.get(part.group as usize).copied().unwrap_or(u32::MAX);
            let end = &mut ranges[part.group as usize].1;
            for place in part.start as usize..ends(at) {
                let (index, value) = (indices[place], values[place]);
                if value != 0.0 {
                    factors[*end as usize] = Factor { index, value, place: place as u32, has_square: index < limit };
                    *end += 1;
                }
            }
        }
        for (range, _) in ranges.iter_mut().zip(meets_itself).filter(|(_, meets_itself)| **meets_itself) {
            let kept = add_up(&mut factors[range.0 as usize..range.1 as usize]);
            range.1 = range.0 + kept as u32;
        }
    }

    /// How many products there will be, or somewhat more.
    fn count(&self) -> f64 {
        let of = |levels: &[Level]| {
            levels.iter().enumerate().fold(1.0, |count, (at, level)| {
                let (start, end) = self.ranges[level.group as usize];
                let before = levels[..at].iter().filter(|other| other.group == level.group).count();
                count * (f64::from(end - start) + before as f64) / (before + 1) as f64
            })
        };
        self.combinations.iter().map(of).sum()
    }
}

/// Orders factors by index, so that a pair has one hash whatever the order in the row, and adds up
/// those that share one, as [`onward::Batch::finish`] does. Returns how many are left.
fn add_up(factors: &mut [Factor]) -> usize {
    factors.sort_unstable_by_key(|factor| (factor.index, factor.place));
    let mut kept = 0;
    let mut at = 0;
    while at < factors.len() {
        let mut factor = factors[at];
        let same = factors[at..].iter().take_while(|other| other.index == factor.index).count();
        if same > 1 {
            let sum: f64 = factors[at..at + same].iter().map(|factor| f64::from(factor.value)).sum();
            factor.value = sum.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32;
        }
        at += same;
        if factor.value != 0.0 {
            factors[kept] = factor;
            kept += 1;
        }
    }
    kept
}

/// The walk through the products of a row.
struct ProductWalk<'r> {
    levels: &'r [Level],
    factors: &'r [Factor],
    ranges: &'r [(u32, u32)],
    /// The factor that was chosen at each level.
    chosen: [u32; MOST_TERMS],
    reserved: u32,
    schema: &'r Schema,
    naming: &'r mut ProductNames,
}

impl ProductWalk<'_> {
    /// The factors to choose from at a level.
    fn range(&self, level: usize) -> std::ops::Range<u32> {
        let Level { group, same } = self.levels[level];
        let (start, end) = self.ranges[group as usize];
        let start = match same {
            None => start,
            Some(same) => {
                let chosen = self.chosen[same as usize];
                chosen + u32::from(!self.factors[chosen as usize].has_square)
            }
        };
        start..end
    }

    /// Chooses a factor at `level`, those before having this hash and product.
    fn descend(&mut self, level: usize, hash: u64, product: f64, out: &mut ParsedBatch) -> Result {
        if level + 1 == self.levels.len() {
            return self.last(hash, product, out);
        }
        for at in self.range(level) {
            let Factor { index, value, .. } = self.factors[at as usize];
            self.chosen[level] = at;
            let hash = if level == 0 { u64::from(index) } else { hash::product(hash, index) };
            self.descend(level + 1, hash, product * f64::from(value), out)?;
        }
        Ok(())
    }

    /// The last level, where the products are made.
    #[inline(never)]
    fn last(&mut self, hash: u64, product: f64, out: &mut ParsedBatch) -> Result {
        let range = self.range(self.levels.len() - 1);
        // Of copies: otherwise the compiler must assume that the loop writes to what it reads.
        let (factors, schema, reserved) = (self.factors, self.schema, self.reserved);
        for at in range {
            let factor = factors[at as usize];
            let value = (product * f64::from(factor.value)) as f32;
            if !value.is_finite() {
                return Err(self.too_large(at));
            }
            if value == 0.0 {
                continue;
            }
            let index = schema.hashed(reserved, hash::product(hash, factor.index));
            if self.naming.wants(index) {
                self.name(index, at, out);
            }
            out.batch.push(index, value);
        }
        Ok(())
    }

    /// The factors of a product, whose last one is `last`.
    fn chosen(&self, last: u32) -> impl Iterator<Item = &Factor> {
        let before = self.chosen[..self.levels.len() - 1].iter().copied();
        before.chain(std::iter::once(last)).map(|at| &self.factors[at as usize])
    }

    #[cold]
    fn name(&mut self, index: u32, last: u32, out: &mut ParsedBatch) {
        self.naming.count += 1;
        out.push_product(index, self.chosen(last).map(|factor| factor.index));
    }

    fn too_large(&self, last: u32) -> DataError {
        let values: Vec<_> = self.chosen(last).map(|factor| format!("{:e}", factor.value)).collect();
        let found = format!("the product {} is beyond ±3.4e38, the range of 32-bit floats", values.join(" × "));
        DataError::record(found).advise("rescale the features, or leave the interaction out")
    }
}

/// A row that would have more products than there is room for.
fn too_many(count: u64, interactions: &[Interaction]) -> DataError {
    let names = interactions.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    DataError::record(format!("⟦interactions⟧ {names} would make {count} products of this row"))
        .advise(format!("at most {MOST_PRODUCTS} are allowed: name fewer columns or namespaces; {MEND}"))
}
