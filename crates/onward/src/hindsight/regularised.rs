//! The least regularised risk min_u L(u) + ½σ‖u‖², L the mean loss, by cutting planes (Teo, Vishwanathan, Smola, Le 2010).
//!
//! A pass at u gives a minorant of L, c + ⟨θ, ·⟩. With weights λ ≥ 0 of sum 1 for the minorants so far,
//! L(u) + ½σ‖u‖² ≥ Σ λ_k c_k − ‖Σ λ_k θ_k‖²/(2σ) for every u, with equality of the minorants' side at u = −Σ λ_k θ_k/σ,
//! where the next pass is made. The bound is climbed by moving weight between two minorants at a time; every λ is valid, so
//! the gap is certified. Slopes at kinks may be any subgradient: hinge and absolute losses need no smoothing.

use super::{HindsightError, RowSource, Workers, check};
use crate::hindsight::ComparatorClass;
use crate::numeric::linalg::vector::{add_scaled, dot};
use crate::{Error, Loss};

/// The passes after which the search ends, whatever its gap. So many minorants are kept.
const MOST_PASSES: usize = 300;

/// With more features the minorants are too long to be kept.
const MOST_FEATURES: usize = 1 << 14;

/// Moves of weight between two passes.
const MOVES: usize = 4000;

/// The u of least regularised risk, and what no u falls below.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RegularisedBest {
    /// σ.
    pub sigma: f64,
    /// Its mean loss plus ½σ‖u‖².
    pub objective: f64,
    /// No u has less than `objective − gap`.
    pub gap: f64,
    /// ‖u‖₂.
    pub norm: f64,
    /// The passes that were made over the rows.
    pub passes: u32,
    /// u_i of each feature by its number.
    pub weights: Vec<f64>,
}

/// L and a minorant of it: the constant and the slope.
struct Cut {
    loss: f64,
    constant: f64,
    slope: Vec<f64>,
}

/// Looks for the u of least L(u) + ½σ‖u‖², to a gap of at most `gap` times that, or as near as it comes in 300 passes.
///
/// ```
/// use onward::hindsight::{RowsInMemory, Serial, regularised};
/// use onward::{Batch, loss};
///
/// let mut batch = Batch::default();
/// batch.push(0, 1.0);
/// batch.finish(Some(3.0), 1.0);
/// let mut rows = RowsInMemory::default();
/// rows.record(&batch);
/// // (u − 3)² + ½u²: u = 2, which pays 3.
/// let best = regularised(&rows, &Serial, &*loss::parse("squared")?, 1.0, 1e-6).unwrap();
/// assert!((best.weights[0] - 2.0).abs() < 1e-2 && (best.objective - 3.0).abs() < 1e-5);
/// # Ok::<(), onward::Error>(())
/// ```
///
/// # Errors
/// When rows cannot be walked, there are none, or more than 16,384 features; when the loss is not convex, or the gap not
/// between 0 and 1.
pub fn regularised<R: RowSource, W: Workers>(
    rows: &R,
    workers: &W,
    loss: &dyn Loss,
    sigma: f64,
    gap: f64,
) -> Result<RegularisedBest, HindsightError<R::Error>> {
    check(loss, ComparatorClass::Unconstrained, gap).map_err(HindsightError::Refused)?;
    let dimension = rows.dimension();
    if dimension > MOST_FEATURES {
        let message =
            format!("the best of a regularised objective is for at most {MOST_FEATURES} features; got {dimension}");
        return Err(HindsightError::Refused(Error::parameter(message)));
    }
    let (mut cuts, mut products, mut shares): (Vec<Cut>, Vec<Vec<f64>>, Vec<f64>) = Default::default();
    let mut weights = vec![0.0; dimension];
    let mut best =
        RegularisedBest { sigma, objective: f64::INFINITY, gap: 0.0, norm: 0.0, passes: 0, weights: Vec::new() };
    let mut lower = f64::NEG_INFINITY;
    for pass in 1..=MOST_PASSES {
        let Some(cut) = cut(rows, workers, loss, &weights)? else {
            let message = "the best regularised predictor needs a row with a label and a weight above 0; there is none";
            return Err(HindsightError::Refused(Error::parameter(message)));
        };
        best.passes = pass as u32;
        let square = dot(&weights, &weights);
        let objective = cut.loss + 0.5 * sigma * square;
        if objective < best.objective {
            best = RegularisedBest { objective, norm: square.sqrt(), weights: weights.clone(), ..best };
        }
        let mut line: Vec<f64> = cuts.iter().map(|other| dot(&other.slope, &cut.slope)).collect();
        products.iter_mut().zip(&line).for_each(|(other, &product)| other.push(product));
        line.push(dot(&cut.slope, &cut.slope));
        products.push(line);
        cuts.push(cut);
        shares.push(if pass == 1 { 1.0 } else { 0.0 });
        climb(&cuts, &products, &mut shares, sigma, 0.1 * gap * best.objective.abs());
        let total: f64 = shares.iter().sum();
        let (mut slope, mut constant) = (vec![0.0; dimension], 0.0);
        for (cut, share) in cuts.iter().zip(&mut shares) {
            *share /= total;
            constant += *share * cut.constant;
            add_scaled(&mut slope, *share, &cut.slope);
        }
        lower = lower.max(constant - dot(&slope, &slope) / (2.0 * sigma));
        if best.objective - lower <= gap * best.objective.abs() {
            break;
        }
        weights = slope.iter().map(|slope| -slope / sigma).collect();
    }
    best.gap = (best.objective - lower).max(0.0);
    Ok(best)
}

/// Moves weight while that raises the bound by more than this.
fn climb(cuts: &[Cut], products: &[Vec<f64>], shares: &mut [f64], sigma: f64, enough: f64) {
    let mut along: Vec<f64> = products.iter().map(|line| dot(line, shares)).collect();
    for _ in 0..MOVES {
        let merit = |at: usize| cuts[at].constant - along[at] / sigma;
        let held = (0..shares.len()).filter(|&at| shares[at] > 0.0);
        let (Some(to), Some(from)) = (
            (0..shares.len()).max_by(|&a, &b| merit(a).total_cmp(&merit(b))),
            held.min_by(|&a, &b| merit(a).total_cmp(&merit(b))),
        ) else {
            return;
        };
        let gain = merit(to) - merit(from);
        if to == from || gain <= enough {
            return;
        }
        let bend = (products[to][to] - 2.0 * products[to][from] + products[from][from]) / sigma;
        let step = if bend > 0.0 { (gain / bend).min(shares[from]) } else { shares[from] };
        shares[to] += step;
        shares[from] = (shares[from] - step).max(0.0);
        for (along, (to, from)) in along.iter_mut().zip(products[to].iter().zip(&products[from])) {
            *along += step * (to - from);
        }
    }
}

/// One pass at these weights; `None` without a row.
fn cut<R: RowSource, W: Workers>(
    rows: &R,
    workers: &W,
    loss: &dyn Loss,
    weights: &[f64],
) -> Result<Option<Cut>, R::Error> {
    let shards = workers.map(rows.shards(), &|shard| {
        let (mut paid, mut constant, mut weight, mut slope) = (0.0, 0.0, 0.0, vec![0.0; weights.len()]);
        rows.visit(shard, &mut |row| {
            let inner = row.dot(weights);
            let score = row.offset + inner;
            let (value, derivative) = (loss.value(score, row.label), loss.gradient(score, row.label).derivative);
            paid += row.weight * value;
            constant += row.weight * (value - derivative * inner);
            weight += row.weight;
            for (&number, &value) in row.numbers.iter().zip(row.values) {
                slope[number as usize] += row.weight * derivative * f64::from(value);
            }
        })
        .map(|()| (paid, constant, weight, slope))
    });
    let (mut paid, mut constant, mut weight, mut slope) = (0.0, 0.0, 0.0, vec![0.0; weights.len()]);
    for shard in shards {
        let (more, offset, heavier, steeper) = shard?;
        (paid, constant, weight) = (paid + more, constant + offset, weight + heavier);
        add_scaled(&mut slope, 1.0, &steeper);
    }
    slope.iter_mut().for_each(|slope| *slope /= weight);
    Ok((weight > 0.0).then(|| Cut { loss: paid / weight, constant: constant / weight, slope }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hindsight::{RowsInMemory, Serial};
    use crate::numeric::rng::SplitMix64;
    use crate::{Batch, loss};

    fn rows(count: u32) -> RowsInMemory {
        let (mut batch, mut random) = (Batch::default(), SplitMix64::new(5));
        let mut number = || random.below(1 << 20) as f32 / (1 << 19) as f32 - 1.0;
        for _ in 0..count {
            let (x, z, noise) = (number(), number(), number());
            batch.push(0, 1.0);
            batch.push(1, x);
            batch.push(2, z);
            batch.finish(Some(if 0.5 + x - 2.0 * z + noise > 0.0 { 1.0 } else { -1.0 }), f64::from(1 + count % 2));
        }
        let mut rows = RowsInMemory::default();
        rows.record(&batch);
        rows
    }

    /// The objective is convex: no step from the best found lowers it by more than the gap, nor does any u on a grid.
    #[test]
    fn the_gap_is_true_and_small_for_losses_with_kinks_and_without() {
        let rows = rows(400);
        for name in ["hinge", "logistic", "absolute", "squared"] {
            for sigma in [0.01, 0.1, 1.0] {
                let loss = loss::parse(name).unwrap();
                let best = regularised(&rows, &Serial, &*loss, sigma, 1e-3).unwrap();
                assert!(best.gap <= 1e-3 * best.objective, "{name} {sigma} {best:?}");
                let objective =
                    |u: &[f64]| cut(&rows, &Serial, &*loss, u).unwrap().unwrap().loss + 0.5 * sigma * dot(u, u);
                assert!((objective(&best.weights) - best.objective).abs() < 1e-12);
                for reach in [1.0, 0.1, 0.01] {
                    for at in 0..27 {
                        let step = |place: i32| f64::from(at / 3i32.pow(place as u32) % 3 - 1) * reach;
                        let u: Vec<f64> = (0..3).map(|place| best.weights[place as usize] + step(place)).collect();
                        assert!(objective(&u) >= best.objective - best.gap - 1e-12, "{name} {sigma} {u:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn least_squares_with_a_penalty_is_ridge_regression() {
        let (mut batch, sigma) = (Batch::default(), 0.3);
        for t in 0..50 {
            batch.push(0, (t % 7) as f32 - 3.0);
            batch.finish(Some(f64::from(t % 5)), 1.0);
        }
        let mut rows = RowsInMemory::default();
        rows.record(&batch);
        let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
        for t in 0..50 {
            let (x, y) = (f64::from(t % 7) - 3.0, f64::from(t % 5));
            (xx, xy, yy) = (xx + x * x / 50.0, xy + x * y / 50.0, yy + y * y / 50.0);
        }
        let u = 2.0 * xy / (2.0 * xx + sigma);
        let least = yy - 2.0 * u * xy + u * u * xx + 0.5 * sigma * u * u;
        let best = regularised(&rows, &Serial, &*loss::parse("squared").unwrap(), sigma, 1e-9).unwrap();
        assert!(
            (best.objective - least).abs() < 1e-8 && best.objective - best.gap <= least + 1e-12,
            "{best:?} {least}"
        );
    }
}
