//! The online Newton step (Hazan, Agarwal, Kale 2007).
//!
//! M_t = M_{t−1} + γ_t z_t z_tᵀ from M_0 = ε·I, w' = w_t − M_t⁻¹ z_t, and w_{t+1} is the point of the ball
//! ‖w‖₂ ≤ U (or of the simplex w_i ≥ 0, Σw_i = U) that is nearest to w' in the norm of M_t. (The textbook's A is M/γ, with
//! γ_t = γ in all rounds.)
//!
//! **Guarantee** of the full form, for every u of the domain, when each loss curves along its gradient:
//! ℓ_t(w_t) − ℓ_t(u) ≤ ⟨z_t, w_t − u⟩ − ½γ_t⟨z_t, w_t − u⟩². As the projection does not come farther from u in the
//! norm of M_t, ⟨z_t, w_t − u⟩ ≤ ½z_tᵀM_t⁻¹z_t + ½‖w_t − u‖²_{M_t} − ½‖w_{t+1} − u‖²_{M_t}. In the sum, what
//! M_t has gained over M_{t−1} is ½γ_t⟨z_t, w_t − u⟩²: the curvature pays it. As w_1 = 0,
//!
//! R_T(u) ≤ ½εU² + ½ Σ z_tᵀM_t⁻¹z_t
//!
//! (on the simplex, where w_1 is its centre, ½ε(1 − 1/d)U², and what projections may have missed, see `simplex.rs`),
//! for any γ_t ≥ 0 with that property, which may differ from round to round. (With γ it is
//! (1/(2γ))Σz_tᵀA_t⁻¹z_t + (γ/2)ε_A‖u‖²; the often quoted 5(1/α + GD)d ln T is 0 at T = 1, when there can be
//! regret.) It grows with d ln T.
//!
//! **Which γ_t** is in `curve.rs`. With `alpha=auto` it is the loss that says how far it curves, at its score and
//! over all scores that the ball allows: squared, expectile, logistic, Poisson and squared hinge. Nothing
//! needs to be known beforehand; for squared loss the step is that of ridge regression. With `alpha` = α
//! (the losses are α-exp-concave on the ball; −ln⟨w, r⟩ of a portfolio is with α = 1) it is ½min(1/(4‖z_t‖D), α),
//! D = 2U, and with `gradient` = G too, the textbook's ½min(1/(4GD), α) and ε = 1/(γD²); a gradient above
//! G ends the guarantee. Other losses have no such γ_t: steps are made with 1/(8‖z_t‖D), without a bound.
//!
//! **Forms and their cost**: `full` takes O(d²) per round, and O(d³) when the step leaves the ball, which is
//! brought back by solving ‖(M + λI)⁻¹Mw'‖ = U for λ; the same in every round on the simplex. It is for the first `limit` features that appear (128);
//! those that come later get the diagonal form, with a ball of their own, and the guarantee ends there.
//! `diagonal` takes O(non-zeros), `sketched` O(rank·d): M without its other entries is not what the
//! proof needs, they have no bound of their own, and they project by scaling.

mod curve;
mod diagonal;
mod full;
mod simplex;
mod sketched;

pub use curve::KnownCurvature;

use crate::optimizer::ogd::beyond;
use crate::optimizer::prelude::*;
use curve::AllowedScores;
use diagonal::Diagonal;
use full::Full;
use sketched::Sketched;

use crate::domain::{BALL, Domain, SIMPLEX};
use crate::loss::{Curvature, LossKind};
use crate::numeric::sum;

/// What is kept of the matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnsForm {
    /// All of it, for at most this many features.
    Full(usize),
    /// The diagonal.
    Diagonal,
    /// This many of its main directions.
    Sketched(usize),
}

#[derive(Debug, Clone)]
enum Matrix {
    Full(Box<Full>),
    Diagonal(Diagonal),
    Sketched(Sketched),
}

/// The online Newton step on an L2 ball or a simplex.
///
/// ```
/// use onward::optimizer::ons::{KnownCurvature, OnsForm, Ons};
/// use onward::{Features, optimizer::Optimizer};
/// // Squared loss curves by 2. From w = 0: (p − y)² at y = 1 has g = −2, M = 1 + 2, w = 2/3.
/// let mut ons = Ons::new(OnsForm::Full(10), 5.0, 1.0, KnownCurvature::Strong(2.0))?;
/// ons.observe(-2.0, Features::new(&[0], &[1.0])?);
/// assert!((ons.weight(0) - 2.0 / 3.0).abs() < 1e-15);
/// // ½εU² + ½zᵀM⁻¹z.
/// assert!((ons.guarantee().bound.unwrap() - (12.5 + 2.0 / 3.0)).abs() < 1e-12);
/// # Ok::<(), onward::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Ons {
    domain: Domain,
    radius: f64,
    epsilon: f64,
    curve: KnownCurvature,
    form: OnsForm,
    matrix: Matrix,
    /// Σ z_tᵀM_t⁻¹z_t.
    paid: f64,
    /// Whether a gradient was larger than the G that was given.
    has_exceeded: bool,
    /// ⟨w_t, x_t⟩ of this round.
    score: f64,
}

impl Ons {
    /// On the ball of this radius, with M_0 = ε·I and what is known of the losses.
    ///
    /// # Errors
    /// When the radius, ε, α or G is not from 1e-30 to 1e30, the limit not from 1 to 2048, or the rank not
    /// from 1 to 512.
    pub fn new(form: OnsForm, radius: f64, epsilon: f64, curve: KnownCurvature) -> Result<Self, Error> {
        let matrix = match form {
            OnsForm::Full(limit) => Matrix::Full(Box::new(Full::new(radius, epsilon, LIMIT.check(limit)?))),
            OnsForm::Diagonal => Matrix::Diagonal(Diagonal::new(radius, epsilon)),
            OnsForm::Sketched(rank) => Matrix::Sketched(Sketched::new(radius, epsilon, RANK.check(rank)?)),
        };
        Self::with_matrix(Domain::Ball(radius), radius, epsilon, curve, form, matrix)
    }

    /// On the simplex w_i ≥ 0, Σw_i = radius of this many coordinates, with the full matrix.
    ///
    /// # Errors
    /// When the radius, ε, α or G is not from 1e-30 to 1e30, or the dimension not from 1 to 2048.
    pub fn on_simplex(radius: f64, dimension: u32, epsilon: f64, curve: KnownCurvature) -> Result<Self, Error> {
        DIMENSION.check(dimension)?;
        let (domain, form) = (Domain::Simplex { radius, dimension }, OnsForm::Full(dimension as usize));
        let matrix = Matrix::Full(Box::new(Full::on_simplex(radius, dimension, epsilon)));
        Self::with_matrix(domain, radius, epsilon, curve, form, matrix)
    }

    fn with_matrix(
        domain: Domain,
        radius: f64,
        epsilon: f64,
        curve: KnownCurvature,
        form: OnsForm,
        matrix: Matrix,
    ) -> Result<Self, Error> {
        RADIUS.check(radius)?;
        EPSILON.check(epsilon)?;
        let (alpha, gradient) = curve.given();
        alpha.map(|alpha| ALPHA.check(alpha)).transpose()?;
        gradient.map(|gradient| GRADIENT.check(gradient)).transpose()?;
        Ok(Self { domain, radius, epsilon, curve, form, matrix, paid: 0.0, has_exceeded: false, score: 0.0 })
    }

    /// The largest ‖u − w_1‖².
    fn reach(&self) -> f64 {
        let size = self.domain.reach(1.0).unwrap_or(self.radius);
        size * size
    }

    /// The textbook's M_0 = γε_A·I for α and G on the ball of this radius: 1/(γD²).
    pub fn textbook_epsilon(radius: f64, alpha: f64, gradient: f64) -> f64 {
        1.0 / (4.0 * radius * radius * textbook_gamma(radius, alpha, gradient))
    }

    /// √γ_t·|z|/|x|, so that γ_t zzᵀ = (growth·x)(growth·x)ᵀ.
    fn growth(&self, g: f64, h: f64, x: Features<'_>) -> f64 {
        let size = sum::squares(x.values()).sqrt();
        let (center, reach) = (x.offset(), self.radius * size);
        let scores = AllowedScores { score: center + self.score, range: (center - reach, center + reach) };
        if let Some(curvature) = self.curve.of_score(g, scores) {
            return (h * curvature.max(0.0)).sqrt();
        }
        let slope = (h * g).abs();
        if slope * size == 0.0 {
            return 0.0;
        }
        let gamma = match self.curve {
            KnownCurvature::Bounded { alpha, gradient } => textbook_gamma(self.radius, alpha, gradient),
            KnownCurvature::ExpConcave { alpha } => textbook_gamma(self.radius, alpha / h, slope * size),
            _ => textbook_gamma(self.radius, f64::INFINITY, slope * size),
        };
        gamma.sqrt() * slope
    }

    /// Why there is no bound, if so.
    fn objection(&self) -> Option<String> {
        match (&self.matrix, self.curve) {
            (Matrix::Diagonal(_) | Matrix::Sketched(_), _) => Some(OF_FORMS.to_owned()),
            (_, KnownCurvature::Unknown) => Some(OF_LOSSES.to_owned()),
            (_, KnownCurvature::Bounded { gradient, .. }) if self.has_exceeded => {
                Some(format!("a gradient was larger than the {gradient} that was given"))
            }
            (Matrix::Full(full), _) => full.objection(),
        }
    }
}

const OF_FORMS: &str = "only form=full has a theorem; the universal certificate holds";

const OF_LOSSES: &str = "the theorem needs losses that curve along their gradient (squared, expectile, logistic, \
    poisson or squared-hinge), or a given alpha; the universal certificate holds";

/// γ = ½min(1/(4GD), α), D = 2U.
fn textbook_gamma(radius: f64, alpha: f64, gradient: f64) -> f64 {
    0.5 * (1.0 / (8.0 * gradient * radius)).min(alpha)
}

impl Optimizer for Ons {
    fn begin(&mut self, x: Features<'_>) -> f64 {
        self.score = self.dot(x);
        self.score
    }

    fn prepare(&mut self, g: f64, h: f64, x: Features<'_>) -> Step {
        let (slope, growth) = (h * g, self.growth(g, h, x));
        if let KnownCurvature::Bounded { gradient, .. } = self.curve {
            // Room for the rounding of a gradient that is just as large.
            self.has_exceeded |= slope.abs() * sum::squares(x.values()).sqrt() > gradient * (1.0 + 1e-9);
        }
        match &mut self.matrix {
            Matrix::Full(full) => self.paid = (self.paid + full.step(slope, growth, x)).min(f64::MAX),
            Matrix::Diagonal(diagonal) => diagonal.step(slope, growth, x),
            Matrix::Sketched(sketched) => sketched.step(slope, growth, x),
        }
        // The matrix has moved the point: there is nothing left to move.
        Step::Gradient { time: 0.0 }
    }

    fn advance(&mut self, _u: f64, _x: Features<'_>) {}

    fn weight(&self, index: u32) -> f64 {
        match &self.matrix {
            Matrix::Full(full) => full.weight(index),
            Matrix::Diagonal(diagonal) => diagonal.weight(index),
            Matrix::Sketched(sketched) => sketched.weight(index),
        }
    }

    fn guarantee(&self) -> Guarantee {
        match self.objection() {
            Some(reason) => Guarantee::missing(reason),
            None => {
                let missed = if let Matrix::Full(full) = &self.matrix { full.missed } else { 0.0 };
                let bound = 0.5 * self.epsilon * self.reach() + 0.5 * self.paid + missed;
                Guarantee::own(self.domain.comparator(self.radius), bound)
            }
        }
    }

    fn describe(&self) -> String {
        let (alpha, gradient) = self.curve.given();
        let ons = Description::of("ons").with_optional(&ALPHA, alpha).with_optional(&GRADIENT, gradient);
        let ons = self.domain.describe(ons.with(&EPSILON, self.epsilon), &DOMAIN);
        let ons = match self.form {
            OnsForm::Full(_) if matches!(self.domain, Domain::Simplex { .. }) => ons,
            OnsForm::Full(limit) => ons.with(&FORM, "full").with(&LIMIT, limit),
            OnsForm::Diagonal => ons.with(&FORM, "diagonal"),
            OnsForm::Sketched(rank) => ons.with(&FORM, "sketched").with(&RANK, rank),
        };
        ons.with(&RADIUS, self.radius).into()
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.number("paid", &mut self.paid)?;
        archive.flag("has_exceeded", &mut self.has_exceeded)?;
        match &mut self.matrix {
            Matrix::Full(full) => full.persist(archive),
            Matrix::Diagonal(diagonal) => diagonal.persist(archive),
            Matrix::Sketched(sketched) => sketched.persist(archive),
        }
    }
}

/// What a loss says of its curvature.
fn curve_of(loss: &dyn Loss) -> KnownCurvature {
    match (loss.kind(), loss.curvature()) {
        (_, Curvature::Quadratic(c) | Curvature::Strong(c)) => KnownCurvature::Strong(c),
        (LossKind::Logistic, _) => KnownCurvature::Logistic,
        (LossKind::Poisson, _) => KnownCurvature::Poisson,
        (LossKind::SquaredHinge, _) => KnownCurvature::SquaredHinge,
        _ => KnownCurvature::Unknown,
    }
}

fn build(arguments: &Params<'_>) -> Result<Ons, Error> {
    let radius = arguments.number("radius");
    let form = match arguments.text("form") {
        "diagonal" => OnsForm::Diagonal,
        "sketched" => OnsForm::Sketched(arguments.whole("rank") as usize),
        _ => OnsForm::Full(arguments.whole("limit") as usize),
    };
    let curve = match (arguments.optional_number("alpha"), arguments.optional_number("gradient")) {
        (None, _) => curve_of(arguments.loss().as_ref()),
        (Some(alpha), None) => KnownCurvature::ExpConcave { alpha },
        (Some(alpha), Some(gradient)) => KnownCurvature::Bounded { alpha, gradient },
    };
    let epsilon = arguments.optional_number("epsilon").unwrap_or_else(|| match curve {
        KnownCurvature::Bounded { alpha, gradient } => Ons::textbook_epsilon(radius, alpha, gradient),
        _ => 1.0,
    });
    match arguments.text("domain") {
        "ball" => Ons::new(form, radius, epsilon, curve),
        _ if !arguments.is_given("dimension") => {
            Err(Error::parameter("domain=simplex needs the number of features; give it as dimension=100"))
        }
        _ => Ons::on_simplex(radius, arguments.whole("dimension") as u32, epsilon, curve),
    }
}

/// What the theorem says beforehand: ½Σz_tᵀM_t⁻¹z_t ≤ ½ρ·Σ γ_t z_tᵀM_t⁻¹z_t ≤ ½ρ·d·ln(1 + bTX²/(dε)), where ρ
/// is the largest 1/γ_t and bX² the largest γ_t‖z_t‖².
fn promise(ons: &Ons, loss: &dyn Loss, scales: &ProblemBounds) -> Guarantee {
    if let Some(reason) = ons.objection() {
        return Guarantee::missing(reason);
    }
    if let Some(none) = beyond(ons.domain, scales) {
        return none;
    }
    if matches!(ons.form, OnsForm::Full(limit) if scales.dimension > limit as f64) {
        return Guarantee::missing("the stream has more features than limit; the others have a diagonal matrix");
    }
    let reach = ons.radius * scales.norm;
    let (slope, square) = (scales.slope(loss, reach), scales.norm * scales.norm);
    let gradient = slope * scales.norm;
    let (inverse, gain) = match ons.curve {
        KnownCurvature::Bounded { gradient: given, .. } if gradient > given => {
            return Guarantee::missing(format!(
                "gradients may be as large as {gradient}, more than the {given} that was given"
            ));
        }
        KnownCurvature::Bounded { alpha, gradient: given } => {
            let gamma = textbook_gamma(ons.radius, alpha, given);
            (1.0 / gamma, gamma * gradient * gradient)
        }
        KnownCurvature::ExpConcave { alpha } => {
            // γ_t falls with ‖z_t‖, and γ_t‖z_t‖² rises with it.
            let gamma = textbook_gamma(ons.radius, alpha, gradient);
            (1.0 / gamma, gamma * gradient * gradient)
        }
        // g²/c and cX² of losses of a score.
        KnownCurvature::Strong(c) => (slope * slope / c, c * square),
        KnownCurvature::Logistic => {
            let sigmoid = crate::loss::logistic::sigmoid;
            (1.0 / (sigmoid(reach) * sigmoid(-reach)), 0.25 * square)
        }
        KnownCurvature::Poisson if 2.0 * reach > crate::loss::poisson::STRAIGHT_FROM => {
            return Guarantee::missing("scores above 50 are possible, where the loss is linear");
        }
        KnownCurvature::Poisson => (slope * slope * libm::exp(reach), libm::exp(reach) * square),
        // With s = |g|/2 and r as in curve.rs: 2s² if r ≤ s, else 4s²/(2s(2r − s)/r²) ≤ 2sr.
        KnownCurvature::SquaredHinge => (4.0 * (1.0 + reach) * (1.0 + reach), 2.0 * square),
        KnownCurvature::Unknown => return Guarantee::missing(OF_LOSSES),
    };
    let (dimension, epsilon) = (scales.dimension, ons.epsilon);
    let logarithm = libm::log1p(gain * scales.rounds / (dimension * epsilon));
    let bound = 0.5 * epsilon * ons.reach() + 0.5 * inverse * dimension * logarithm;
    match bound.is_finite() {
        true => Guarantee::own(ons.domain.comparator(ons.radius), bound),
        false => Guarantee::missing("the loss hardly curves at the ends of the ball; use a smaller radius"),
    }
}

/// Why there may be none on some streams.
const OBJECTIONS: &[&str] = &[OF_LOSSES, "a projection could not be computed"];

const DOMAIN: ParameterDescriptor = words("domain", &[BALL, SIMPLEX]).meaning("domain of the weights").quiet();

/// Each round solves systems of this size.
const DIMENSION: ParameterDescriptor = whole("dimension", 1..=2048)
    .default("1")
    .meaning("number of features: only indices below it have weights")
    .only_with("domain=simplex");

const FORM: ParameterDescriptor =
    words("form", &[("full", "all of it"), ("diagonal", "its diagonal"), ("sketched", "its main directions")])
        .meaning("which part of the matrix is kept")
        .unless("domain=simplex");

const RADIUS: ParameterDescriptor = positive("radius").default("10").meaning(
    "radius of the domain; the radius of the \
        run replaces this default",
);

const EPSILON: ParameterDescriptor = positive("epsilon")
    .or("auto")
    .meaning("the matrix starts as epsilon times the identity; auto: 1, or the textbook's if gradient is given");

const ALPHA: ParameterDescriptor = positive("alpha")
    .or("auto")
    .meaning("exp-concavity of the losses on the ball; auto: from the loss, per round")
    .remedy("a smaller alpha");

const GRADIENT: ParameterDescriptor = positive("gradient")
    .or("none")
    .meaning("bound on the gradients, which with alpha gives the textbook's constants")
    .only_with("alpha")
    .quiet();

const LIMIT: ParameterDescriptor = whole("limit", 1..=2048)
    .default("128")
    .meaning("largest number of features in the matrix")
    .only_with("form=full and domain=ball");

const RANK: ParameterDescriptor =
    whole("rank", 1..=512).default("10").meaning("number of directions").only_with("form=sketched");

/// `ons` by name.
pub(crate) const ENTRY: LearnerDescriptor = LearnerDescriptor {
    name: "ons",
    summary: "the online Newton step, for curved losses and few features (Hazan, Agarwal, Kale)",
    losses: Losses::Convex,
    parameters: &[FORM, RADIUS, DOMAIN, DIMENSION, EPSILON, ALPHA, GRADIENT, LIMIT, RANK, STANDARDISE],
    promises: &[
        Promise::sometimes("", OBJECTIONS).within(Comparator::Ball(10.0)),
        Promise::sometimes("radius=1", OBJECTIONS).within(Comparator::Ball(1.0)),
        Promise::sometimes("dimension=10,domain=simplex,radius=1", OBJECTIONS).within(Comparator::Simplex(1.0)),
        Promise::never("form=diagonal", OF_FORMS),
        Promise::never("form=sketched,rank=3", OF_FORMS),
        Promise::other("alpha=0.1,gradient=300,limit=64"),
        Promise::other("epsilon=2").within(Comparator::Ball(10.0)),
    ],
    build: |arguments| Linear::learner(arguments, build(arguments)?),
    plan: |arguments, scales| Ok(promise(&build(arguments)?, arguments.loss().as_ref(), scales)),
};
