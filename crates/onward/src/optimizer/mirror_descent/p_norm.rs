//! The p-norm map: ψ(w) = ½‖w‖_p² with 1 < p ≤ 2 (Grove, Littlestone, Schuurmans 2001; Gentile
//! 2003). At p = 2 it is the Euclidean one: gradient descent, step for step.
//!
//! With 1/p + 1/q = 1 the mirror step is θ ← θ − η_t z_t, and the link back is the gradient of
//! ½‖θ‖_q²: w_i = sign(θ_i)·|θ_i|^{q−1}/‖θ‖_q^{q−2}; ‖w‖_p = ‖θ‖_q.
//!
//! **Projection.** The Bregman projection on ‖w‖_p ≤ U is scaling, exactly: it minimises
//! ψ(v) − ⟨θ, v⟩, by Hölder ⟨θ, v⟩ ≤ ‖θ‖_q‖v‖_p with equality along w, so v = r·w/‖w‖_p with r
//! minimising ½r² − r‖θ‖_q on r ≤ U. The link is homogeneous: θ is scaled likewise.
//!
//! **Guarantee**, for convex losses and every ‖u‖_p ≤ U: ψ is (p−1)-strongly convex in ‖·‖_p, so with
//! η fixed (projected or not) R_T(u) ≤ U²/(2η) + (η/(2(p−1))) Σ‖z_t‖_q². With the projection the
//! divergence is bounded, D_ψ(u, w) = ½‖u‖_p² + ½‖w‖_p² − ⟨θ, u⟩ ≤ 2U², so rates that fall may be
//! used: R_T(u) ≤ 2U²/η_T + (1/(2(p−1))) Σ η_t‖z_t‖_q². Self-tuned η_t = U√(2(p−1)/Σ_{s≤t}‖z_s‖_q²) makes
//! this U√(8Σ‖z‖_q²/(p−1)). With G ≥ ‖z_t‖_q and η = U√(p−1)/(G√T) it is UG√(T/(p−1)).
//!
//! **Cost**: O(non-zeros) per round; Σ|θ|^q is kept term by term and in logarithms (`log_sum.rs`),
//! which holds for q up to 1001.

use super::log_sum::LogSum;
use super::{ETA, MAP, MirrorRate, P, PROJECT, RADIUS, STEP};
use crate::numeric::sum;
use crate::optimizer::prelude::*;
use crate::storage::table::ParameterTable;

/// Mirror descent with ψ = ½‖w‖_p².
///
/// ```
/// use onward::optimizer::mirror_descent::{PNorm, MirrorRate};
/// use onward::{Features, optimizer::Optimizer};
/// let mut it = PNorm::new(1.5, 10.0, true, MirrorRate::Fixed(0.1))?;
/// it.observe(1.0, Features::new(&[0, 1], &[3.0, 4.0])?);
/// // q = 3: w = −η z²/‖z‖_3, z = (3, 4).
/// let norm = (27.0f64 + 64.0).cbrt();
/// assert!((it.weight(1) + 0.1 * 16.0 / norm).abs() < 1e-12);
/// # Ok::<(), onward::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct PNorm {
    p: f64,
    q: f64,
    radius: f64,
    is_projected: bool,
    rate: MirrorRate,
    step: StepKind,
    /// θ = scale·v.
    scale: f64,
    table: ParameterTable<f64>,
    /// ln Σ|v_i|^q.
    powers: LogSum,
    /// How many terms that has, zeros among them.
    terms: f64,
    /// Σ‖z‖_q².
    squares: f64,
    /// η_T, the rate of the last round.
    last_rate: f64,
    /// Σ η_t‖z_t‖_q².
    paid: f64,
}

/// Below this the scale is multiplied into the entries.
const SMALLEST_SCALE: f64 = 1e-10;

/// Entries stay within this, as weights do elsewhere.
const LARGEST: f64 = f32::MAX as f64;

impl PNorm {
    /// With this p, projected on the p-norm ball of this radius or not.
    ///
    /// # Errors
    /// When p is not from 1.001 to 2, the radius or a fixed η not from 1e-30 to 1e30, or the rate is
    /// self-tuned without a projection.
    pub fn new(p: f64, radius: f64, is_projected: bool, rate: MirrorRate) -> Result<Self, Error> {
        P.check(p)?;
        RADIUS.check(radius)?;
        rate.eta().map(|eta| ETA.check(eta)).transpose()?;
        if rate == MirrorRate::SelfTuned && !is_projected {
            return Err(Error::parameter("project=false needs a number for eta; got auto"));
        }
        Ok(Self {
            p,
            q: p / (p - 1.0),
            radius,
            is_projected,
            rate,
            step: StepKind::Gradient,
            scale: 1.0,
            table: ParameterTable::default(),
            powers: LogSum::default(),
            terms: 0.0,
            squares: 0.0,
            last_rate: 0.0,
            paid: 0.0,
        })
    }

    /// The same with this kind of steps, at p = 2. Elsewhere the step is by the gradient, whatever is said here.
    #[must_use]
    pub fn with_step(self, step: StepKind) -> Self {
        Self { step, ..self }
    }

    fn comparator(&self) -> Comparator {
        let (p, radius) = (self.p, self.radius);
        if p == 2.0 { Comparator::Ball(radius) } else { Comparator::PNormBall { p, radius } }
    }

    /// What the bound can become.
    pub(super) fn promise(&self, loss: &dyn Loss, scales: &ProblemBounds) -> Guarantee {
        if !self.is_projected {
            return Guarantee::missing("without a projection its gradients have no bound in advance");
        }
        // |⟨w, x⟩| ≤ ‖w‖_p‖x‖_q ≤ U‖x‖₂.
        let gradient = scales.gradient(loss, self.radius);
        let (convexity, rounds) = (self.p - 1.0, scales.rounds);
        let bound = match self.rate {
            MirrorRate::Fixed(eta) => {
                self.radius * self.radius / (2.0 * eta) + eta * gradient * gradient * rounds / (2.0 * convexity)
            }
            MirrorRate::SelfTuned => self.radius * gradient * (8.0 * rounds / convexity).sqrt(),
        };
        Guarantee::own(self.comparator(), bound)
    }

    /// ‖x‖_q.
    fn dual_norm(&self, values: &[f32]) -> f64 {
        if self.q == 2.0 {
            return sum::squares(values).sqrt();
        }
        let most = f64::from(values.iter().fold(0.0f32, |most, value| most.max(value.abs())));
        if most == 0.0 {
            return 0.0;
        }
        let powers = values.iter().map(|&value| libm::pow(f64::from(value.abs()) / most, self.q));
        most * libm::pow(sum::sum(powers), 1.0 / self.q)
    }

    /// ln |v|^q.
    fn log_power(&self, entry: f64) -> f64 {
        self.q * libm::log(entry.abs())
    }

    /// w_i for the entry v_i.
    fn link(&self, entry: f64) -> f64 {
        if self.q == 2.0 || entry == 0.0 {
            return self.scale * entry;
        }
        let size = (self.q - 1.0) * libm::log(entry.abs()) - (self.q - 2.0) / self.q * self.powers.ln();
        self.scale * libm::exp(size).copysign(entry)
    }

    /// ‖w‖_p = ‖θ‖_q.
    fn norm(&self) -> f64 {
        self.scale * libm::exp(self.powers.ln() / self.q)
    }

    fn rebuild(&mut self) {
        // In order of index: a saved state goes on to the bit.
        let indices = self.table.used(|entry| *entry != 0.0);
        self.powers = LogSum::rebuild(indices.iter().map(|&index| self.log_power(self.table.get(index))));
        self.terms = indices.len() as f64;
    }

    fn project(&mut self) {
        let norm = self.norm();
        if norm <= self.radius {
            return;
        }
        self.scale *= self.radius / norm;
        if self.scale < SMALLEST_SCALE {
            self.table.entries_mut().for_each(|entry| *entry *= self.scale);
            self.scale = 1.0;
            self.rebuild();
        }
    }
}

impl Optimizer for PNorm {
    fn prepare(&mut self, g: f64, h: f64, x: Features<'_>) -> Step {
        let norm = (h * g).abs() * self.dual_norm(x.values());
        let square = (norm * norm).min(f64::MAX);
        self.squares = (self.squares + square).min(f64::MAX);
        let rate = match self.rate {
            MirrorRate::Fixed(eta) => eta,
            MirrorRate::SelfTuned if self.squares > 0.0 => self.radius * (2.0 * (self.p - 1.0) / self.squares).sqrt(),
            // No gradient so far: no step, and no rate to speak of.
            MirrorRate::SelfTuned => 0.0,
        };
        self.last_rate = rate;
        self.paid = (self.paid + rate * square).min(f64::MAX);
        match (self.step, self.q == 2.0) {
            // As in gradient descent, whose bound flow keeps.
            (StepKind::Flow, true) => Step::Flow { time: rate * h, q: sum::squares(x.values()) },
            _ => Step::Gradient { time: rate * h },
        }
    }

    fn advance(&mut self, u: f64, x: Features<'_>) {
        let step = u / self.scale;
        for (index, value) in x.iter() {
            let entry = self.table.entry(index);
            let before = *entry;
            *entry = (before + step * f64::from(value)).clamp(-LARGEST, LARGEST);
            let after = *entry;
            if after != before {
                self.terms += f64::from(u8::from(before == 0.0));
                self.powers.replace(self.log_power(before), self.log_power(after));
            }
        }
        if self.terms > 0.0 && self.powers.is_worn(self.terms) {
            self.rebuild();
        }
        if self.is_projected {
            self.project();
        }
    }

    fn weight(&self, index: u32) -> f64 {
        self.link(self.table.get(index))
    }

    fn guarantee(&self) -> Guarantee {
        let divergence = match self.rate {
            MirrorRate::Fixed(_) => 0.5 * self.radius * self.radius,
            MirrorRate::SelfTuned => 2.0 * self.radius * self.radius,
        };
        // Before the first gradient nothing was paid.
        let first = if self.squares > 0.0 { divergence / self.last_rate } else { 0.0 };
        Guarantee::own(self.comparator(), first + self.paid / (2.0 * (self.p - 1.0)))
    }

    fn describe(&self) -> String {
        let it = Description::of("mirror-descent").with_optional(&ETA, self.rate.eta());
        let is_euclidean = self.p == 2.0;
        let it = if is_euclidean { it.with(&MAP, "euclidean") } else { it.with(&MAP, "pnorm").with(&P, self.p) };
        let it = it.with(&PROJECT, self.is_projected).with(&RADIUS, self.radius);
        if is_euclidean { it.with(&STEP, self.step).into() } else { it.into() }
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(archive.number(self.scale, self.terms, self.squares, self.last_rate, self.paid));
        archive.part("powers", |archive| self.powers.persist(archive))?;
        self.table.persist(archive, |entry| *entry != 0.0, &[("dual", Field::F64(&|it| it))])
    }
}
