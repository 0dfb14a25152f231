//! A format, a loss and a learner of your own, used by name.
//!
//!     cargo run -p onward-examples --example extend

use std::error::Error;
use std::sync::Arc;

use onward::archive::Archive;
use onward::guarantee::{Guarantee, GuaranteeKind};
use onward::loss::{Curvature, LossDescriptor, Task};
use onward::parameter::{Description, ParameterDescriptor, positive};
use onward::protocol::{LearnerDescriptor, Losses, Promise};
use onward::{Features, LinearWeights, Loss, ScoreLearner, SharedLoss};
use onward_data::formats::{Boundaries, FirstLines, FirstRows, LabelSample, Parser, Rules, TextFormat, by_line};
use onward_data::{DataError, Format, Input, Layout, Options};
use onward_engine::{LearnOptions, Model, ModelOptions, Registry, learn};

/// Lines such as `3.5 <- sun=0.2 rain=1`: a label, and features by name.
struct Arrows;

impl TextFormat for Arrows {
    fn name(&self) -> &str {
        "arrows"
    }

    fn layout(&self) -> Layout {
        Layout::Named
    }

    /// The labels of the first lines tell whether they are numbers or classes.
    fn sample(&self, first: &FirstLines<'_>) -> Result<FirstRows, DataError> {
        let mut labels = LabelSample::default();
        first.lines().for_each(|line| labels.label(line.split(|&byte| byte == b' ').next().unwrap_or_default()));
        Ok(FirstRows::Labels(labels))
    }

    fn parser(&self, _: Boundaries, rules: &Rules) -> Box<dyn Parser> {
        by_line(rules, |line, row| {
            let wrong = || DataError::record("expected LABEL <- NAME=NUMBER …");
            let text = std::str::from_utf8(line).map_err(|_| wrong())?;
            let (label, features) = text.split_once(" <- ").ok_or_else(wrong)?;
            row.label(label.as_bytes())?;
            for feature in features.split_whitespace() {
                let (name, value) = feature.split_once('=').ok_or_else(wrong)?;
                row.feature("", name, value.parse().map_err(|_| wrong())?)?;
            }
            Ok(())
        })
    }
}

/// ln cosh(p − y): like the square for small errors, like the absolute value for large ones.
#[derive(Debug)]
struct LogCosh;

impl Loss for LogCosh {
    fn name(&self) -> String {
        "log-cosh".to_owned()
    }

    fn task(&self) -> Task {
        Task::Regression
    }

    fn value(&self, p: f64, y: f64) -> f64 {
        let gap = (p - y).abs();
        gap + (-2.0 * gap).exp().ln_1p() - std::f64::consts::LN_2
    }

    fn derivative(&self, p: f64, y: f64) -> f64 {
        (p - y).tanh()
    }

    fn second_derivative(&self, p: f64, y: f64) -> f64 {
        1.0 - (p - y).tanh().powi(2)
    }

    fn curvature(&self) -> Curvature {
        Curvature::Smooth(1.0)
    }

    fn lipschitz(&self, range: f64) -> f64 {
        (2.0 * range).tanh()
    }

    /// The gap d moves as ḋ = −q·tanh d, so that sinh d shrinks by e^(−q·time).
    fn importance_step(&self, p: f64, y: f64, time: f64, q: f64) -> f64 {
        let gap = (p - y).clamp(-300.0, 300.0);
        let moved = (gap.sinh() * (-q * time).exp()).asinh() - gap;
        if q * time < 1e-9 { -time * gap.tanh() } else { moved / q }
    }

    fn check_label(&self, y: f64) -> Result<(), onward::Error> {
        if y.is_finite() { Ok(()) } else { Err(onward::Error::parameter("labels must be finite")) }
    }
}

/// Moves each weight by the same length against the sign of its gradient.
struct Sign {
    loss: SharedLoss,
    eta: f64,
    weights: Vec<f64>,
}

const ETA: ParameterDescriptor = positive("eta").default("0.01").meaning("the length of a step");

/// By this it is found: `sign:eta=0.1`.
static SIGN: LearnerDescriptor = LearnerDescriptor {
    name: "sign",
    summary: "steps of one length against the sign of the gradient",
    losses: Losses::Convex,
    parameters: &[ETA],
    promises: &[Promise::other("")],
    build: |given| Ok(Box::new(Sign { loss: given.loss(), eta: given.number("eta"), weights: Vec::new() })),
    plan: |_, _| Ok(Guarantee::none(GuaranteeKind::Own, "it has no theorem")),
};

impl ScoreLearner for Sign {
    fn predict_one(&self, x: Features<'_>) -> f64 {
        x.offset() + x.iter().map(|(index, value)| self.weight(index) * f64::from(value)).sum::<f64>()
    }

    fn learn_one(&mut self, x: Features<'_>, label: f64, _weight: f64) -> f64 {
        let score = self.predict_one(x);
        let slope = self.loss.derivative(score, label);
        for (index, value) in x.iter() {
            self.weights.resize(self.weights.len().max(index as usize + 1), 0.0);
            self.weights[index as usize] -= self.eta * (slope * f64::from(value)).signum();
        }
        score
    }

    fn loss(&self) -> SharedLoss {
        SharedLoss::clone(&self.loss)
    }

    fn describe(&self) -> String {
        Description::of("sign").with(&ETA, self.eta).into()
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::none(GuaranteeKind::Own, "it has no theorem")
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), onward::Error> {
        archive.column("weight", &mut self.weights)
    }

    fn linear(&self) -> Option<&dyn LinearWeights> {
        Some(self)
    }
}

/// For those who ask what a feature does.
impl LinearWeights for Sign {
    fn weight(&self, index: u32) -> f64 {
        self.weights.get(index as usize).copied().unwrap_or(0.0)
    }
}

/// Learns y = 3 − 2x with all three, saves the model and continues.
pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let loss = LossDescriptor::new("log-cosh", "ln cosh(p-y)", |_| Ok(Arc::new(LogCosh)));
    let registry = Registry::default().with_format(Arrows).with_loss(loss).with_learner(&SIGN);

    let line = |x: f64| format!("{} <- x={x}\n", 3.0 - 2.0 * x);
    let text: String = (1..=2000).map(|t| line(f64::from(t * 37 % 101) / 101.0)).collect();
    let input = [Input::bytes("line.arrows", text)];
    // Mixtures find it too: `hedge:learners=nag+sign`.
    let options = ModelOptions {
        learner: "sign:eta=0.005".to_owned(),
        loss: Some("log-cosh".to_owned()),
        registry: registry.clone(),
        ..ModelOptions::default()
    };
    let reading = Options { format: Some(Format::named("arrows")), ..Options::default() };
    let options = LearnOptions { start: options.into(), reading, ..LearnOptions::default() };
    let mut model = learn(&input, options, &())?.model;
    println!("{} pays {:.4}", model.learner().describe(), model.ledger().sequential_risk());
    assert!(model.ledger().sequential_risk() < 0.5);

    let bytes = model.to_bytes()?;
    let mut loaded = Model::from_bytes(&bytes, &registry)?;
    assert_eq!(loaded.to_bytes()?, bytes);
    assert!(Model::from_bytes(&bytes, &Registry::default()).is_err(), "without the registry nothing has that name");
    Ok(())
}
