//! What the tests share: a small generator of numbers, streams, and the best fixed
//! predictor on a ball by brute force.

use std::sync::{Mutex, MutexGuard, PoisonError};

use onward::archive::{Archive, State};
use onward::loss::Task;
use onward::mixture::experts::Experts;
use onward::protocol::{LearnerDescriptor, Promise};
use onward::registry::LEARNERS;
use onward::{Error, Features, LearnerSpec, Loss, SharedLoss, loss};

/// For tests that choose how loops run: one at a time, since all of a process run alike.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// SplitMix64: documented, small, the same everywhere.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform on [0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform on [low, high).
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }
}

/// Saving and loading at one stroke.
pub(crate) trait Saved {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error>;

    fn state(&mut self) -> State {
        Archive::saved(|archive| self.persist(archive)).unwrap()
    }

    fn restore(&mut self, state: &State) -> Result<(), Error> {
        self.persist(&mut Archive::loading(state.clone()))
    }
}

impl Saved for dyn onward::Learner {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        onward::Learner::persist(self, archive)
    }
}

impl Saved for dyn Experts {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        Experts::persist(self, archive)
    }
}

/// A row of a test stream.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) indices: Vec<u32>,
    pub(crate) values: Vec<f32>,
    pub(crate) label: f64,
    pub(crate) weight: f64,
    pub(crate) offset: f64,
}

impl Row {
    pub(crate) fn features(&self) -> Features<'_> {
        Features::new(&self.indices, &self.values).unwrap().with_offset(self.offset).unwrap()
    }

    pub(crate) fn score(&self, weights: &[f64]) -> f64 {
        let products = self.indices.iter().zip(&self.values).map(|(&i, &x)| weights[i as usize] * f64::from(x));
        self.offset + products.sum::<f64>()
    }
}

/// A form of a learner, with a loss that it takes.
#[derive(Clone)]
pub(crate) struct Form {
    pub(crate) entry: &'static LearnerDescriptor,
    pub(crate) promise: &'static Promise,
    pub(crate) loss: SharedLoss,
}

impl Form {
    /// The name with the parameters.
    pub(crate) fn name(&self) -> String {
        form_name(self.entry, self.promise)
    }

    pub(crate) fn build(&self) -> Box<dyn onward::Learner> {
        self.build_within(None)
    }

    /// In a run of this radius.
    pub(crate) fn build_within(&self, radius: Option<f64>) -> Box<dyn onward::Learner> {
        let name = self.name();
        let built = name.parse().and_then(|specification: LearnerSpec| specification.build(&self.loss, radius));
        built.unwrap_or_else(|error| panic!("`promises` of {} has '{name}': {error}", self.entry.name))
    }

    /// For messages.
    pub(crate) fn context(&self) -> String {
        format!("{} {}", self.name(), self.loss.name())
    }
}

pub(crate) fn form_name(entry: &LearnerDescriptor, promise: &Promise) -> String {
    let colon = if promise.parameters.is_empty() { "" } else { ":" };
    format!("{}{colon}{}", entry.name, promise.parameters)
}

/// Every form of every learner with the loss that it is charged by unless another is asked for, one for each task. The
/// variable LEARNERS, names joined by commas, restricts them while one is being written.
pub(crate) fn forms() -> Vec<Form> {
    let mut all = Vec::new();
    for entry in LEARNERS.iter().filter(|entry| is_asked(entry.name)) {
        let specification: LearnerSpec = entry.name.parse().unwrap();
        let tasks = [Task::Binary, Task::Regression].into_iter();
        let mut losses: Vec<&str> = tasks.filter_map(|task| specification.default_loss(task).ok()).collect();
        losses.dedup();
        for promise in entry.promises {
            all.extend(losses.iter().map(|name| Form { entry, promise, loss: loss::parse(name).unwrap() }));
        }
    }
    all
}

/// Whether the tests are to run a learner.
pub(crate) fn is_asked(learner: &str) -> bool {
    let asked = std::env::var("LEARNERS").ok();
    asked.is_none_or(|names| names.split(',').any(|name| name == learner))
}

/// A label for a loss: −1 or 1 for classes, else a number ≥ 0 near `mean`.
pub(crate) fn label(loss: &dyn Loss, mean: f64, random: &mut Random) -> f64 {
    match loss.task() {
        onward::loss::Task::Binary => {
            if random.uniform() < 1.0 / (1.0 + (-mean).exp()) {
                1.0
            } else {
                -1.0
            }
        }
        _ => (mean + random.between(-0.5, 0.5)).max(0.0).round_to(0.125),
    }
}

trait RoundTo {
    fn round_to(self, step: f64) -> f64;
}

impl RoundTo for f64 {
    fn round_to(self, step: f64) -> f64 {
        (self / step).round() * step
    }
}

/// Rows with a bias, dense and sparse features, and labels that depend on them.
pub(crate) fn stream(loss: &dyn Loss, rounds: usize, seed: u64) -> Vec<Row> {
    let mut random = Random(seed);
    (0..rounds)
        .map(|_| {
            let mut indices = vec![0, 1];
            let mut values = vec![1.0, random.between(-1.0, 1.0) as f32];
            for index in 2..8 {
                if random.uniform() < 0.4 {
                    indices.push(index);
                    values.push(random.between(-2.0, 2.0) as f32);
                }
            }
            let mean = 0.5 + 1.5 * f64::from(values[1]) - if indices.contains(&3) { 1.0 } else { 0.0 };
            let weight = [1.0, 1.0, 2.0, 0.5][(random.next() % 4) as usize];
            Row { indices, values, label: label(loss, mean, &mut random), weight, offset: 0.0 }
        })
        .collect()
}

/// The least Σ h·ℓ over the ball that long averaged and plain subgradient descent finds:
/// an upper bound of the least loss, close to it on these small problems.
pub(crate) fn best_on_ball(rows: &[Row], loss: &dyn Loss, radius: f64, dimension: usize) -> f64 {
    let total = |w: &[f64]| rows.iter().map(|row| row.weight * loss.value(row.score(w), row.label)).sum::<f64>();
    let mut w = vec![0.0; dimension];
    let mut best = total(&w);
    for step in 1..=400 {
        let mut gradient = vec![0.0; dimension];
        for row in rows {
            let g = row.weight * loss.derivative(row.score(&w), row.label);
            for (&i, &x) in row.indices.iter().zip(&row.values) {
                gradient[i as usize] += g * f64::from(x);
            }
        }
        let norm = gradient.iter().map(|z| z * z).sum::<f64>().sqrt().max(1e-300);
        let rate = 2.0 * radius / norm / f64::from(step).sqrt();
        w.iter_mut().zip(&gradient).for_each(|(w, z)| *w -= rate * z);
        let size = w.iter().map(|w| w * w).sum::<f64>().sqrt();
        if size > radius {
            w.iter_mut().for_each(|w| *w *= radius / size);
        }
        best = best.min(total(&w));
    }
    best
}
