//! Learners and losses of one's own, by name.

use std::sync::Arc;

use onward::loss::{Huber, LossDescriptor, Task};
use onward::parameter::{ParameterDescriptor, positive};
use onward_engine::{EngineError, Model, ModelOptions, Registry};

#[test]
fn a_loss_of_ones_own_is_kept_in_a_model_and_found_again() {
    const DELTA: ParameterDescriptor = positive("delta").default("3").meaning("where it becomes linear");
    let bent = LossDescriptor::new("huber", "hides the built-in one", |given| {
        Ok(Arc::new(Huber::new(given.number("delta"))?))
    })
    .with(&[DELTA], &[]);
    let options = ModelOptions {
        loss: Some("huber".to_owned()),
        registry: Registry::default().with_loss(bent),
        ..ModelOptions::default()
    };
    let mut model = Model::for_indices(&options, Task::Regression).unwrap();
    assert_eq!(model.loss().name(), "huber:delta=3");
    let bytes = model.to_bytes().unwrap();
    assert_eq!(Model::from_bytes(&bytes, &options.registry).unwrap().loss().name(), "huber:delta=3");
    let unknown = options.registry.loss("huver").unwrap_err().to_string();
    assert!(unknown.contains("did you mean 'huber'?"), "{unknown}");
    assert_eq!(
        options.registry.loss("huber:delta=0").unwrap_err().to_string(),
        "delta of huber must be above 0; got 0"
    );
}

#[test]
fn names_that_nothing_has_are_refused() {
    let registry = Registry::default();
    assert!(matches!(registry.learner("nagg"), Err(EngineError::Core(_))));
    assert!(matches!(registry.loss("sqared"), Err(EngineError::Core(_))));
    assert!(registry.learners().len() > 20 && registry.losses().len() == 14);
}
