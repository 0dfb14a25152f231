//! Online gradient descent for strongly convex losses (Hazan, Agarwal, Kale 2007).
//!
//! For the regularised losses h_t(ℓ_t(w) + ½σ‖w‖²): z_t = h_t(g_t x_t + σ w_t),
//! w_{t+1} = w_t − η_t z_t with η_t = 1/(σ Σ_{s≤t} h_s). No projection is needed;
//! with a radius the point is projected on the ball. The shrinking of weights
//! whose feature is absent is lazy (one scale for all), and equals the dense
//! computation to rounding.
//!
//! **Guarantee** on the regularised losses, for convex ℓ: ½ Σ η_t ‖z_t‖²
//! ≤ G²(1 + ln T)/(2σ) when ‖z‖ ≤ G (1 + ln T, not ln(T+1)). On the plain losses,
//! which is what is printed, ½σ Σ h_t (‖u‖² − ‖w_t‖²) is added: the
//! regularisation is what the comparator pays.
//!
//! With H_t = Σ_{s≤t} h_s and z = h(gx + σw) a round adds
//! ½η_t‖z_t‖² − ½σh_t‖w_t‖² = ½η_t h_t²(g²‖x‖² + 2gσ⟨w, x⟩) − ½σh_t‖w_t‖²·H_{t−1}/H_t, in which the large terms of a round
//! that shrinks all weights to nothing have cancelled.

use super::prelude::*;
use crate::domain::BallVector;
use crate::guarantee::Regularised;
use crate::numeric::sum;

/// Online gradient descent with rate 1/(σt) on σ-regularised losses.
#[derive(Debug, Clone)]
pub struct OgdStrong {
    sigma: f64,
    /// The radius of the ball that the point is projected on, if any.
    radius: Option<f64>,
    point: BallVector,
    /// H_T = Σ h_t.
    weight: f64,
    /// Σ η_t h_t²(g²‖x‖² + 2gσ⟨w, x⟩).
    paid: f64,
    /// Σ h_t‖w_t‖²·H_{t−1}/H_t.
    norms: f64,
    /// `None` in models that were saved without it.
    account: Option<RegularisedAccount>,
}

/// The part of sums of millions of terms that rounding may have lost.
const ROUNDING: f64 = 1e-12;

/// What is told of the regularised losses.
#[derive(Debug, Clone, Copy, Default)]
struct RegularisedAccount {
    /// Σ h_t‖w_t‖².
    norms: f64,
    /// Σ η_t‖z_t‖².
    squares: f64,
    /// G²: the largest ‖z_t‖² of unit importance.
    largest: f64,
    /// How many rounds had another importance than 1.
    weighted: f64,
}

/// The same of a plain sum.
const LOST: f64 = 1e-9;

/// The radius of the comparators that the guarantee is printed for, when none is given.
const COMPARATOR_RADIUS: f64 = 1.0;

impl OgdStrong {
    /// With this regularisation.
    ///
    /// # Errors
    /// When σ is not from 1e-30 to 1e30, or the radius not positive and finite.
    pub fn new(sigma: f64, radius: Option<f64>) -> Result<Self, Error> {
        SIGMA.check(sigma)?;
        radius.map(|radius| RADIUS.check(radius)).transpose()?;
        Ok(Self {
            sigma,
            radius,
            point: BallVector::default(),
            weight: 0.0,
            paid: 0.0,
            norms: 0.0,
            account: Some(Default::default()),
        })
    }
}

impl Optimizer for OgdStrong {
    fn dot(&self, x: Features<'_>) -> f64 {
        self.point.dot(x)
    }

    fn prepare(&mut self, g: f64, h: f64, x: Features<'_>) -> Step {
        let norm = self.point.norm_squared();
        let square = g * g * sum::squares(x.values()) + 2.0 * g * self.sigma * self.point.dot(x);
        self.weight += h;
        let rate = 1.0 / (self.sigma * self.weight);
        if let Some(account) = &mut self.account {
            let whole = (square + self.sigma * self.sigma * norm).max(0.0);
            account.norms += h * norm;
            account.squares += rate * h * h * whole;
            account.largest = account.largest.max(whole);
            account.weighted += f64::from(u8::from(h != 1.0));
        }
        // −η h σ w: the first round's factor is 0, when w is 0 anyway.
        let keep = 1.0 - h / self.weight;
        self.paid += rate * h * h * square;
        self.norms += h * norm * keep;
        if norm > 0.0 {
            self.point.shrink(keep);
        }
        Step::Gradient { time: rate * h }
    }

    fn advance(&mut self, u: f64, x: Features<'_>) {
        self.point.add(u, x);
        if let Some(radius) = self.radius {
            self.point.project(radius);
        }
    }

    fn weight(&self, index: u32) -> f64 {
        self.point.get(index)
    }

    fn guarantee(&self) -> Guarantee {
        let radius = self.radius.unwrap_or(COMPARATOR_RADIUS);
        let (paid, norms) = (0.5 * self.paid, 0.5 * self.sigma * self.norms);
        // Both sums may nearly cancel: what they lost by rounding is not given away.
        let rounding = ROUNDING * (paid.abs() + norms);
        let bound = paid - norms + 0.5 * self.sigma * self.weight * radius * radius + rounding;
        Guarantee::own(Comparator::Ball(radius), bound)
    }

    fn regularised(&self) -> Option<Regularised> {
        let account = self.account?;
        Some(Regularised {
            sigma: self.sigma,
            penalty: 0.5 * self.sigma * account.norms,
            bound: 0.5 * account.squares * (1.0 + LOST),
            gradient: (account.weighted == 0.0).then(|| account.largest.sqrt()),
            radius: self.radius,
        })
    }

    fn describe(&self) -> String {
        Description::of("ogd-strong").with_optional(&RADIUS, self.radius).with(&SIGMA, self.sigma).into()
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        visit_fields!(archive.number(self.weight, self.paid, self.norms));
        let account = self.account.map(|it| vec![it.norms, it.squares, it.largest, it.weighted]);
        let mut column = account.unwrap_or_default();
        archive.optional_column("regularised", &mut column)?;
        archive.check(column.is_empty() || column.len() == 4, "regularised", "must have four numbers")?;
        self.account = column.first_chunk().map(|&[norms, squares, largest, weighted]| RegularisedAccount {
            norms,
            squares,
            largest,
            weighted,
        });
        archive.part("point", |archive| self.point.persist(archive))
    }
}

const SIGMA: ParameterDescriptor = positive("sigma")
    .default("0.01")
    .meaning("strength of the regularisation")
    .remedy("a larger sigma, a smaller radius");

const RADIUS: ParameterDescriptor = within("radius", 0.0, f64::INFINITY)
    .or("none")
    .meaning("project onto the ball of this radius; none: no projection; the radius of the run replaces this default")
    .quiet();

const OF_THE_PLAIN_LOSSES: &str = "on the plain losses the comparator pays for the regularisation";

/// `ogd-strong` by name.
pub(crate) const ENTRY: LearnerDescriptor = LearnerDescriptor {
    name: "ogd-strong",
    summary: "gradient descent with rate 1/(sigma·t) on the loss plus ½·sigma·‖w‖² (online SVM, ridge, logistic)",
    losses: Losses::Convex,
    parameters: &[SIGMA, RADIUS, STANDARDISE],
    promises: &[
        Promise::linear("", OF_THE_PLAIN_LOSSES)
            .unlearned("the first rates, 1/(sigma·t), are far too large without a radius or a larger sigma"),
        Promise::linear("radius=1,sigma=0.1", OF_THE_PLAIN_LOSSES).within(Comparator::Ball(1.0)),
    ],
    build: |arguments| {
        Linear::learner(arguments, OgdStrong::new(arguments.number("sigma"), arguments.optional_number("radius"))?)
    },
    plan: |arguments, scales| {
        let sigma = arguments.number("sigma");
        let Some(radius) = arguments.optional_number("radius") else {
            return Ok(Guarantee::missing("without a radius the gradients have no bound in advance; give one"));
        };
        // Of the regularised losses, then what their comparator pays for its size.
        let gradient = scales.gradient(arguments.loss().as_ref(), radius) + sigma * radius;
        let rounds = scales.rounds;
        let logarithm = if rounds >= 1.0 { 1.0 + libm::log(rounds) } else { 0.0 };
        let bound = gradient * gradient * logarithm / (2.0 * sigma) + 0.5 * sigma * rounds * radius * radius;
        Ok(Guarantee::own(Comparator::Ball(radius), bound))
    },
};
