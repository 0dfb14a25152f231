//! The battery that every learner goes through, with every loss it takes. Its guarantees have one of
//! their own: guarantees.

use onward::archive::{SavedColumn, State};
use onward::evaluation::Ledger;
use onward::guarantee::Comparator;
use onward::learner::{LearnerSpec, Losses};
use onward::loss::{self, Curvature};
use onward::parameter::{ParameterDescriptor, ParameterKind};
use onward::protocol::Bound;
use onward::registry::LEARNERS;
use onward::{Features, SharedLoss};

use crate::common::{Form, Random, Row, Saved, forms, is_asked, stream};

/// Every learner as it is, with each loss it takes.
fn plain() -> Vec<(String, SharedLoss)> {
    let mut all = Vec::new();
    for entry in LEARNERS.iter().filter(|entry| is_asked(entry.name)) {
        for loss in loss::LOSSES.iter().map(loss::LossDescriptor::default_loss) {
            let is_taken = match entry.losses {
                Losses::Convex => loss.curvature() != Curvature::None,
                Losses::Only(kinds) => kinds.contains(&loss.kind()),
                Losses::Classes => false,
            };
            let specification: LearnerSpec = entry.name.parse().unwrap();
            let built = specification.build(&loss, None);
            assert_eq!(built.is_ok(), is_taken, "`losses` of {} and {}", entry.name, loss.name());
            if is_taken {
                all.push((entry.name.to_owned(), loss));
            }
        }
    }
    all
}

/// The same, each that can on standardised features too, and `auto` with four lanes.
fn every() -> Vec<(String, SharedLoss)> {
    let mut all = plain();
    for (name, loss) in plain() {
        let entry = LEARNERS.iter().find(|entry| entry.name == name).unwrap();
        if entry.parameters.iter().any(|parameter| parameter.name == "standardise") {
            all.push((format!("{name}:standardise=true"), loss));
        } else if name == "auto" {
            all.push((format!("{name}:lanes=4"), loss));
        }
    }
    all
}

/// Whether a learner is `auto`, which mixes experts of which some see features centred.
fn is_auto(name: &str) -> bool {
    name.starts_with("auto")
}

/// Whether it has `auto` inside: its score is a mean on the scale of the loss, to which the offset is not added.
fn is_mixture(name: &str) -> bool {
    is_auto(name) || name.starts_with("rff") || name.starts_with("nystrom")
}

fn build(name: &str, loss: &SharedLoss) -> Box<dyn onward::Learner> {
    name.parse::<LearnerSpec>().unwrap().build(loss, None).unwrap()
}

/// Learns from rows and returns the scores.
fn learn(learner: &mut dyn onward::Learner, rows: &[Row]) -> Vec<f64> {
    rows.iter().map(|row| learner.learn_one(row.features(), row.label, row.weight)).collect()
}

fn bits(scores: &[f64]) -> Vec<u64> {
    scores.iter().map(|score| score.to_bits()).collect()
}

#[test]
fn predicting_changes_nothing_and_says_what_learning_will_say() {
    for (name, loss) in every() {
        let rows = stream(loss.as_ref(), 200, 1);
        let (mut asked, mut silent) = (build(&name, &loss), build(&name, &loss));
        for row in &rows {
            let predicted = asked.predict_one(row.features());
            asked.predict_one(rows[0].features());
            // Standardising looks at the row's weight: a row of weight 1 is what is predicted.
            let said = asked.learn_one(row.features(), row.label, 1.0);
            assert_eq!(predicted.to_bits(), said.to_bits(), "{name} {}", loss.name());
            silent.learn_one(row.features(), row.label, 1.0);
        }
        assert_eq!(asked.state(), silent.state(), "{name} {}", loss.name());
    }
}

#[test]
fn weight_zero_changes_nothing() {
    for (name, loss) in every() {
        let rows = stream(loss.as_ref(), 60, 2);
        let mut learner = build(&name, &loss);
        learn(learner.as_mut(), &rows);
        let before = learner.state();
        for row in stream(loss.as_ref(), 20, 3) {
            learner.learn_one(row.features(), row.label, 0.0);
        }
        assert_eq!(learner.state(), before, "{name} {}", loss.name());
    }
}

#[test]
fn equal_streams_give_equal_bits() {
    for (name, loss) in every() {
        let rows = stream(loss.as_ref(), 200, 4);
        let (mut one, mut other) = (build(&name, &loss), build(&name, &loss));
        assert_eq!(bits(&learn(one.as_mut(), &rows)), bits(&learn(other.as_mut(), &rows)), "{name}");
    }
}

#[test]
fn saving_loading_and_continuing_equals_never_stopping() {
    for (name, loss) in every() {
        let rows = stream(loss.as_ref(), 300, 5);
        let (mut whole, mut first) = (build(&name, &loss), build(&name, &loss));
        let scores = learn(whole.as_mut(), &rows);
        let mut stopped = learn(first.as_mut(), &rows[..150]);
        let mut second = build(&first.describe(), &loss);
        second.restore(&first.state()).unwrap();
        stopped.extend(learn(second.as_mut(), &rows[150..]));
        assert_eq!(bits(&scores), bits(&stopped), "{name} {}", loss.name());
        assert_eq!(whole.state(), second.state(), "{name} {}", loss.name());
        assert_eq!(whole.guarantee(), second.guarantee(), "{name} {}", loss.name());
    }
}

/// What models of older versions lack: the learner tells nothing of it then, and learns as ever.
const OLDER_LACK: [(&str, &str); 2] = [("perceptron", "largest"), ("ogd-strong", "regularised")];

#[test]
fn a_state_that_lacks_something_is_refused() {
    for (name, loss) in every() {
        let mut learner = build(&name, &loss);
        learn(learner.as_mut(), &stream(loss.as_ref(), 20, 6));
        let state = learner.state();
        for missing in state.numbers().keys().chain(state.columns().keys()) {
            if OLDER_LACK.iter().any(|(learner, lacked)| name.starts_with(learner) && missing == lacked) {
                continue;
            }
            let mut damaged = onward::archive::State::default();
            state.numbers().iter().filter(|(key, _)| *key != missing).for_each(|(key, value)| damaged.set(key, *value));
            let columns = state.columns().iter().filter(|(key, _)| *key != missing);
            columns.for_each(|(key, column)| damaged.set_column(key, column.clone()));
            // A number and a column may share a name: then both are gone.
            assert!(build(&name, &loss).restore(&damaged).is_err(), "{name} without {missing}");
        }
    }
}

#[test]
fn an_absent_feature_equals_a_feature_of_value_zero() {
    // Not so on standardised features, nor for `auto`, half of whose lanes centre: a zero that is
    // there is a value to centre.
    for (name, loss) in plain().into_iter().filter(|(name, _)| !is_auto(name)) {
        let rows = stream(loss.as_ref(), 200, 7);
        // In a ball: without one the first steps of `ogd-strong` throw the weights about, and rounding with them.
        let within = || name.parse::<LearnerSpec>().unwrap().build(&loss, Some(3.0)).unwrap();
        let (mut sparse, mut dense) = (within(), within());
        for row in &rows {
            let mut full = [0.0; 8];
            row.indices.iter().zip(&row.values).for_each(|(&index, &value)| full[index as usize] = value);
            let indices: Vec<u32> = (0..8).collect();
            let one = sparse.learn_one(row.features(), row.label, row.weight);
            let other = dense.learn_one(Features::new(&indices, &full).unwrap(), row.label, row.weight);
            // The sums run in other accumulators: equal to rounding, which 200 rounds may amplify.
            assert!((one - other).abs() <= 1e-5 * one.abs().max(1.0), "{name} {}: {one} {other}", loss.name());
        }
    }
}

#[test]
fn everything_stays_finite_under_any_finite_input() {
    let extremes = [0.0, 1.0, -1.0, f32::MAX, f32::MIN, f32::MIN_POSITIVE, 1e-45, -1e30, 1e-20, 3.0e7];
    for (name, loss) in every() {
        let mut random = Random(8);
        let mut learner = build(&name, &loss);
        let mut ledger = Ledger::new(learner.loss());
        for round in 0..300 {
            let values: Vec<f32> = (0..6).map(|_| extremes[(random.next() % 10) as usize]).collect();
            let label = match (loss.task(), loss.check_label(-1.0).is_ok()) {
                (loss::Task::Binary, _) => [-1.0, 1.0][(random.next() % 2) as usize],
                (_, true) => [0.0, 1.0, -1e9, f64::from(f32::MAX), f64::from(f32::MIN)][(random.next() % 5) as usize],
                (_, false) => [0.0, 1.0, 1e9, f64::from(f32::MAX)][(random.next() % 4) as usize],
            };
            let weight = [1.0, 1e-38, 1e9, 3.0e38][(random.next() % 4) as usize];
            let offset = f64::from(extremes[(random.next() % 10) as usize]);
            let x = Features::new(&[0, 1, 2, 3, 4, 5], &values).unwrap().with_offset(offset).unwrap();
            let prediction = learner.learn_one(x, label, weight);
            assert!(prediction.is_finite(), "{name} {} round {round}", loss.name());
            ledger.observe_one(prediction, label, weight, x);
        }
        if let Some(linear) = learner.linear() {
            assert!((0..6).all(|index| linear.weight(index).is_finite()), "{name} {}", loss.name());
            let indices = [5, 0, 70_000, 3];
            let one_by_one = indices.map(|index| linear.weight(index));
            assert_eq!(linear.weights(&indices), one_by_one, "{name} {}", loss.name());
        }
        assert!(learner.state().numbers().values().all(|number| number.is_finite()), "{name} {}", loss.name());
    }
}

#[test]
fn scores_start_from_the_offset() {
    let binary = every().into_iter().filter(|(_, loss)| loss.task() == loss::Task::Binary);
    for (name, loss) in binary.filter(|(name, _)| !is_mixture(name)) {
        let rows = stream(loss.as_ref(), 100, 14);
        let mut learner = build(&name, &loss);
        learn(learner.as_mut(), &rows);
        for row in &rows {
            let without = learner.predict_one(row.features());
            let with = learner.predict_one(row.features().with_offset(1.25).unwrap());
            // Without a ball ogd-strong may be far out: relative.
            assert!(
                (with - without - 1.25).abs() <= 1e-12 * without.abs().max(1.0),
                "{name} {}: {with} {without}",
                loss.name()
            );
        }
    }
}

#[test]
fn the_experts_of_a_mixture_start_from_the_offset() {
    for (name, loss) in every().into_iter().filter(|(name, _)| is_mixture(name)) {
        let rows = stream(loss.as_ref(), 100, 14);
        let mut learner = build(&name, &loss);
        for (round, row) in rows.iter().enumerate() {
            let offset = (round as f64 - 50.0) / 2.0;
            let score = learner.predict_one(row.features().with_offset(offset).unwrap());
            assert!((score - offset).abs() <= 1e-12 * offset.abs().max(1.0), "{name} {}: {score}", loss.name());
        }
        learn(learner.as_mut(), &rows);
        if loss.task() == loss::Task::Regression {
            // Scores are held within the range of labels. These widen it and weigh nothing.
            let x = rows[0].features();
            for label in [1e6, -1e6].into_iter().filter(|&label| loss.check_label(label).is_ok()) {
                learner.learn_one(x, label, 1e-38);
            }
        }
        for row in &rows {
            let without = learner.predict_one(row.features());
            let with = learner.predict_one(row.features().with_offset(1.25).unwrap());
            let context = format!("{name} {}: {with} {without}", loss.name());
            match (loss.task(), loss.inverse_link()) {
                // A mean of scores moves as they do.
                (loss::Task::Regression, _) => {
                    assert!((with - without - 1.25).abs() <= 1e-12 * without.abs().max(1.0), "{context}");
                }
                // The logit of a mean of probabilities moves with their logits, but not as far.
                (_, loss::InverseLink::Logistic) => {
                    assert!(with > without && with <= without + 1.25 + 1e-12 * without.abs().max(1.0), "{context}");
                }
                // Margins are held within ±1 and the offset.
                _ => {
                    assert!(without.abs() <= 1.0 + 1e-12 && (-1.0 - 1e-12..=1.25 + 1e-12).contains(&with), "{context}")
                }
            }
        }
    }
}

#[test]
fn labels_outside_the_task_are_refused() {
    for (name, loss) in plain() {
        let charged = build(&name, &loss).loss();
        assert!(charged.check_label(f64::NAN).is_err());
        assert!(charged.check_label(f64::INFINITY).is_err());
        if charged.task() == loss::Task::Binary {
            assert!(charged.check_label(2.0).is_err(), "{}", charged.name());
            assert!(charged.check_label(-1.0).is_ok() && charged.check_label(1.0).is_ok());
        }
    }
}

#[test]
fn the_description_builds_the_same_learner_again() {
    for (name, loss) in every() {
        let learner = build(&name, &loss);
        assert_eq!(build(&learner.describe(), &loss).describe(), learner.describe());
    }
}

/// Rows by themselves and together in parts, those to come being known: scores, what is learnt, and what is predicted
/// afterwards. Some rows have no label and some no importance.
#[test]
fn one_row_at_a_time_or_many_are_the_same_to_the_bit() {
    for (name, loss) in every() {
        let rows = stream(loss.as_ref(), 200, 46);
        let mut batch = onward::Batch::default();
        for (round, row) in rows.iter().enumerate() {
            batch.extend(&row.indices, &row.values);
            batch.set_offset(row.offset);
            batch.finish((round % 7 != 3).then_some(row.label), if round % 11 == 5 { 0.0 } else { row.weight });
        }
        let mut alone = build(&name, &loss);
        let round = |example: onward::Example<'_>| match example.label {
            Some(label) => alone.learn_one(example.features, label, example.weight).to_bits(),
            None => alone.predict_one(example.features).to_bits(),
        };
        let expected: Vec<u64> = batch.iter().map(round).collect();
        let state = format!("{:?}", alone.state());
        let later: Vec<u64> = batch.iter().map(|it| alone.predict_one(it.features).to_bits()).collect();
        let bits = |scores: &[f64]| scores.iter().map(|score| score.to_bits()).collect::<Vec<_>>();
        for size in [3, 65, 200] {
            let (mut learner, mut scores) = (build(&name, &loss), [f64::NAN; 200]);
            for (rows, scores) in batch.rows(..).chunks(size).zip(scores.chunks_mut(size)) {
                learner.learn(rows, scores);
            }
            assert_eq!(bits(&scores), expected, "{name} {} {size}", loss.name());
            assert_eq!(format!("{:?}", learner.state()), state, "{name} {} {size}", loss.name());
            learner.predict(batch.rows(..), &mut scores);
            assert_eq!(bits(&scores), later, "{name} {} {size}", loss.name());
        }
        if let Some(frozen) = alone.freeze() {
            let mut scores = [f64::NAN; 200];
            frozen.predict(batch.rows(..), &mut scores);
            assert_eq!(bits(&scores), later, "{name} {}", loss.name());
        }
    }
}

/// The pairs of a form, or of what a learner says of itself: what is in parentheses is one value.
fn pairs(parameters: &str) -> Vec<(&str, &str)> {
    let mut depth = 0;
    let parts = parameters.split(|symbol: char| {
        depth += i32::from(symbol == '(') - i32::from(symbol == ')');
        symbol == ',' && depth == 0
    });
    parts.filter_map(|part| part.split_once('=')).collect()
}

/// The words that a parameter takes; none where it takes others than words.
fn words(parameter: &ParameterDescriptor) -> Vec<&'static str> {
    match parameter.kind {
        ParameterKind::Flag => vec!["true", "false"],
        _ => parameter.choices().iter().map(|(word, _)| *word).collect(),
    }
}

/// Fails where there is a fault, with all of them.
fn expect_none(faults: &[String]) {
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn every_parameter_and_every_word_it_takes_is_in_a_form() {
    let mut faults = Vec::new();
    for entry in LEARNERS.iter().filter(|entry| is_asked(entry.name)) {
        let name = entry.name;
        let first = &entry.promises[0];
        if !(first.parameters.is_empty() && first.bound.is_some()) {
            faults.push(format!("the first of `promises` of {name} is that of the defaults, with its `bound`"));
        }
        let loss = loss::parse(name.parse::<LearnerSpec>().unwrap().default_loss(loss::Task::Binary).unwrap()).unwrap();
        let given: Vec<(&str, &str)> = entry.promises.iter().flat_map(|promise| pairs(promise.parameters)).collect();
        // Standardising is of the registry's own making: `every` tries it with all that take it.
        for parameter in entry.parameters.iter().filter(|parameter| parameter.name != "standardise") {
            let key = parameter.name;
            let has = |is_it: &dyn Fn(&str) -> bool| given.iter().any(|(name, value)| *name == key && is_it(value));
            if !has(&|value| value != parameter.default) {
                faults.push(format!("`promises` of {name} has no form in which {key} is not {}", parameter.default));
            }
            for word in words(parameter).iter().filter(|word| **word != parameter.default && !has(&|it| it == **word)) {
                let alone: LearnerSpec = format!("{name}:{key}={word}").parse().unwrap();
                if alone.build(&loss, None).is_ok() {
                    faults.push(format!("`promises` of {name} has no form with {key}={word}"));
                }
            }
        }
    }
    expect_none(&faults);
}

#[test]
fn every_form_is_described_built_saved_and_continued() {
    let mut faults = Vec::new();
    for form in forms() {
        let context = form.context();
        let rows = stream(form.loss.as_ref(), 160, 5);
        let (mut whole, mut first) = (form.build(), form.build());
        let described = whole.describe();
        let scores = learn(whole.as_mut(), &rows);
        // From what it says of itself, from which models are built again: as new, and in the middle.
        let mut new = build(&described, &form.loss);
        let is_same = new.describe() == described
            && bits(&learn(new.as_mut(), &rows)) == bits(&scores)
            && new.state() == whole.state()
            && new.guarantee() == whole.guarantee();
        if !is_same {
            faults.push(format!("`describe` of {context} leaves something out: '{described}' is another"));
        }
        let mut parts = learn(first.as_mut(), &rows[..80]);
        let mut second = build(&first.describe(), &form.loss);
        second.restore(&first.state()).unwrap();
        parts.extend(learn(second.as_mut(), &rows[80..]));
        let is_continued = bits(&scores) == bits(&parts)
            && whole.state() == second.state()
            && whole.guarantee() == second.guarantee()
            && second.describe() == whole.describe();
        if !is_continued {
            faults.push(format!("`state` or `describe` of {context} leaves something out: it went on otherwise"));
        }
    }
    expect_none(&faults);
}

#[test]
fn a_description_says_every_parameter() {
    let mut faults = Vec::new();
    for form in forms() {
        let described = form.build().describe();
        let given = pairs(form.promise.parameters);
        for (key, value) in &given {
            let default = form.entry.parameters.iter().find(|parameter| parameter.name == *key).unwrap().default;
            let others = given.iter().filter(|(other, _)| other != key);
            let others: Vec<String> = others.map(|(key, value)| format!("{key}={value}")).collect();
            let without: LearnerSpec = format!("{}:{}", form.entry.name, others.join(",")).parse().unwrap();
            // Some cannot do without it.
            if let Ok(without) = without.build(&form.loss, None)
                && *value != default
                && without.describe() == described
            {
                faults.push(format!("`describe` of {} leaves out {key}: '{described}'", form.context()));
            }
        }
    }
    expect_none(&faults);
}

#[test]
fn every_form_has_a_bound_where_its_entry_says_so() {
    let mut faults = Vec::new();
    for form in forms() {
        let bound = form.promise.bound.or(form.entry.promises[0].bound).unwrap();
        let mut learner = form.build();
        learn(learner.as_mut(), &stream(form.loss.as_ref(), 100, 6));
        let found = learner.guarantee().bound;
        let is_as_said = match (&found, bound) {
            (Ok(_), Bound::Always | Bound::Linear(_) | Bound::Elsewhere(_) | Bound::Sometimes(_)) => true,
            (Err(reason), Bound::Never(start)) => reason.starts_with(start),
            (Err(reason), Bound::Sometimes(starts)) => starts.iter().any(|start| reason.starts_with(start)),
            _ => false,
        };
        if !is_as_said {
            faults.push(format!("`bound` in `promises` of {} is {bound:?}, and it has {found:?}", form.context()));
        }
    }
    expect_none(&faults);
}

/// All numbers that a state holds.
fn numbers(state: &State) -> Vec<f64> {
    let mut all: Vec<f64> = state.numbers().values().copied().collect();
    for column in state.columns().values() {
        match column {
            SavedColumn::F32(values) => all.extend(values.iter().map(|&value| f64::from(value))),
            SavedColumn::F64(values) => all.extend(values),
            _ => {}
        }
    }
    all
}

#[test]
fn rows_of_zeros_and_rows_without_features_leave_numbers() {
    let idle = |row: &Row, indices: &[u32]| {
        let indices = indices.to_vec();
        Row { values: vec![0.0; indices.len()], indices, ..row.clone() }
    };
    let losses = every().into_iter().map(|(name, loss)| (build(&name, &loss), format!("{name} {}", loss.name()), loss));
    let forms = forms().into_iter().map(|form| (form.build(), form.context(), form.loss));
    for (mut learner, context, loss) in losses.chain(forms) {
        let rows = stream(loss.as_ref(), 40, 9);
        // First of all, then among others.
        for row in &rows {
            for row in [&idle(row, &[]), &idle(row, &[0, 3, 70_000]), &idle(row, &[5]), row] {
                let score = learner.learn_one(row.features(), row.label, row.weight);
                assert!(score.is_finite(), "{context}: {score} after a row of zeros or without features");
            }
            let nothing = learner.predict_one(idle(row, &[]).features());
            assert!(nothing.is_finite(), "{context}: {nothing} of a row without features");
        }
        let scores: Vec<f64> = rows.iter().map(|row| learner.predict_one(row.features())).collect();
        assert!(scores.iter().all(|score| score.is_finite()), "{context}: {scores:?}");
        assert!(numbers(&learner.state()).iter().all(|number| number.is_finite()), "{context}: its state");
    }
}

/// Rows of a bias, a feature that says the label, and one that does not; and rows that say the opposite, if there are
/// `lies`, of this importance.
fn learnable(loss: &dyn onward::Loss, rounds: usize, lies: Option<f64>) -> Vec<Row> {
    let mut random = Random(11);
    let mut rows = Vec::new();
    for _ in 0..rounds {
        let sign = [-1.0, 1.0][(random.next() % 2) as usize];
        // Rates are exponential in scores: small features, large weights.
        let unit = if loss.inverse_link() == loss::InverseLink::Log { 0.25 } else { 1.0 };
        let (telling, noise) = (sign * unit * random.between(0.5, 1.5), unit * random.between(-0.5, 0.5));
        for (truth, weight) in [(1.0, Some(1.0)), (-1.0, lies)] {
            let label = match (loss.task(), loss.inverse_link()) {
                (loss::Task::Binary, _) => truth * sign,
                (_, loss::InverseLink::Log) => (2.4 * truth * telling).exp(),
                _ => 0.6 * truth * telling,
            };
            let values = vec![unit as f32, telling as f32, noise as f32];
            rows.extend(weight.map(|weight| Row { indices: vec![0, 1, 2], values, label, weight, offset: 0.0 }));
        }
    }
    rows
}

/// Why a learner does not learn from rows that tell: on the later half it pays no less than the best constant does.
/// Self-tuned rates are for weights as large as the radius: the run gives one that is a little above that of the best.
fn unlearned(form: &Form, rows: &[Row]) -> Option<String> {
    let mut learner = form.build_within(Some(3.0));
    let mut ledger = Ledger::new(learner.loss());
    let (early, late) = rows.split_at(rows.len() / 2);
    learn(learner.as_mut(), early);
    for row in late {
        let prediction = learner.learn_one(row.features(), row.label, row.weight);
        ledger.observe_one(prediction, row.label, row.weight, row.features());
    }
    let (paid, constant) = (ledger.sequential_risk(), ledger.baseline_risk().unwrap());
    (paid >= constant).then(|| format!("{} pays {paid}, the best constant {constant}", form.context()))
}

/// Every form with its default losses, and every learner with all its losses but that by which a constant pays nothing.
fn to_be_taught() -> Vec<Form> {
    let mut all = forms();
    for (name, loss) in plain() {
        let entry = LEARNERS.iter().find(|entry| entry.name == name).unwrap();
        all.push(Form { entry, promise: &entry.promises[0], loss });
    }
    all.retain(|form| form.loss.kind() != loss::LossKind::Perceptron);
    all
}

#[test]
fn every_learner_beats_the_best_constant_where_a_feature_says_the_label() {
    let mut faults = Vec::new();
    for form in to_be_taught() {
        let found = unlearned(&form, &learnable(form.loss.as_ref(), 600, None));
        if form.promise.unlearned.is_none() {
            faults.extend(
                found.map(|found| format!("{found}: it does not learn, or `unlearned` in `promises` says why")),
            );
        }
    }
    expect_none(&faults);
}

#[test]
fn every_learner_believes_important_rows() {
    let mut faults = Vec::new();
    for form in to_be_taught() {
        // As many rows say the opposite.
        let found = unlearned(&form, &learnable(form.loss.as_ref(), 300, Some(1.0 / 32.0)));
        if form.promise.unlearned.or(form.promise.unweighted).is_none() {
            let why = "it does not mind importance, or `unweighted` in `promises` says why";
            faults.extend(found.map(|found| format!("{found}: {why}")));
        }
    }
    expect_none(&faults);
}

#[test]
fn a_whole_importance_counts_as_so_many_rows_where_that_is_promised() {
    let mut faults = Vec::new();
    for form in forms() {
        let mut rows = stream(form.loss.as_ref(), 120, 12);
        rows.iter_mut().enumerate().for_each(|(at, row)| row.weight = (at % 4) as f64);
        let (mut weighted, mut repeated) = (form.build(), form.build());
        let mut farthest = 0.0f64;
        for row in &rows {
            let (one, other) = (weighted.predict_one(row.features()), repeated.predict_one(row.features()));
            farthest = farthest.max((one - other).abs() / one.abs().max(1.0));
            weighted.learn_one(row.features(), row.label, row.weight);
            for _ in 0..row.weight as usize {
                repeated.learn_one(row.features(), row.label, 1.0);
            }
        }
        if form.promise.repeats && farthest > 1e-5 {
            let context = form.context();
            faults.push(format!(
                "{context} is {farthest} off what it repeats, as `repeats` in `promises` says it does not"
            ));
        }
    }
    expect_none(&faults);
}

/// How far a point is outside of a set, relatively, and how far out in it: 1 on its edge.
fn outside(point: &[f64], set: Comparator) -> (f64, f64) {
    let negative = point.iter().fold(0.0f64, |most, &w| most.max(-w));
    let norm = |p: f64| point.iter().map(|w| w.abs().powf(p)).sum::<f64>().powf(1.0 / p);
    let within = |size: f64, radius: f64| (size / radius - 1.0, size / radius);
    match set {
        Comparator::Ball(radius) => within(norm(2.0), radius),
        Comparator::Box(radius) => within(point.iter().fold(0.0, |most, w| most.max(w.abs())), radius),
        Comparator::L1Ball(radius) => within(norm(1.0), radius),
        Comparator::PNormBall { p, radius } => within(norm(p), radius),
        Comparator::Orthant(_) => (negative, 1.0),
        Comparator::Simplex(radius) => (negative.max((point.iter().sum::<f64>() / radius - 1.0).abs()), 1.0),
        other => panic!("`domain` in `promises` is {other:?}, which is no set of weights"),
    }
}

#[test]
fn the_point_stays_in_its_domain() {
    const DIMENSION: u32 = 10;
    let indices: Vec<u32> = (0..DIMENSION).collect();
    let mut faults = Vec::new();
    for form in forms() {
        let Some(domain) = form.promise.domain else { continue };
        let (mut learner, mut random) = (form.build(), Random(13));
        let (mut most, mut edge) = (0.0f64, 0.0f64);
        for round in 0..200 {
            // Only weights that are too large would fit the labels, and some of them negative.
            let values: Vec<f32> = indices.iter().map(|_| random.between(-1.0, 1.0) as f32).collect();
            let score = 1e3 * f64::from(values[1] - values[2]);
            let label = if form.loss.task() == loss::Task::Binary { 1f64.copysign(score) } else { score };
            learner.learn_one(Features::new(&indices, &values).unwrap(), label, 1.0 + f64::from(round % 50));
            let unit = |index: &u32| learner.predict_one(Features::new(&[*index], &[1.0]).unwrap());
            let (outside, size) = outside(&indices.iter().map(unit).collect::<Vec<_>>(), domain);
            (most, edge) = (most.max(outside), edge.max(size));
        }
        if most > 1e-5 {
            faults.push(format!("{} leaves {domain:?}, its `domain` in `promises`, by {most}", form.context()));
        }
        // Else nothing was tried.
        if form.loss.task() == loss::Task::Regression && edge < 0.99 {
            faults.push(format!("{} comes to {edge} of the edge of its `domain` only", form.context()));
        }
    }
    expect_none(&faults);
}
