//! Parameters that would change nothing are refused, those that do are taken.

use onward::learner::LearnerSpec;
use onward::loss;

fn build(text: &str, loss: &str) -> Result<String, String> {
    let specification: LearnerSpec = text.parse().map_err(|error: onward::Error| error.to_string())?;
    let built = specification.build(&loss::parse(loss).unwrap(), None);
    built.map(|learner| learner.describe()).map_err(|error| error.to_string())
}

#[test]
fn what_changes_nothing_beside_the_others_is_refused() {
    for (text, loss, key) in [
        ("ons:rank=3", "squared", "rank"),
        ("least-squares:rows=5", "squared", "rows"),
        ("ogd:dimension=5", "squared", "dimension"),
        ("hedge:seed=3", "squared", "seed"),
        ("sgd:alpha=0.5", "squared", "alpha"),
        ("sgd:power=0.7", "squared", "power"),
    ] {
        let said = build(text, loss).unwrap_err();
        let name = text.split(':').next().unwrap();
        assert!(said.starts_with(&format!("{key} of {name} changes nothing here (")), "{text}: {said}");
        assert!(said.ends_with("leave it out"), "{text}: {said}");
    }
}

#[test]
fn what_changes_something_or_is_the_default_spelled_out_is_taken() {
    for text in [
        "ons:form=sketched,rank=3",
        "least-squares:form=scratch,rows=5",
        "ogd:dimension=5,domain=simplex",
        "ogd:gradient=3,radius=2",
        "osd:gradient=3,rounds=100",
        "hedge:predict=draw,seed=3",
        "sgd:alpha=0.5,penalty=l2",
        "sgd:power=0.7,schedule=invscaling",
        "sgd:average=1,batch=4,eta0=0.1",
        "kernel:budget=10,keep=smallest",
        "nag:eta=0.50",
        "adagrad:eta=5e-1,standardise=false",
        "ons:rank=10",
        "mirror-descent:map=pnorm,p=1.2",
        "rff:components=16,learner=(nag:eta=1),seed=7",
    ] {
        let described = build(text, "squared").unwrap_or_else(|said| panic!("{text}: {said}"));
        // And so is what the learner says of itself.
        assert_eq!(build(&described, "squared"), Ok(described.clone()));
    }
}

#[test]
fn ranges_are_named_with_their_reason() {
    for (text, part) in [
        ("sgd:schedule=invscaling,power=2", "from 0 to 1, for steps that fall faster than 1/t stop short"),
        ("sgd:penalty=elastic-net,l1-ratio=2", "from 0 to 1, the share of the penalty that is on |w|"),
        ("sgd:batch=0", "from 1 to 1000000, for the gradients of so many rows"),
        ("mirror-descent:map=pnorm,p=3", "from 1.001 to 2, for nearer to 1 powers overflow, and above 2 the map"),
        ("rls:forgetting=0.4", "from 0.5 to 1, for with less than half the last rows"),
        ("rls:limit=0", "from 1 to 8192, for the matrix has its square of entries"),
        ("ftrl-proximal:beta=-1", "from 0 to 1e30, for less would push weights away from 0"),
        ("kernel:kernel=polynomial,degree=0", "from 1 to 20, for higher powers overflow"),
        ("kernel:kernel=polynomial,coef=-1", "from 0 to 1e30, for below 0 it is no inner product"),
        ("kernel:budget=0", "for each row that is kept costs a value of the kernel"),
        ("kernel:keep=smallest", "keep is smallest, and budget is none: nothing has to go"),
        ("rff:components=0", "from 1 to 1048576, for each costs a wave a row"),
        ("fixed-share:alpha=2", "alpha is 2.0: it is a number from 1e-30 to 1, the share that goes round"),
        ("ogd:domain=simplex,dimension=0", "for a projection goes over all coordinates"),
    ] {
        let said = build(text, "squared").unwrap_err();
        assert!(said.contains(part), "{text}: {said}");
    }
}
