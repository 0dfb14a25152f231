//! The scale of an axis: where a value lies, and which values are marked.

/// How values are spread over an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Spread {
    Linear,
    Logarithmic,
    /// Logarithmic in both directions from 0, linear below this size.
    Signed(f64),
}

/// From values to places on an axis.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    spread: Spread,
    low: f64,
    high: f64,
}

/// How many decades a scale of both signs has on either side of 0.
const SIGNED_DECADES: i32 = 6;

impl Scale {
    /// A scale that holds all values; on a logarithmic one 0 and negative values have their place too.
    pub(super) fn new(values: impl Iterator<Item = f64> + Clone, logarithmic: bool) -> Self {
        let low = values.clone().fold(f64::INFINITY, f64::min);
        let high = values.clone().fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
        let spread = match (logarithmic, low > 0.0) {
            (false, _) => Spread::Linear,
            (true, true) => Spread::Logarithmic,
            (true, false) => {
                let largest = low.abs().max(high.abs());
                let smallest = values.map(f64::abs).filter(|size| *size > 0.0).fold(largest, f64::min);
                let decade = |value: f64| if value > 0.0 { value.log10().floor() as i32 } else { 0 };
                Spread::Signed(power(decade(smallest).max(decade(largest) - SIGNED_DECADES)))
            }
        };
        let scale = Self { spread, low, high };
        let (bottom, top) = (scale.stretch(low), scale.stretch(high));
        if top > bottom {
            return scale;
        }
        // One value, or a range too small to tell apart.
        let margin = if bottom == 0.0 { 1.0 } else { bottom.abs() * 0.1 };
        Self { low: scale.shrink(bottom - margin), high: scale.shrink(top + margin), ..scale }
    }

    /// Leaves some room on both sides.
    pub(super) fn padded(self, share: f64) -> Self {
        let (bottom, top) = (self.stretch(self.low), self.stretch(self.high));
        let margin = share * (top - bottom);
        let least = if self.spread == Spread::Logarithmic { f64::MIN_POSITIVE } else { f64::MIN };
        let finite = |length: f64| self.shrink(length).clamp(least, f64::MAX);
        Self { low: finite(bottom - margin), high: finite(top + margin), ..self }
    }

    /// Where a value lies: 0 at the low end, 1 at the high end.
    pub(super) fn place(&self, value: f64) -> f64 {
        let (bottom, top) = (self.stretch(self.low), self.stretch(self.high));
        // In halves: the range of all floats is no float.
        (self.stretch(value) / 2.0 - bottom / 2.0) / (top / 2.0 - bottom / 2.0)
    }

    fn stretch(&self, value: f64) -> f64 {
        match self.spread {
            Spread::Linear => value,
            Spread::Logarithmic => value.log10(),
            Spread::Signed(unit) => value.signum() * (1.0 + value.abs() / unit).log10(),
        }
    }

    fn shrink(&self, length: f64) -> f64 {
        match self.spread {
            Spread::Linear => length,
            Spread::Logarithmic => 10f64.powf(length),
            Spread::Signed(unit) => length.signum() * unit * (10f64.powf(length.abs()) - 1.0),
        }
    }

    /// The values that are marked, in order: about as many as are wanted.
    pub(super) fn ticks(&self, wanted: usize) -> Vec<f64> {
        let mut ticks = match self.spread {
            Spread::Linear => linear_ticks(self.low, self.high, wanted),
            Spread::Logarithmic => self.decades(wanted),
            Spread::Signed(unit) => self.signed_ticks(unit, wanted),
        };
        ticks.retain(|&tick| (self.low..=self.high).contains(&tick));
        ticks
    }

    fn decades(&self, wanted: usize) -> Vec<f64> {
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let inside = |ticks: &[f64]| ticks.iter().filter(|tick| (self.low..=self.high).contains(tick)).count();
        let every = (last - first) as usize / (wanted + 1) + 1;
        let whole: Vec<f64> = (first..=last).filter(|at| at.rem_euclid(every as i32) == 0).map(power).collect();
        if inside(&whole) >= 3 {
            return whole;
        }
        let parts: Vec<f64> = (first..=last).flat_map(|at| [1.0, 2.0, 5.0].map(|digit| digit * power(at))).collect();
        if inside(&parts) >= 3 { parts } else { linear_ticks(self.low, self.high, wanted) }
    }

    fn signed_ticks(&self, unit: f64, wanted: usize) -> Vec<f64> {
        let unit = unit.log10().round() as i32;
        let last = |end: f64| if end > 0.0 { end.log10().floor() as i32 } else { unit - 1 };
        let (up, down) = (last(self.high), last(-self.low));
        // The unit itself is next to 0.
        let first = if up.max(down) > unit + 1 { unit + 1 } else { unit };
        let decades = (up - first + 1).max(0) + (down - first + 1).max(0);
        let every = decades as usize / (wanted + 1) + 1;
        let side = |last: i32| (first..=up.max(down)).rev().step_by(every).filter(move |at| *at <= last).map(power);
        let mut ticks: Vec<f64> = side(down).map(|tick| -tick).collect();
        ticks.push(0.0);
        ticks.extend(side(up).collect::<Vec<_>>().into_iter().rev());
        ticks
    }
}

/// 10^exponent, with the digits that its decimal has.
fn power(exponent: i32) -> f64 {
    format!("1e{exponent}").parse().unwrap_or(f64::INFINITY)
}

/// Multiples of 1, 2 or 5 times a power of ten.
fn linear_ticks(low: f64, high: f64, wanted: usize) -> Vec<f64> {
    let rough = (high - low) / wanted.max(1) as f64;
    if !(rough.is_finite() && rough > 0.0) {
        return vec![low];
    }
    let size = power(rough.log10().floor() as i32);
    let step = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * size).into_iter().find(|step| *step >= rough);
    let step = step.unwrap_or(rough);
    let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
    (first..=last).map(|at| at as f64 * step).collect()
}

/// A tick in words: commas between thousands, no more digits than it has.
pub(super) fn label(tick: f64) -> String {
    let size = tick.abs();
    if size != 0.0 && !(1e-4..1e6).contains(&size) {
        let text = format!("{tick:.2e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let digits = digits.trim_end_matches('0').trim_end_matches('.');
        return format!("{digits}e{exponent}").replace('-', "−");
    }
    let rounded = super::text::rounded(tick, 9);
    if rounded.fract() != 0.0 || size < 1000.0 {
        return format!("{rounded}").replace('-', "−");
    }
    let sign = if rounded < 0.0 { "−" } else { "" };
    format!("{sign}{}", super::text::grouped(size.round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(values: &[f64], logarithmic: bool) -> Scale {
        Scale::new(values.iter().copied(), logarithmic)
    }

    #[test]
    fn values_lie_inside_and_where_the_spread_puts_them() {
        for (values, logarithmic) in [
            (&[-2.0, 5.0][..], false),
            (&[0.01, 300.0], true),
            (&[-3.0, 0.0, 1000.0], true),
            (&[7.0], true),
            (&[0.0], false),
        ] {
            let scale = scale(values, logarithmic);
            for value in values {
                let place = scale.place(*value);
                assert!((-1e-12..=1.0 + 1e-12).contains(&place), "{values:?} {place}");
            }
        }
        assert_eq!(scale(&[1.0, 100.0], true).place(10.0), 0.5);
        assert_eq!(scale(&[1.0, 3.0], false).place(2.0), 0.5);
        // On both sides of 0, 0 is in the middle.
        assert_eq!(scale(&[-50.0, 0.001, 50.0], true).place(0.0), 0.5);
    }

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(scale(&[0.0, 1.0], false).ticks(5).len(), 6);
        assert_eq!(scale(&[1.0, 336_776.0], true).ticks(6), [1.0, 10.0, 100.0, 1e3, 1e4, 1e5]);
        assert_eq!(scale(&[0.2, 0.9], true).ticks(5), [0.2, 0.4, 0.6000000000000001, 0.8]);
        assert_eq!(scale(&[0.2, 5.0], true).ticks(5), [0.2, 0.5, 1.0, 2.0, 5.0]);
        assert_eq!(scale(&[-20.0, 0.5, 300.0], true).ticks(9), [-10.0, -1.0, 0.0, 1.0, 10.0, 100.0]);
        let wide = scale(&[1e-300, 1e300], true).ticks(6);
        assert!((4..=8).contains(&wide.len()), "{wide:?}");
        assert!(scale(&[f64::MIN, f64::MAX], false).ticks(5).len() <= 7);
    }

    #[test]
    fn labels_have_no_more_digits_than_needed() {
        let labels = [0.0, 0.6000000000000001, -0.25, 1000.0, 100_000.0, -2500.0, 1e6, 2e-7, 1.5e12].map(label);
        assert_eq!(labels, ["0", "0.6", "−0.25", "1,000", "100,000", "−2,500", "1e6", "2e−7", "1.5e12"]);
    }
}
