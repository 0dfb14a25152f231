//! The simplex w_i ≥ 0, Σ w_i = U, with exact Euclidean projection (Held, Wolfe,
//! Crowder 1974; Duchi, Shalev-Shwartz, Singer, Chandra 2008).
//!
//! Π(v)_i = max(0, v_i − τ), where τ is the one number for which the entries sum
//! to U. With v sorted in falling order and S_k the sum of the k largest,
//! τ = (S_k − U)/k for the largest k with v_k > (S_k − U)/k.
//!
//! Cost: O(d log d), for the sort, whatever the row holds.

/// τ, in two parts: entries far larger than U do not swallow it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Threshold {
    /// The largest entry.
    largest: f64,
    /// τ − largest.
    below: f64,
}

impl Threshold {
    /// τ, for which Σ max(0, v_i − τ) = `radius`. The values are left in falling order.
    ///
    /// ```
    /// use onward::domain::simplex::Threshold;
    /// // 0.9 and 0.6 stay above τ = 0.25, 0.1 does not.
    /// let threshold = Threshold::of(&mut [0.1, 0.9, 0.6], 1.0);
    /// assert!((threshold.cut(0.9) - 0.65).abs() < 1e-15 && threshold.cut(0.1) == 0.0);
    /// ```
    pub fn of(values: &mut [f64], radius: f64) -> Self {
        values.sort_unstable_by(|one, other| other.total_cmp(one));
        let largest = values.first().copied().unwrap_or(0.0);
        let (mut sum, mut below) = (0.0, -radius);
        for (at, value) in values.iter().enumerate() {
            sum += value - largest;
            let candidate = (sum - radius) / (at + 1) as f64;
            if value - largest <= candidate {
                break;
            }
            below = candidate;
        }
        Self { largest, below }
    }

    /// max(0, value − τ).
    #[inline]
    pub fn cut(&self, value: f64) -> f64 {
        ((value - self.largest) - self.below).max(0.0)
    }
}

/// The Euclidean projection on the simplex of this size.
///
/// ```
/// let mut w = [0.1, 0.9, 0.6];
/// onward::domain::simplex::project(&mut w, 1.0);
/// assert!((w[1] - 0.65).abs() < 1e-15 && w[0] == 0.0);
/// ```
pub fn project(values: &mut [f64], radius: f64) {
    let threshold = Threshold::of(&mut values.to_vec(), radius);
    values.iter_mut().for_each(|value| *value = threshold.cut(*value));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// w is the projection of v exactly if ⟨v − w, u − w⟩ ≤ 0 for every u of the set: for a
        /// simplex it is enough to ask its corners.
        #[test]
        fn a_projection_makes_an_obtuse_angle_with_every_corner(
            v in prop::collection::vec(-5.0f64..5.0, 1..12), radius in 0.01f64..20.0
        ) {
            let mut w = v.clone();
            project(&mut w, radius);
            prop_assert!((w.iter().sum::<f64>() - radius).abs() < 1e-13 * radius.max(1.0) * 20.0);
            prop_assert!(w.iter().all(|&w| w >= 0.0));
            for corner in 0..v.len() {
                let angle: f64 = (0..v.len())
                    .map(|i| (v[i] - w[i]) * (if i == corner { radius } else { 0.0 } - w[i]))
                    .sum();
                prop_assert!(angle <= 1e-11 * radius.max(1.0), "{angle}");
            }
        }
    }

    #[test]
    fn a_small_simplex_is_not_lost_beside_large_values() {
        let mut w = [1e18, 1e18, -1e18];
        project(&mut w, 1.0);
        assert_eq!(w, [0.5, 0.5, 0.0]);
        project(&mut [], 1.0);
    }
}
