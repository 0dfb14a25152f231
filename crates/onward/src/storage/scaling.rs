//! Running standardisation: the scale of a feature, from the rows so far.
//!
//! A feature that is present in nearly every row (95% of the weight of all rows)
//! is centred and divided by its running standard deviation; one that is always
//! there and never varies becomes 0, for the bias says as much. Rarer features,
//! and the bias at index 0, stay as they are: centring them would make every row
//! dense. The row that is being predicted counts among the rows so far; its label
//! does not.

use bytemuck::Zeroable;

use crate::archive::{Archive, fields};
use crate::storage::table::ParameterTable;
use crate::{Error, Features};

/// The share of rows from which on a feature counts as always there.
const DENSE: f64 = 0.95;

/// What is known of a feature: Welford's running mean and sum of squares.
#[derive(Debug, Clone, Copy, Zeroable)]
#[repr(C)]
struct ScalingEntry {
    /// Σ h of the rows that had it.
    weight: f64,
    mean: f64,
    /// Σ h (x − mean)².
    squares: f64,
}

impl ScalingEntry {
    /// Takes in a value, and gives the feature as the learner sees it; `total` is the weight of all rows.
    #[inline]
    fn scale(&mut self, value: f32, weight: f64, total: f64, shares: &mut WeightShare) -> f32 {
        let wide = f64::from(value);
        self.weight += weight;
        let distance = wide - self.mean;
        // Nothing moves for categories, whose value is always 1.
        if distance != 0.0 {
            self.mean += distance * shares.of(weight, self.weight);
            self.squares += weight * distance * (wide - self.mean);
        }
        if self.weight < DENSE * total {
            return value;
        }
        if self.squares > 0.0 {
            return crate::numeric::saturate((wide - self.mean) * (self.weight / self.squares).sqrt());
        }
        if self.weight >= total { 0.0 } else { value }
    }
}

/// weight/total, remembered: features that are in every row share their total, and a
/// division per feature took a twentieth of the time of a round.
#[derive(Default)]
struct WeightShare {
    total: f64,
    share: f64,
}

impl WeightShare {
    #[inline]
    fn of(&mut self, weight: f64, total: f64) -> f64 {
        if total != self.total {
            *self = Self { total, share: weight / total };
        }
        self.share
    }
}

/// Running standardisation of features.
#[derive(Debug, Clone, Default)]
pub struct RunningScale {
    entries: ParameterTable<ScalingEntry>,
    /// Σ h of all rows.
    total: f64,
}

impl RunningScale {
    /// Takes in a row of importance > 0 and adds its scaled values.
    pub fn observe(&mut self, x: Features<'_>, weight: f64, scaled: &mut Vec<f32>) {
        self.total += weight;
        let mut shares = WeightShare::default();
        scaled.extend(x.iter().map(|(index, value)| match index {
            0 => value,
            _ => self.entries.entry(index).scale(value, weight, self.total, &mut shares),
        }));
    }

    /// Adds the values that [`observe`](Self::observe) would give with importance 1, and keeps nothing.
    pub fn scale(&self, x: Features<'_>, scaled: &mut Vec<f32>) {
        let mut shares = WeightShare::default();
        scaled.extend(x.iter().map(|(index, value)| match index {
            0 => value,
            _ => self.entries.get(index).scale(value, 1.0, self.total + 1.0, &mut shares),
        }));
    }

    /// Whether a feature is centred and divided by its deviation.
    pub fn is_centred(&self, index: u32) -> bool {
        let entry = self.entries.get(index);
        index != 0 && entry.weight >= DENSE * self.total && entry.squares > 0.0
    }

    /// By what a feature is divided: 1 for those that stay as they are.
    pub fn deviation(&self, index: u32) -> f64 {
        let entry = self.entries.get(index);
        if self.is_centred(index) { (entry.squares / entry.weight).sqrt() } else { 1.0 }
    }

    /// Saves or loads what is needed to continue to the bit.
    ///
    /// # Errors
    /// When something is missing or does not match.
    pub fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.number("total", &mut self.total)?;
        let fields = fields!(ScalingEntry { "weight": F64 weight, "mean": F64 mean, "squares": F64 squares });
        self.entries.persist(archive, |entry| entry.weight > 0.0, &fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_features_get_mean_zero_and_deviation_one() {
        let (mut scale, mut scaled) = (RunningScale::default(), Vec::new());
        let values: Vec<f32> = (0..1000u32).map(|row| 5.0 + (row * 7919 % 1000) as f32).collect();
        for &value in &values {
            scaled.clear();
            scale.observe(Features::new(&[0, 1], &[1.0, value]).unwrap(), 1.0, &mut scaled);
            assert_eq!(scaled[0], 1.0);
        }
        let mean = values.iter().map(|&value| f64::from(value)).sum::<f64>() / 1000.0;
        let variance = values.iter().map(|&value| (f64::from(value) - mean).powi(2)).sum::<f64>() / 1000.0;
        let last = f64::from(*values.last().unwrap());
        assert!((f64::from(scaled[1]) - (last - mean) / variance.sqrt()).abs() < 1e-6);
        assert!((scale.deviation(1) - variance.sqrt()).abs() < 1e-9 * variance);
    }

    #[test]
    fn rare_features_stay_and_constant_ones_vanish() {
        let (mut scale, mut scaled) = (RunningScale::default(), Vec::new());
        for row in 0..100u32 {
            let rare: &[(u32, f32)] = if row % 2 == 0 { &[(1, 9.0), (2, 3.0)] } else { &[(1, 9.0)] };
            let (indices, values): (Vec<_>, Vec<_>) = rare.iter().copied().unzip();
            scale.observe(Features::new(&indices, &values).unwrap(), 1.0, &mut scaled);
        }
        scaled.clear();
        scale.scale(Features::new(&[1, 2], &[9.0, 3.0]).unwrap(), &mut scaled);
        assert_eq!(scaled, [0.0, 3.0]);
    }

    #[test]
    fn scaling_a_row_gives_what_observing_it_gives() {
        let mut scale = RunningScale::default();
        let (mut scaled, mut observed) = (Vec::new(), Vec::new());
        for row in 0..50u32 {
            let values = [1.0, (row * 37 % 11) as f32, -(row as f32)];
            let x = Features::new(&[0, 1, 2], &values).unwrap();
            scale.scale(x, &mut scaled);
            scale.observe(x, 1.0, &mut observed);
            assert_eq!(scaled, observed);
        }
    }
}
