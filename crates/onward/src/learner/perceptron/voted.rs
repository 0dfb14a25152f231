//! The voted perceptron (Freund, Schapire 1999).
//!
//! The weights are updated as by the perceptron, by their mistakes, and each vector w_k that there
//! was votes by the sign of b + ⟨w_k, x⟩ (0 votes for 1), with as many votes c_k as the importance
//! of the rounds it came through, that of its making included. The score is the mean vote, from −1
//! to 1: it is not b plus something.
//!
//! Vectors are not kept, but the rows that made one from the other: with
//! ⟨w_k, x⟩ = ⟨w_{k−1}, x⟩ + h·y⟨x_k, x⟩ all votes are counted in one walk over those rows, at a
//! cost of their non-zeros per round, as is the memory. Both grow with the mistakes, so only the last
//! `vectors` vectors vote; the rows before them are summed up.
//!
//! **Guarantee**: none. That of the perceptron bounds the updates, which the last vector makes.
//! (On rows in random order the theorem of Freund and Schapire bounds how often the vote errs on
//! one more row, in expectation.)

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;

use super::{Count, ENTRY, NO_BOUND, VARIANT, VECTORS};
use crate::archive::{Archive, Field, rows_of};
use crate::guarantee::{Guarantee, GuaranteeKind};
use crate::loss::ZeroOne;
use crate::numeric::sum;
use crate::parameter::Description;
use crate::storage::table::ParameterTable;
use crate::{Error, Features, INDEX_LIMIT, Loss, ScoreLearner, SharedLoss};

/// The voted perceptron.
pub struct VotedPerceptron {
    /// How many vectors may vote.
    vectors: u64,
    /// The oldest vector that votes, and its votes.
    oldest: ParameterTable<f64>,
    votes: f64,
    /// What made each later vector from the one before it.
    steps: VecDeque<VotedStep>,
    pub(super) count: Count,
}

/// w_k − w_{k−1}, and the votes of w_k.
#[derive(Debug, Clone)]
struct VotedStep {
    indices: Vec<u32>,
    /// h·y·x.
    values: Vec<f64>,
    votes: f64,
}

thread_local! {
    /// A row in order of index, for which predicting must not allocate each time.
    static SORTED: RefCell<Vec<(u32, f32)>> = const { RefCell::new(Vec::new()) };
}

impl VotedPerceptron {
    /// With votes of the last `vectors` weight vectors.
    ///
    /// # Errors
    /// When they are not from 1 to a million, or the loss is one that the perceptron does not pay.
    pub fn new(vectors: u64, loss: &dyn Loss) -> Result<Self, Error> {
        ENTRY.check_loss(loss)?;
        VECTORS.check(vectors)?;
        let (oldest, steps, count) = Default::default();
        Ok(Self { vectors, oldest, votes: 0.0, steps, count })
    }

    /// The mean vote, and the score of the last vector.
    fn vote(&self, x: Features<'_>) -> (f64, f64) {
        let vote = |score: f64| if score >= 0.0 { 1.0 } else { -1.0 };
        let mut score = x.offset() + x.dot(|index| self.oldest.get(index));
        let (mut total, mut mean) = (self.votes, self.votes * vote(score));
        SORTED.with_borrow_mut(|sorted| {
            sorted.clear();
            sorted.extend(x.iter());
            sorted.sort_unstable_by_key(|&(index, _)| index);
            for step in &self.steps {
                let values = step.indices.iter().zip(&step.values).map(|(index, value)| {
                    let found = sorted.binary_search_by_key(index, |&(index, _)| index);
                    found.map_or(0.0, |at| value * f64::from(sorted[at].1))
                });
                score += sum::sum(values);
                total += step.votes;
                mean += step.votes * vote(score);
            }
        });
        (if total > 0.0 { mean / total } else { vote(score) }, score)
    }

    /// Adds a vector, for which the oldest may have to go.
    fn step(&mut self, x: Features<'_>, direction: f64, votes: f64) {
        let values = x.values().iter().map(|&value| direction * f64::from(value)).collect();
        self.steps.push_back(VotedStep { indices: x.indices().to_vec(), values, votes });
        if self.steps.len() as u64 >= self.vectors
            && let Some(first) = self.steps.pop_front()
        {
            for (&index, value) in first.indices.iter().zip(&first.values) {
                *self.oldest.entry(index) += value;
            }
            self.votes = first.votes;
        }
    }
}

impl ScoreLearner for VotedPerceptron {
    fn predict_one(&self, x: Features<'_>) -> f64 {
        self.vote(x).0
    }

    fn learn_one(&mut self, x: Features<'_>, label: f64, weight: f64) -> f64 {
        let (mean, score) = self.vote(x);
        self.count.observe(mean, label, weight);
        if label * score <= 0.0 {
            self.step(x, weight * label, weight);
            self.count.updates += weight;
        } else {
            *self.steps.back_mut().map_or(&mut self.votes, |step| &mut step.votes) += weight;
        }
        mean
    }

    fn loss(&self) -> SharedLoss {
        Arc::new(ZeroOne)
    }

    fn describe(&self) -> String {
        Description::of("perceptron").with(&VARIANT, "voted").with(&VECTORS, self.vectors).into()
    }

    fn updates(&self) -> Option<f64> {
        Some(Self::updates(self))
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::none(GuaranteeKind::Own, NO_BOUND)
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        self.count.persist(archive)?;
        archive.number("votes", &mut self.votes)?;
        self.oldest.persist(archive, |value| *value != 0.0, &[("oldest", Field::F64(&|it| it))])?;
        archive.part("steps", |archive| {
            let steps = || self.steps.iter();
            let mut indices: Vec<u32> = steps().flat_map(|step| step.indices.iter().copied()).collect();
            let mut values: Vec<f64> = steps().flat_map(|step| step.values.iter().copied()).collect();
            let mut sizes: Vec<f64> = steps().map(|step| step.indices.len() as f64).collect();
            let mut votes: Vec<f64> = steps().map(|step| step.votes).collect();
            archive.column("index", &mut indices)?;
            archive.check(indices.iter().all(|&index| index < INDEX_LIMIT), "index", "must be below 2^31")?;
            archive.column_of(indices.len(), "value", &mut values)?;
            archive.column("size", &mut sizes)?;
            archive.check((sizes.len() as u64) < self.vectors, "size", "must be of fewer steps than vectors")?;
            archive.column_of(sizes.len(), "votes", &mut votes)?;
            if archive.is_loading() {
                let lengths = || sizes.iter().map(|&size| size as usize);
                let rows = rows_of(&indices, lengths()).zip(rows_of(&values, lengths()));
                let (indices, values) = archive.require(rows, "size", "must add up to the length of 'index'")?;
                let steps = indices.into_iter().zip(values).zip(votes);
                self.steps = steps.map(|((indices, values), votes)| VotedStep { indices, values, votes }).collect();
            }
            Ok(())
        })
    }
}
