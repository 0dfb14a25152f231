//! What a model holds, for people.

use onward_data::{Kind, Role};
use onward_engine::{Inspection, Model};

use super::{grouped, number, summary, task_name};
use crate::render::write;

/// What was found in a model.
pub(crate) fn text(model: &Model, found: &Inspection) -> String {
    let (ledger, metadata) = (model.ledger(), model.metadata());
    let mut text = String::new();
    let mut line = |title: &str, value: String| write(&mut text, format_args!("{title:10} {value}\n"));
    line("learner", found.learner.clone());
    line("loss", found.loss.clone());
    line("target", format!("{} ({})", found.target, task_name(found.task)));
    let (examples, unlabelled) = (grouped(metadata.examples), grouped(metadata.unlabelled));
    line("examples", format!("{examples} from {}, {unlabelled} without a label", metadata.format));
    line("passes", format!("at most {} over the same data", metadata.passes));
    for (kind, names) in columns(model) {
        line(kind, names.join(", "));
    }
    let products: Vec<_> = model.schema().interactions.iter().map(ToString::to_string).collect();
    if !products.is_empty() {
        line("multiplied", products.join(", "));
    }
    let (distinct, named) = (grouped(found.distinct_features.unwrap_or(0)), grouped(model.names().len() as u64));
    line("features", format!("{distinct} distinct, names of {named} kept"));
    if ledger.rounds() > 0 {
        let baseline = found.baseline_risk.map_or(String::new(), |risk| format!(", best constant {}", number(risk)));
        line("risk", format!("{}{baseline}", number(ledger.sequential_risk())));
    }
    if found.is_averaged {
        line("weights", "the average of the points that the learner went through".to_owned());
    }
    if let Some(mixture) = model.learner().mixture().filter(|_| ledger.rounds() > 0) {
        text.push_str(&summary::lanes(&mixture));
    }
    text + &summary::heaviest(&found.heaviest)
}

/// The columns by kind.
fn columns(model: &Model) -> Vec<(&'static str, Vec<&str>)> {
    let mut groups: Vec<(&'static str, Vec<&str>)> = Vec::new();
    for column in &model.schema().columns {
        let kind = match &column.role {
            Role::Feature(Kind::Numeric { .. }) => "numbers",
            Role::Feature(Kind::Boolean { .. }) => "booleans",
            Role::Feature(Kind::Categorical { .. }) => "categories",
            Role::Feature(Kind::Text) => "text",
            Role::Feature(Kind::Timestamp { .. }) => "dates",
            Role::Weight => "weight",
            Role::Id => "ids",
            Role::Ignored => "ignored",
            Role::Target => continue,
        };
        match groups.iter_mut().find(|(name, _)| *name == kind) {
            Some((_, names)) => names.push(&column.name),
            None => groups.push((kind, vec![&column.name])),
        }
    }
    groups
}
