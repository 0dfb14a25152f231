//! `onward inspect`.

use std::path::Path;
use std::process::ExitCode;

use onward_data::{Kind, Role};
use serde_json::json;

use crate::arguments::InspectOptions;
use crate::failure::Failure;
use crate::saved::Trained;
use crate::summary::{grouped, heaviest, number, table};
use crate::{outputs, report, summary};

pub(crate) fn run(options: &InspectOptions) -> Result<ExitCode, Failure> {
    let trained = Trained::load(&options.model)?;
    let text = if options.json { as_json(&trained, options.top) } else { as_text(&trained, options.top) };
    outputs::write(Path::new("-"), text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn as_json(trained: &Trained, top: usize) -> String {
    let ledger = &trained.ledger;
    let features: Vec<_> = heaviest(trained, top)
        .into_iter()
        .map(|(name, weight, effect)| json!({ "name": name, "weight": weight, "effect": effect }))
        .collect();
    let mixed = trained.learner.mixed();
    report::text(&json!({
        "learner": trained.learner.describe(),
        "loss": trained.loss.name(),
        "target": trained.schema.target.to_string(),
        "schema": trained.schema,
        "facts": trained.facts,
        "sequential_risk": if ledger.rounds() > 0 { json!(ledger.sequential_risk()) } else { json!(null) },
        "baseline_risk": ledger.baseline_risk(),
        "distinct_features": ledger.distinct_features(),
        "heaviest": features,
        "lanes": mixed.as_ref().map(report::lanes),
        "gap_to_best_lane": mixed.as_ref().map(|mixed| report::finite(mixed.gap())),
    }))
}

fn as_text(trained: &Trained, top: usize) -> String {
    let (ledger, facts) = (&trained.ledger, &trained.facts);
    let target = &trained.schema.target;
    let task = if target.rule.is_binary() { "binary" } else { "regression" };
    let (learner, loss) = (trained.learner.describe(), trained.loss.name());
    let mut text = format!("learner    {learner}\nloss       {loss}\ntarget     {target} ({task})\n");
    text.push_str(&format!(
        "examples   {} from {}, {} without a label\n",
        grouped(facts.examples),
        facts.format,
        grouped(facts.unlabelled)
    ));
    text.push_str(&format!("passes     {} over the same data, at the most\n", facts.passes));
    for (kind, names) in columns(trained) {
        text.push_str(&format!("{kind:10} {}\n", names.join(", ")));
    }
    if !trained.schema.interactions.is_empty() {
        let names: Vec<_> = trained.schema.interactions.iter().map(ToString::to_string).collect();
        text.push_str(&format!("multiplied {}\n", names.join(", ")));
    }
    text.push_str(&format!(
        "features   {} distinct, names of {} kept\n",
        grouped(ledger.distinct_features().unwrap_or(0)),
        grouped(trained.names.len() as u64)
    ));
    if ledger.rounds() > 0 {
        let baseline = ledger.baseline_risk().map_or(String::new(), |risk| format!(", best constant {}", number(risk)));
        text.push_str(&format!("risk       {}{baseline}\n", number(ledger.sequential_risk())));
    }
    if let Some(mixed) = trained.learner.mixed().filter(|_| ledger.rounds() > 0) {
        text.push_str(&summary::lanes(&mixed));
    }
    let found = heaviest(trained, top);
    if !found.is_empty() {
        text.push_str(&table(&found));
    }
    text
}

/// The columns by kind.
fn columns(trained: &Trained) -> Vec<(&'static str, Vec<&str>)> {
    let mut groups: Vec<(&'static str, Vec<&str>)> = Vec::new();
    for column in &trained.schema.columns {
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
