//! A random sample of a stream in bounded memory: each item is as likely to be in it as any other.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::rng::SplitMix64;

/// Keeps a uniform random sample of the items that come by.
///
/// Each item has a random priority, uniform on [0, 1), and those of the least priorities are kept. How many items come
/// before the next one that is kept is drawn at once (a geometric number), so that the others cost next to nothing; Li
/// 1994, Reservoir-sampling algorithms of time complexity O(n(1 + log(N/n))).
///
/// ```
/// use onward::numeric::sample::RandomSample;
/// let mut sample = RandomSample::new(10, 7);
/// for item in 0..1000 {
///     if sample.is_due() {
///         sample.put(item);
///     }
/// }
/// assert_eq!(sample.items().count(), 10);
/// ```
#[derive(Debug, Clone)]
pub struct RandomSample<T> {
    pub(crate) kept: BinaryHeap<Prioritised<T>>,
    /// The most items that are kept.
    pub(crate) capacity: usize,
    /// How many items go by before the next one that is kept.
    pub(crate) skip: u64,
    pub(crate) random: SplitMix64,
}

/// An item with its priority, by which it is ordered.
#[derive(Debug, Clone)]
pub(crate) struct Prioritised<T> {
    pub(crate) priority: f64,
    pub(crate) item: T,
}

impl<T> PartialEq for Prioritised<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for Prioritised<T> {}

impl<T> PartialOrd for Prioritised<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Prioritised<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.priority.total_cmp(&other.priority)
    }
}

impl<T> RandomSample<T> {
    /// An empty sample of at most this many items, at least 1.
    pub fn new(capacity: usize, seed: u64) -> Self {
        Self { kept: BinaryHeap::new(), capacity: capacity.max(1), skip: 0, random: SplitMix64::new(seed) }
    }

    /// Whether the next item of the stream is to be [put](Self::put) into the sample. To be asked once for each item.
    #[inline]
    pub fn is_due(&mut self) -> bool {
        let is_due = self.skip == 0;
        self.skip = self.skip.saturating_sub(1);
        is_due
    }

    /// Puts an item that is due into the sample, in the place of another one if it is full.
    pub fn put(&mut self, item: T) {
        let mut limit = 1.0;
        if self.kept.len() >= self.capacity {
            // Of an item that is kept, the priority is uniform below the largest one.
            limit = self.kept.pop().map_or(1.0, |last| last.priority);
        }
        let priority = limit * self.random.uniform();
        self.kept.push(Prioritised { priority, item });
        self.draw_skip();
    }

    /// Halves the most items that are kept, and drops those that are too many. The sample stays uniform.
    pub fn halve(&mut self) {
        self.capacity = (self.capacity / 2).max(1);
        while self.kept.len() > self.capacity {
            self.kept.pop();
        }
        self.draw_skip();
    }

    /// The items in the sample, in no order that means anything.
    pub fn items(&self) -> impl Iterator<Item = &T> {
        self.kept.iter().map(|kept| &kept.item)
    }

    /// How many items follow that have a larger priority than all that are kept: none, until the sample is full.
    fn draw_skip(&mut self) {
        let largest = self.kept.peek().map_or(1.0, |last| last.priority);
        self.skip = match self.kept.len() < self.capacity {
            true => 0,
            // Past any stream where the ratio is infinite.
            false => (libm::log(1.0 - self.random.uniform()) / libm::log1p(-largest)) as u64,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(capacity: usize, seed: u64, stream: usize) -> Vec<usize> {
        let mut sample = RandomSample::new(capacity, seed);
        for item in 0..stream {
            if sample.is_due() {
                sample.put(item);
            }
        }
        sample.items().copied().collect()
    }

    #[test]
    fn each_item_is_as_likely_as_any_other() {
        let (capacity, stream, trials) = (5, 40, 20_000);
        let mut times = vec![0u32; stream];
        for seed in 0..trials {
            let sample = sampled(capacity, seed, stream);
            assert_eq!(sample.len(), capacity);
            sample.iter().for_each(|&item| times[item] += 1);
        }
        // 20,000 trials with chance 1/8: 2,500 ± 47; five deviations.
        assert!(times.iter().all(|&times| times.abs_diff(2500) < 235), "{times:?}");
    }

    #[test]
    fn a_halved_sample_is_uniform_still() {
        let (stream, trials) = (40, 20_000u64);
        let mut times = vec![0u32; stream];
        for seed in 0..trials {
            let mut sample = RandomSample::new(8, seed);
            for item in 0..stream {
                if sample.is_due() {
                    sample.put(item);
                }
                if item == 20 {
                    sample.halve();
                }
            }
            sample.items().for_each(|&item| times[item] += 1);
        }
        assert!(times.iter().all(|&times| times.abs_diff(2000) < 215), "{times:?}");
    }

    #[test]
    fn short_streams_are_kept_whole_and_long_ones_take_few_draws() {
        let mut whole = sampled(10, 3, 7);
        whole.sort_unstable();
        assert_eq!(whole, [0, 1, 2, 3, 4, 5, 6]);
        let mut sample = RandomSample::new(100, 11);
        let mut taken = 0;
        for item in 0..1_000_000 {
            if sample.is_due() {
                sample.put(item);
                taken += 1;
            }
        }
        // 100·(1 + ln 10⁴) = 1,021.
        assert!((800..1300).contains(&taken), "{taken}");
    }
}
