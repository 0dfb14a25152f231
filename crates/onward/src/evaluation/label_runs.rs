//! Whether the labels come in runs that chance does not make: a file sorted by its label, or a stream whose label changes
//! slowly.
//!
//! - Classes: of n labels in random order, n_c of them of the class c, the number of runs of c has the hypergeometric
//!   distribution of the good ones among n_c draws from n of which n − n_c + 1 are good (Wald and Wolfowitz 1940). By
//!   Hoeffding's bound (1963) it is at most r with a probability of at most exp(−n_c·KL(r/n_c ‖ (n − n_c + 1)/n)). The
//!   least of these over the classes, times their number, is the p-value: it holds for any n, and for rare classes.
//! - Numbers: the rank correlation (Spearman) of a label with the one before it, in a random sample of 512 such pairs; the
//!   p-value is one-sided, by the normal distribution. Ranks are indifferent to outliers and units.
//!
//! Importance weights do not count.

use crate::Error;
use crate::archive::{Archive, Field};
use crate::numeric::sample::RandomSample;

/// A p-value below this is clear.
const CLEAR: f64 = 1e-6;

/// The pairs of numbers that are kept.
const PAIRS: usize = 512;

/// What the order of the labels looks like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LabelOrder {
    /// How the labels hang together.
    pub pattern: LabelPattern,
    /// At most the probability that labels in random order hang together so much.
    pub p_value: f64,
}

/// How labels hang together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LabelPattern {
    /// Classes: the number of runs, and how many there are on average in random order.
    Runs(u64, f64),
    /// Numbers: the rank correlation of a label with the one before it.
    RankCorrelation(f64),
}

impl LabelOrder {
    /// Whether this is no chance.
    pub fn is_clear(&self) -> bool {
        self.p_value < CLEAR
    }
}

/// Follows the order of labels.
///
/// ```
/// use onward::evaluation::{LabelPattern, LabelRuns};
/// let mut runs = LabelRuns::of_classes();
/// (0..100).for_each(|t| runs.observe_class(t / 50));
/// let order = runs.order().unwrap();
/// assert_eq!(order.pattern, LabelPattern::Runs(2, 51.0));
/// assert!(order.is_clear());
/// ```
#[derive(Debug, Clone)]
pub struct LabelRuns(Runs);

#[derive(Debug, Clone)]
enum Runs {
    Classes {
        last: usize,
        classes: Vec<ClassRuns>,
    },
    /// The last number is NaN before the first one.
    Numbers {
        last: f64,
        pairs: RandomSample<(f64, f64)>,
    },
}

/// How many labels of a class there were, in how many runs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ClassRuns {
    pub(super) labels: u64,
    pub(super) runs: u64,
}

impl LabelRuns {
    /// For classes.
    pub fn of_classes() -> Self {
        Self(Runs::Classes { last: usize::MAX, classes: Vec::new() })
    }

    /// For classes of which some have come, and the last of them.
    pub(super) fn after_classes(classes: Vec<ClassRuns>, last: Option<usize>) -> Self {
        Self(Runs::Classes { last: last.unwrap_or(usize::MAX), classes })
    }

    /// For numbers.
    pub fn of_numbers() -> Self {
        Self(Runs::Numbers { last: f64::NAN, pairs: RandomSample::new(PAIRS, 0) })
    }

    /// Takes in the next class.
    #[inline]
    pub fn observe_class(&mut self, class: usize) {
        if let Runs::Classes { last, classes } = &mut self.0 {
            if class >= classes.len() {
                classes.resize(class + 1, ClassRuns::default());
            }
            classes[class].labels += 1;
            classes[class].runs += u64::from(class != *last);
            *last = class;
        }
    }

    /// Takes in the next label: a number, or one of two classes.
    #[inline]
    pub fn observe(&mut self, label: f64) {
        match &mut self.0 {
            Runs::Classes { .. } => self.observe_class(usize::from(label > 0.5)),
            Runs::Numbers { last, pairs } => {
                let before = std::mem::replace(last, label);
                if pairs.is_due() && !before.is_nan() {
                    pairs.put((before, label));
                }
            }
        }
    }

    /// What the order of the labels so far looks like; `None` where all are equal.
    pub fn order(&self) -> Option<LabelOrder> {
        match &self.0 {
            Runs::Classes { classes, .. } => of_classes(classes),
            Runs::Numbers { pairs, .. } => of_numbers(&pairs.items().copied().collect::<Vec<_>>()),
        }
    }

    /// Saves or loads what is needed to continue to the bit.
    ///
    /// # Errors
    /// When something is missing or does not match.
    pub fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        match &mut self.0 {
            Runs::Classes { last, classes } => {
                let mut known = Some(*last as f64).filter(|_| *last != usize::MAX);
                archive.optional("last", &mut known)?;
                *last = known.map_or(usize::MAX, |class| class as usize);
                archive.records(classes, &ClassRuns::default(), CLASS)?;
                let is_sound = classes.iter().all(|it| it.runs <= it.labels && (it.runs > 0) == (it.labels > 0));
                archive.check(is_sound, "runs", "must be from 1 to the number of labels")
            }
            Runs::Numbers { last, pairs } => {
                let mut known = Some(*last).filter(|last| !last.is_nan());
                archive.optional("last", &mut known)?;
                *last = known.unwrap_or(f64::NAN);
                archive.part("pairs", |archive| pairs.persist(archive))
            }
        }
    }
}

/// What is saved of a class.
const CLASS: &[(&str, Field<'_, ClassRuns>)] = &[
    ("labels", Field::Number(&|class| class.labels as f64, &|class, labels| class.labels = labels as u64)),
    ("runs", Field::Number(&|class| class.runs as f64, &|class, runs| class.runs = runs as u64)),
];

/// The order of classes, by their runs.
fn of_classes(classes: &[ClassRuns]) -> Option<LabelOrder> {
    let met = || classes.iter().filter(|class| class.labels > 0);
    let all: u64 = met().map(|class| class.labels).sum();
    let count = met().count();
    if count < 2 {
        return None;
    }
    let expected = |class: &ClassRuns| class.labels as f64 * ((all - class.labels + 1) as f64 / all as f64);
    let pattern = LabelPattern::Runs(met().map(|class| class.runs).sum(), met().map(expected).sum());
    let least = met().map(|class| log_chance(class, all)).fold(0.0, f64::min);
    let p_value = (count as f64 * libm::exp(least)).min(1.0);
    Some(LabelOrder { pattern, p_value })
}

/// The logarithm of a bound on the probability that a class has no more runs in random order.
fn log_chance(class: &ClassRuns, all: u64) -> f64 {
    // Draws and good ones may change places, and the fewer draws give the sharper bound.
    let (labels, gaps) = (class.labels as f64, (all - class.labels + 1) as f64);
    let (draws, share) = if labels <= gaps { (labels, gaps / all as f64) } else { (gaps, labels / all as f64) };
    let found = class.runs as f64 / draws;
    if found >= share {
        return 0.0;
    }
    let rest = if found < 1.0 { (1.0 - found) * libm::log((1.0 - found) / (1.0 - share)) } else { 0.0 };
    -draws * (found * libm::log(found / share) + rest)
}

/// The order of numbers, by pairs of neighbours.
fn of_numbers(pairs: &[(f64, f64)]) -> Option<LabelOrder> {
    let before = ranks(&pairs.iter().map(|pair| pair.0).collect::<Vec<_>>());
    let after = ranks(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>());
    let product = |one: &[f64], other: &[f64]| one.iter().zip(other).map(|(a, b)| a * b).sum::<f64>();
    let spread = product(&before, &before) * product(&after, &after);
    if spread <= 0.0 {
        return None;
    }
    let correlation = product(&before, &after) / spread.sqrt();
    let deviations = correlation * (pairs.len() as f64 - 1.0).sqrt();
    let p_value = 0.5 * libm::erfc(deviations / std::f64::consts::SQRT_2);
    Some(LabelOrder { pattern: LabelPattern::RankCorrelation(correlation), p_value })
}

/// The ranks of numbers less their mean; equal numbers have the mean of theirs.
fn ranks(numbers: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_unstable_by(|&one, &other| numbers[one].total_cmp(&numbers[other]).then(one.cmp(&other)));
    let mut ranks = vec![0.0; numbers.len()];
    let middle = 0.5 * (numbers.len() as f64 - 1.0);
    let mut first = 0;
    while first < order.len() {
        let equal = order[first..].iter().take_while(|&&at| numbers[at] == numbers[order[first]]).count();
        let rank = first as f64 + 0.5 * (equal as f64 - 1.0) - middle;
        order[first..first + equal].iter().for_each(|&at| ranks[at] = rank);
        first += equal;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::rng::SplitMix64;

    fn order_of_classes(classes: &[usize]) -> Option<LabelOrder> {
        let mut runs = LabelRuns::of_classes();
        classes.iter().for_each(|&class| runs.observe_class(class));
        runs.order()
    }

    fn order_of_numbers(numbers: &[f64]) -> Option<LabelOrder> {
        let mut runs = LabelRuns::of_numbers();
        numbers.iter().for_each(|&number| runs.observe(number));
        runs.order()
    }

    fn shuffled<T: Clone>(items: &[T], seed: u64) -> Vec<T> {
        let (mut items, mut random) = (items.to_vec(), SplitMix64::new(seed));
        for at in (1..items.len()).rev() {
            items.swap(at, random.below(at as u64 + 1) as usize);
        }
        items
    }

    /// All orders of some labels.
    fn orders(labels: &mut Vec<usize>, at: usize, each: &mut dyn FnMut(&[usize])) {
        if at == labels.len() {
            return each(labels);
        }
        for other in at..labels.len() {
            labels.swap(at, other);
            orders(labels, at + 1, each);
            labels.swap(at, other);
        }
    }

    #[test]
    fn the_p_value_is_no_less_than_the_share_of_all_orders_with_so_few_runs() {
        for labels in [vec![0, 0, 0, 0, 1, 1, 1, 1], vec![0, 1, 1, 1, 1, 1, 1], vec![0, 0, 1, 1, 2, 2, 2]] {
            let runs_of = |order: &[usize], class: usize| {
                let starts = |at: &usize| order[*at] == class && (*at == 0 || order[at - 1] != class);
                (0..order.len()).filter(starts).count()
            };
            let classes = labels.iter().max().unwrap() + 1;
            // For each class, of how many orders it has at most so many runs.
            let mut all = 0.0;
            let mut share = vec![vec![0.0f64; labels.len() + 1]; classes];
            let (mut runs, mut expected) = (0.0, 0.0);
            orders(&mut labels.clone(), 0, &mut |order| {
                all += 1.0;
                for (class, share) in share.iter_mut().enumerate() {
                    let found = runs_of(order, class);
                    share[found..].iter_mut().for_each(|share| *share += 1.0);
                    runs += found as f64;
                }
            });
            orders(&mut labels.clone(), 0, &mut |order| {
                let found = order_of_classes(order).unwrap();
                let exact = (0..classes).map(|class| share[class][runs_of(order, class)] / all).fold(1.0, f64::min);
                assert!(found.p_value >= exact.min(1.0) - 1e-12, "{order:?}: {found:?} {exact}");
                let LabelPattern::Runs(count, average) = found.pattern else { panic!("{found:?}") };
                assert_eq!(count as usize, (0..classes).map(|class| runs_of(order, class)).sum::<usize>());
                expected = average;
            });
            assert!((runs / all - expected).abs() < 1e-9, "{labels:?}: {} {expected}", runs / all);
        }
    }

    #[test]
    fn sorted_labels_and_blocks_are_told_from_chance() {
        let rare: Vec<usize> = (0..5000).map(|t| usize::from((1000..1020).contains(&t))).collect();
        let blocks: Vec<usize> = (0..600).map(|t| t / 30 % 4).collect();
        for classes in [(0..1200).map(|t| t / 600).collect(), rare, blocks] {
            assert!(order_of_classes(&classes).unwrap().is_clear());
        }
        let mut random = SplitMix64::new(1);
        let sorted: Vec<f64> = (0..300).map(f64::from).collect();
        let falling: Vec<f64> = sorted.iter().map(|it| -it.exp()).collect();
        let ratings: Vec<f64> = (0..1000).map(|t| f64::from(t / 200)).collect();
        let groups: Vec<f64> = (0..2000).map(|t| f64::from(t / 40 * 7 % 13) + 8.0 * random.uniform()).collect();
        let mut sum = 0.0;
        let walk: Vec<f64> = (0..400)
            .map(|_| random.uniform() - 0.5)
            .map(|step| {
                sum += step;
                sum
            })
            .collect();
        for (name, numbers) in
            [("sorted", sorted), ("falling", falling), ("ratings", ratings), ("groups", groups), ("walk", walk)]
        {
            assert!(order_of_numbers(&numbers).unwrap().is_clear(), "{name}: {:?}", order_of_numbers(&numbers));
        }
    }

    #[test]
    fn labels_in_random_order_are_never_said_to_come_in_runs() {
        // 1,000 seeds for each kind at a threshold of 1e-6.
        let half: Vec<usize> = (0..200).map(|t| t % 2).collect();
        let rare: Vec<usize> = (0..2000).map(|t| usize::from(t < 6)).collect();
        let several: Vec<usize> = (0..400).map(|t| [0, 0, 0, 0, 1, 1, 2, 3][t % 8]).collect();
        let mut random = SplitMix64::new(2);
        let normal: Vec<f64> = (0..300).map(|_| (0..12).map(|_| random.uniform()).sum()).collect();
        // So heavy a tail that a few of them make most of the variance.
        let heavy: Vec<f64> = (0..300).map(|_| (1.0 - random.uniform()).powi(-3)).collect();
        let ratings: Vec<f64> = (0..300).map(|t| f64::from(t % 5)).collect();
        let (mut least, mut below) = (1.0f64, 0);
        for seed in 0..1000 {
            for classes in [&half, &rare, &several] {
                let order = order_of_classes(&shuffled(classes, seed)).unwrap();
                assert!(!order.is_clear(), "{seed}: {order:?}");
            }
            for numbers in [&normal, &heavy, &ratings] {
                let order = order_of_numbers(&shuffled(numbers, seed)).unwrap();
                assert!(!order.is_clear(), "{seed}: {order:?}");
                (least, below) = (least.min(order.p_value), below + u32::from(order.p_value < 0.01));
            }
        }
        // The p-values of numbers are uniform: 30 of 3,000 are below 0.01, ± 5.4.
        assert!((3..58).contains(&below) && least > 1e-5, "{below} {least}");
    }

    #[test]
    fn equal_labels_have_no_order() {
        assert_eq!(order_of_classes(&[3; 50]), None);
        assert_eq!(order_of_classes(&[]), None);
        assert_eq!(order_of_numbers(&[2.5; 50]), None);
        assert_eq!(order_of_numbers(&[1.0]), None);
    }

    #[test]
    fn ranks_are_means_over_equal_numbers() {
        assert_eq!(ranks(&[5.0, 1.0, 5.0, 9.0, 0.0]), [0.5, -1.0, 0.5, 2.0, -2.0]);
    }

    #[test]
    fn what_was_saved_goes_on_to_the_bit() {
        let mut random = SplitMix64::new(4);
        for mut runs in [LabelRuns::of_classes(), LabelRuns::of_numbers()] {
            let mut blank = runs.clone();
            let labels: Vec<f64> = (0..3000).map(|_| (2.0 * random.uniform()).floor()).collect();
            labels[..2000].iter().for_each(|&label| runs.observe(label));
            let state = Archive::saved(|archive| runs.persist(archive)).unwrap();
            blank.persist(&mut Archive::loading(state)).unwrap();
            for runs in [&mut runs, &mut blank] {
                labels[2000..].iter().for_each(|&label| runs.observe(label));
            }
            assert_eq!(runs.order(), blank.order());
        }
    }
}
