//! The course of a run: points at log-spaced rounds (1, 2, 4, …) and at evenly
//! spaced ones, in bounded memory: when there are too many evenly spaced points,
//! every other one is dropped and the spacing doubles.

use super::CertificateTerms;
use crate::Error;
use crate::archive::{Archive, Field};

/// Most evenly spaced points that are kept.
const MOST_POINTS: usize = 512;

/// Sums at a round.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LedgerPoint {
    /// The round: labelled examples so far.
    pub round: u64,
    /// Σ h·ℓ so far.
    pub loss: f64,
    /// Σ h so far.
    pub weight: f64,
    /// The universal guarantee on the regret summed over rounds, for the class in the scales so far; at log-spaced rounds only.
    pub guarantee: Option<f64>,
    /// What it is made of.
    pub terms: Option<CertificateTerms>,
    /// The mean loss of the best constant; at log-spaced rounds only.
    pub baseline: Option<f64>,
    /// Σ h·ℓ of the online constant so far.
    pub online_constant: Option<f64>,
    /// Σ h·ℓ of the no-change baseline so far.
    pub no_change: Option<f64>,
}

impl LedgerPoint {
    /// Where nothing was paid yet.
    pub(crate) fn zero() -> Self {
        Self { online_constant: Some(0.0), no_change: Some(0.0), ..Self::default() }
    }
}

/// Points at log-spaced and evenly spaced rounds.
#[derive(Debug, Clone)]
pub struct Curve {
    logarithmic: Vec<LedgerPoint>,
    even: Vec<LedgerPoint>,
    spacing: u64,
}

impl Default for Curve {
    fn default() -> Self {
        Self { logarithmic: Vec::new(), even: Vec::new(), spacing: 1 }
    }
}

impl Curve {
    /// Whether a point with guarantee and baseline is due at this round.
    pub fn is_logarithmic(&self, round: u64) -> bool {
        round.is_power_of_two()
    }

    /// Whether any point is due at this round.
    pub fn is_due(&self, round: u64) -> bool {
        // The spacing is a power of two, which spares a division in each round.
        round.is_power_of_two() || round & (self.spacing - 1) == 0
    }

    /// Takes in a point that is due.
    pub fn push(&mut self, point: LedgerPoint) {
        if self.is_logarithmic(point.round) {
            self.logarithmic.push(point);
        }
        if point.round.is_multiple_of(self.spacing) {
            self.even.push(point);
        }
        if self.even.len() > MOST_POINTS {
            self.spacing = self.spacing.saturating_mul(2);
            let spacing = self.spacing;
            self.even.retain(|point| point.round.is_multiple_of(spacing));
        }
    }

    /// All points in order of round.
    pub fn points(&self) -> Vec<LedgerPoint> {
        let mut points = self.logarithmic.clone();
        points.extend(self.even.iter().filter(|point| !point.round.is_power_of_two()));
        points.sort_by_key(|point| point.round);
        points
    }

    /// The point of the first round.
    pub fn first(&self) -> Option<&LedgerPoint> {
        self.logarithmic.first()
    }

    /// The evenly spaced points: at each multiple of some number of rounds.
    pub fn even(&self) -> &[LedgerPoint] {
        &self.even
    }

    /// Saves or loads what is needed to continue to the bit.
    ///
    /// # Errors
    /// When something is missing or does not match.
    pub fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.count("spacing", &mut self.spacing)?;
        archive.check(self.spacing.is_power_of_two(), "spacing", "must be a power of two")?;
        for (name, points) in [("logarithmic", &mut self.logarithmic), ("even", &mut self.even)] {
            archive.part(name, |archive| {
                archive.records(points, &LedgerPoint::default(), POINT)?;
                persist_known("online_constant", points, |point| &mut point.online_constant, archive)?;
                persist_known("no_change", points, |point| &mut point.no_change, archive)
            })?;
        }
        let terms = |point: &LedgerPoint| {
            point.terms.map_or([f64::NAN; 3], |CertificateTerms { paid, bias, norm }| [paid, bias, norm])
        };
        let mut column: Vec<f64> = self.logarithmic.iter().flat_map(terms).collect();
        archive.optional_column("terms", &mut column)?;
        let is_whole = column.is_empty() || column.len() == 3 * self.logarithmic.len();
        archive.check(is_whole, "terms", "must have three numbers for each point")?;
        if archive.is_loading() {
            for (point, terms) in self.logarithmic.iter_mut().zip(column.as_chunks::<3>().0) {
                let [paid, bias, norm] = *terms;
                point.terms = known(paid).map(|paid| CertificateTerms { paid, bias, norm });
            }
        }
        Ok(())
    }
}

/// Saves or loads what is known of all points or of none: files of older versions do not have it.
fn persist_known(
    name: &str,
    points: &mut [LedgerPoint],
    field: impl Fn(&mut LedgerPoint) -> &mut Option<f64>,
    archive: &mut Archive,
) -> Result<(), Error> {
    let known: Option<Vec<f64>> = points.iter_mut().map(|point| *field(point)).collect();
    let mut column = known.unwrap_or_default();
    archive.optional_column(name, &mut column)?;
    if archive.is_loading() && !column.is_empty() {
        archive.check(column.len() == points.len(), name, "must be as long as the columns beside it")?;
        points.iter_mut().zip(column).for_each(|(point, value)| *field(point) = Some(value));
    }
    Ok(())
}

/// What is saved of a point. What it lacks is kept as NaN.
const POINT: &[(&str, Field<'_, LedgerPoint>)] = &[
    ("round", Field::Number(&|point| point.round as f64, &|point, round| point.round = round as u64)),
    ("loss", Field::F64(&|point| &mut point.loss)),
    ("weight", Field::F64(&|point| &mut point.weight)),
    (
        "guarantee",
        Field::Number(&|point| point.guarantee.unwrap_or(f64::NAN), &|point, it| point.guarantee = known(it)),
    ),
    ("baseline", Field::Number(&|point| point.baseline.unwrap_or(f64::NAN), &|point, it| point.baseline = known(it))),
];

fn known(number: f64) -> Option<f64> {
    (!number.is_nan()).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_keeps_few_points_at_even_and_at_log_spaced_rounds() {
        let mut curve = Curve::default();
        for round in 1..=100_000u64 {
            if curve.is_due(round) {
                curve.push(LedgerPoint { round, weight: round as f64, ..LedgerPoint::default() });
            }
        }
        let rounds: Vec<u64> = curve.points().iter().map(|point| point.round).collect();
        assert!(rounds.len() <= MOST_POINTS + 17 && rounds.len() > MOST_POINTS / 2);
        assert!(rounds.windows(2).all(|pair| pair[0] < pair[1]));
        assert!((0..17).all(|power| rounds.contains(&(1 << power))));
        let spacing = curve.spacing;
        assert!((1..=100_000 / spacing).all(|step| rounds.contains(&(step * spacing))));
    }
}
