//! Learners and losses of one's own, by name.

use std::sync::Arc;

use onward::loss::{Squared, Task};
use onward_engine::{EngineError, LossEntry, Model, ModelOptions, Registry};

#[test]
fn a_loss_of_ones_own_is_kept_in_a_model_and_found_again() {
    let registry = Registry::default().with_loss(LossEntry {
        name: "squared",
        summary: "hides the built-in one",
        build: |_| Ok(Arc::new(Squared)),
    });
    let options = ModelOptions { loss: Some("squared".to_owned()), registry, ..ModelOptions::default() };
    let mut model = Model::for_indices(&options, Task::Regression).unwrap();
    let bytes = model.to_bytes().unwrap();
    assert!(Model::from_bytes(&bytes, &options.registry).is_ok());
    assert_eq!(options.registry.losses().filter(|(name, _)| *name == "squared").count(), 2);
}

#[test]
fn names_that_nothing_has_are_refused() {
    let registry = Registry::default();
    assert!(matches!(registry.learner("nagg"), Err(EngineError::Core(_))));
    assert!(matches!(registry.loss("sqared"), Err(EngineError::Core(_))));
    assert!(registry.learners().len() > 20 && registry.losses().count() == 14);
}
