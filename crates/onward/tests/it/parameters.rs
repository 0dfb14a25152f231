//! Parameters are what they were declared as: ranges end where they are said to, and what has no effect is refused.

use onward::learner::LearnerSpec;
use onward::loss::{self, LOSSES};
use onward::parameter::{Applies, ParameterDescriptor, ParameterKind};
use onward::registry::LEARNERS;

fn build(text: &str, loss: &str) -> Result<String, String> {
    let specification: LearnerSpec = text.parse().map_err(|error: onward::Error| error.to_string())?;
    let built = specification.build(loss::parse(loss).unwrap(), None);
    built.map(|learner| learner.describe()).map_err(|error| error.to_string())
}

/// All that there are, with the name of their learner or loss.
fn all() -> impl Iterator<Item = (&'static str, &'static [ParameterDescriptor], &'static ParameterDescriptor)> {
    let learners = LEARNERS.iter().map(|entry| (entry.name, entry.parameters));
    let owners = learners.chain(LOSSES.iter().map(|entry| (entry.name, entry.parameters)));
    owners.flat_map(|(name, parameters)| parameters.iter().map(move |parameter| (name, parameters, parameter)))
}

/// Whether a text is a value of a parameter.
fn takes(parameter: &ParameterDescriptor, text: &str) -> bool {
    parameter.check(format_args!("{text}")).is_ok()
}

#[test]
fn what_has_no_effect_beside_the_others_is_refused() {
    for (text, key, why) in [
        ("ons:rank=3", "rank", "without form=sketched"),
        ("ons:rank=10", "rank", "without form=sketched"),
        ("least-squares:rows=5", "rows", "without form=scratch"),
        ("ogd:dimension=5", "dimension", "without domain=simplex or domain=box and gradient"),
        ("ogd:dimension=5,domain=box", "dimension", "without domain=simplex or domain=box and gradient"),
        ("ogd:eta=1,gradient=1", "gradient", "without eta=auto"),
        ("osd:rounds=10", "rounds", "without gradient and eta=auto"),
        ("ftrl:eta=0.1,gradient=1,rounds=10", "eta", "with losses=real or rounds and gradient"),
        ("ftrl:alpha=1", "alpha", "without losses=real"),
        ("hedge:seed=3", "seed", "without predict=draw"),
        ("hedge:eta=1,rounds=5", "rounds", "without eta=auto"),
        ("sgd:alpha=0.5", "alpha", "without penalty or schedule=optimal"),
        ("sgd:power=0.7", "power", "without schedule=invscaling"),
        ("sgd:eta0=2,schedule=optimal", "eta0", "with schedule=optimal"),
        ("adagrad:delta=2", "delta", "without form=dual-averaging"),
        ("adagrad:domain=box,full=true", "full", "without form=mirror-descent and domain=all"),
        ("mirror-descent:eta=1,map=euclidean,signed=true", "signed", "without map=entropic"),
    ] {
        let name = text.split(':').next().unwrap();
        assert_eq!(build(text, "squared"), Err(format!("{key} of {name} has no effect {why}; leave it out")), "{text}");
    }
}

#[test]
fn what_has_an_effect_is_taken_and_described_so_that_it_is_taken_again() {
    for text in [
        "ons:form=sketched,rank=3",
        "least-squares:form=scratch,rows=5",
        "ogd:dimension=5,domain=simplex",
        "ogd:dimension=5,domain=box,gradient=3",
        "ogd:gradient=3,radius=2",
        "osd:gradient=3,rounds=100",
        "dual-averaging:eta=auto,gradient=3",
        "ftrl:gradient=3,rounds=100",
        "hedge:predict=draw,seed=3",
        "hedge:eta=auto,rounds=30",
        "sgd:alpha=0.5,penalty=l2",
        "sgd:power=0.7,schedule=invscaling",
        "sgd:average=1,batch=4,eta0=0.1",
        "kernel:budget=10,keep=smallest",
        "nag:eta=0.50",
        "adagrad:eta=5e-1,standardise=false",
        "mirror-descent:map=pnorm,p=1.2",
        "rff:components=16,learner=(nag:eta=1),seed=7",
    ] {
        let described = build(text, "squared").unwrap_or_else(|said| panic!("{text}: {said}"));
        assert_eq!(build(&described, "squared"), Ok(described.clone()));
    }
}

#[test]
fn every_default_is_a_value() {
    for (owner, _, parameter) in all() {
        let name = parameter.name;
        let is_value = match parameter.kind {
            _ if parameter.word == Some(parameter.default) => true,
            ParameterKind::Learner | ParameterKind::Learners => {
                build(&format!("{owner}:{name}={}", parameter.default), "squared").is_ok()
            }
            _ => takes(parameter, parameter.default),
        };
        assert!(is_value, "{owner}: {parameter}");
        assert!(!parameter.meaning.is_empty(), "{owner} says nothing of {name}");
    }
}

#[test]
fn ranges_end_where_they_are_said_to() {
    for (owner, _, parameter) in all() {
        let takes = |text: String| takes(parameter, &text);
        let is_exact = match parameter.kind {
            ParameterKind::Positive => {
                takes("1e-30".into()) && takes("1e30".into()) && !takes("9.9e-31".into()) && !takes("1.1e30".into())
            }
            ParameterKind::Number(least, most) => {
                let outside = [least.next_down(), most.next_up()];
                takes(least.to_string()) && takes(most.to_string()) && !outside.iter().any(|it| takes(it.to_string()))
            }
            ParameterKind::Within(least, most) => {
                let inside = [least.next_up(), most.next_down()];
                !takes(least.to_string()) && !takes(most.to_string()) && inside.iter().all(|it| takes(it.to_string()))
            }
            ParameterKind::Whole(least, most) => {
                let (below, above) = (i128::from(least) - 1, i128::from(most) + 1);
                takes(least.to_string())
                    && takes(most.to_string())
                    && !takes(below.to_string())
                    && !takes(above.to_string())
                    && !takes(format!("{least}.5"))
            }
            ParameterKind::Flag => takes("true".into()) && takes("false".into()) && !takes("yes".into()),
            ParameterKind::Words(words) => words.iter().all(|(word, _)| takes((*word).into())) && !takes("?".into()),
            ParameterKind::Learner | ParameterKind::Learners => !takes(String::new()) && !takes("nag+".into()),
        };
        assert!(is_exact, "{owner}: {parameter}");
        assert!(!takes("NaN".into()) || matches!(parameter.kind, ParameterKind::Learner | ParameterKind::Learners));
    }
}

#[test]
fn conditions_are_about_parameters_and_words_that_there_are() {
    for (owner, parameters, parameter) in all() {
        let (Applies::OnlyWith(condition) | Applies::Unless(condition)) = parameter.applies else { continue };
        for term in condition.split(" or ").flat_map(|terms| terms.split(" and ")) {
            let (key, word) = term.split_once('=').map_or((term, None), |(key, word)| (key, Some(word)));
            let asked = parameters.iter().find(|other| other.name == key);
            let asked = asked.unwrap_or_else(|| panic!("{owner} has no {key}, which {} asks for", parameter.name));
            let is_word = word.is_none_or(|word| asked.word == Some(word) || takes(asked, word));
            assert!(is_word, "{owner}: {key} is never as {} asks: {condition}", parameter.name);
        }
    }
}

#[test]
fn values_out_of_range_are_refused_with_the_range() {
    for (text, said) in [
        ("nag:eta=-1", "eta of nag must be above 0; got -1"),
        ("nag:eta=1e31", "eta of nag must be from 1e-30 to 1e30; got 1e31"),
        ("nag:eta=", "eta of nag must be a number above 0; got nothing"),
        ("nag:standardise=yes", "standardise of nag must be true or false; got yes"),
        ("ogd:eta=fast", "eta of ogd must be a number above 0, or auto; got fast"),
        ("osd:gradient=1,rounds=0.5", "rounds of osd must be from 1 to 1e18, or none; got 0.5"),
        ("sgd:schedule=invscaling,power=2", "power of sgd must be from 0 to 1; got 2"),
        // Whether or not this form looks at it.
        ("sgd:power=2", "power of sgd must be from 0 to 1; got 2"),
        ("sgd:batch=0", "batch of sgd must be a whole number from 1 to 1000000; got 0"),
        ("sgd:batch=1.5", "batch of sgd must be a whole number from 1 to 1000000; got 1.5"),
        ("sgd:penalty=l3", "penalty of sgd must be none, l2, l1 or elastic-net; got l3"),
        ("ftl:domain=all", "domain of ftl must be ball, box, l1 or simplex; got all"),
        ("ftrl-proximal:beta=-1", "beta of ftrl-proximal must be from 0 to 1e30; got -1"),
        ("kernel:keep=smallest", "keep=smallest has no effect without a budget; give a budget, or leave keep out"),
        ("adagrad:domain=box,radius=1e31", "radius must be from 1e-30 to 1e30; got 1e31"),
        ("fixed-share:alpha=2", "alpha of fixed-share must be from 0 to 1, or auto; got 2"),
        ("fixed-share:alpha=0", "alpha must be from 1e-30 to 1; got 0"),
    ] {
        assert_eq!(build(text, "squared"), Err(said.to_owned()), "{text}");
    }
    assert!(build("fixed-share:alpha=0,switches=0", "squared").is_ok());
    // From Rust the same ranges hold.
    let error = onward::optimizer::Nag::new(-1.0).unwrap_err();
    assert_eq!(error.to_string(), "eta must be above 0; got -1");
    assert_eq!(error.kind(), onward::ErrorKind::Parameter);
}

#[test]
fn a_list_has_default_range_words_and_when_it_applies() {
    let line = |learner: &str, key: &str| {
        let entry = LEARNERS.iter().find(|entry| entry.name == learner).unwrap();
        entry.parameters.iter().find(|parameter| parameter.name == key).unwrap().to_string()
    };
    assert_eq!(line("nag", "eta"), "eta=0.5  learning rate (above 0)");
    assert_eq!(
        line("ons", "rank"),
        "rank=10  number of directions (a whole number from 1 to 512; only with form=sketched)"
    );
    assert_eq!(line("pa", "c"), "c=1  aggressiveness (above 0; not with variant=0)");
    assert_eq!(
        line("coin", "class"),
        "class=ball  comparators in the guarantee\n    ball: ‖u‖₂ ≤ radius\n    box: |u_i| ≤ radius"
    );
}

#[test]
fn saved_models_that_do_not_say_their_step_flow_and_so_do_the_learners_inside_of_them() {
    let logistic = loss::parse("logistic").unwrap();
    let saved =
        |text: &str| LearnerSpec::parse_saved(text, LEARNERS).unwrap().build(&logistic, None).unwrap().describe();
    for (text, described) in [
        ("ogd:eta=auto,radius=10", "ogd:eta=auto,radius=10,step=flow"),
        ("ogd:eta=auto,radius=10,step=gradient", "ogd:eta=auto,radius=10,step=gradient"),
        ("sgd:eta0=0.5,schedule=root,radius=1", "sgd:eta0=0.5,schedule=root,radius=1,step=flow"),
        // These steps were by the gradient all along.
        ("sgd:batch=4,eta0=0.5,schedule=root,radius=1", "sgd:batch=4,eta0=0.5,schedule=root,radius=1"),
        ("ogd-strong:sigma=0.1", "ogd-strong:sigma=0.1"),
        ("dual-averaging:eta=auto,radius=10", "dual-averaging:eta=auto,radius=10"),
        (
            "adagrad:delta=1,eta=0.5,form=dual-averaging,radius=1",
            "adagrad:delta=1,eta=0.5,form=dual-averaging,radius=1",
        ),
        (
            "squint:range=auto,learners=(nag:eta=0.5)+(hedge:eta=auto,learners=(osd:eta=auto,radius=2),predict=mix),predict=mix",
            "squint:range=auto,learners=(nag:eta=0.5)+(hedge:eta=auto,learners=(osd:eta=auto,radius=2,step=flow),predict=mix),predict=mix",
        ),
        (
            "nystrom:components=9,kernel=rbf,gamma=0.1,bias=true,learner=(adagrad:eta=0.5,radius=1)",
            "nystrom:components=9,kernel=rbf,gamma=0.1,bias=true,learner=(adagrad:eta=0.5,radius=1,step=flow)",
        ),
    ] {
        assert_eq!(saved(text), described);
        // What is saved now is read again as it was.
        assert_eq!(saved(described), described);
    }
}
