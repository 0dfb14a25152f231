//! A loss and a learner of your own, used by name.
//!
//!     cargo run -p onward-examples --example extend

use std::error::Error;

use onward::archive::Archive;
use onward::guarantee::{Guarantee, GuaranteeKind};
use onward::loss::{Curvature, LossDescriptor, Task};
use onward::protocol::{LearnerDescriptor, Losses, ParameterDescriptor, Promise};
use onward::{Features, Learner, Loss, Prediction, SharedLoss};
use onward_data::{Input, Options};
use onward_engine::{LearnOptions, Model, ModelOptions, Registry, learn};

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

/// By this it is found: `sign:eta=0.1`.
static SIGN: LearnerDescriptor = LearnerDescriptor {
    name: "sign",
    summary: "steps of one length against the sign of the gradient",
    losses: Losses::Convex,
    parameters: &[ParameterDescriptor { name: "eta", default: "0.01", meaning: "the length of a step" }],
    promises: &[Promise::other("")],
    build: |given| Ok(Box::new(Sign { loss: given.loss(), eta: given.number("eta")?, weights: Vec::new() })),
    plan: |_, _| Ok(Guarantee::none(GuaranteeKind::Own, "it has no theorem")),
};

impl Learner for Sign {
    fn predict(&self, x: Features<'_>) -> Prediction {
        let weight = |index: u32| self.weight(index).unwrap_or(0.0);
        let products = x.iter().map(|(index, value)| weight(index) * f64::from(value));
        Prediction::new(x.offset() + products.sum::<f64>())
    }

    fn learn(&mut self, x: Features<'_>, label: f64, weight: f64) -> Prediction {
        let prediction = self.predict(x);
        let slope = self.loss.derivative(prediction.score, label);
        for (index, value) in x.iter().filter(|_| weight > 0.0) {
            self.weights.resize(self.weights.len().max(index as usize + 1), 0.0);
            self.weights[index as usize] -= self.eta * (slope * f64::from(value)).signum();
        }
        prediction
    }

    fn charged_loss(&self) -> SharedLoss {
        SharedLoss::clone(&self.loss)
    }

    fn describe(&self) -> String {
        format!("sign:eta={}", self.eta)
    }

    fn weight(&self, index: u32) -> Option<f64> {
        Some(self.weights.get(index as usize).copied().unwrap_or(0.0))
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::none(GuaranteeKind::Own, "it has no theorem")
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), onward::Error> {
        archive.column("weight", &mut self.weights)
    }
}

/// Learns y = 3 − 2x with both, saves the model and continues.
pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let loss = LossDescriptor::new("log-cosh", "ln cosh(p-y)", &[], |given| given.build(LogCosh));
    let registry = Registry::default().with_learner(&SIGN).with_loss(loss);

    let folder = tempfile::tempdir()?;
    let rows: String =
        (0..2000).map(|t| f64::from(t * 37 % 101) / 101.0).map(|x| format!("{},{x}\n", 3.0 - 2.0 * x)).collect();
    std::fs::write(folder.path().join("line.csv"), format!("y,x\n{rows}"))?;
    let input = [Input::from(&*folder.path().join("line.csv"))];

    // Mixtures find it too: `hedge:learners=nag+sign`.
    let options = ModelOptions {
        learner: "sign:eta=0.005".to_owned(),
        loss: Some("log-cosh".to_owned()),
        registry: registry.clone(),
        ..ModelOptions::default()
    };
    let reading = Options { target: Some("y".to_owned()), ..Options::default() };
    let mut model =
        learn(&input, LearnOptions { start: options.into(), reading, ..LearnOptions::default() }, &())?.model;
    println!("{} pays {:.4}", model.learner().describe(), model.ledger().sequential_risk());
    assert!(model.ledger().sequential_risk() < 0.5);

    model.save(folder.path().join("model"))?;
    let mut loaded = Model::load_with(folder.path().join("model"), &registry)?;
    assert_eq!(loaded.to_bytes()?, model.to_bytes()?);
    assert!(Model::load(folder.path().join("model")).is_err(), "without the registry nothing has that name");
    Ok(())
}
