//! `--plan`: what the theory promises before there are data.

mod common;

use common::Folder;

#[test]
fn the_promise_is_the_textbooks() {
    let outcome = Folder::new().run(&[
        "learn",
        "--plan",
        "10000",
        "--learner",
        "ogd:radius=1",
        "--loss",
        "squared",
        "--scales",
        "norm=1,label=1",
    ]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    // G = 4UX² and 8(UX)²√(2/T) an example.
    let expected = format!("{:.4}", 8.0 * (2.0f64 / 10_000.0).sqrt());
    let line = outcome.stdout.lines().find(|line| line.ends_with("← this stream")).unwrap();
    assert_eq!(line.split_whitespace().collect::<Vec<_>>()[..2], ["10,000", expected.as_str()]);
    // A hundred times longer, a tenth an example.
    let longest = outcome.stdout.lines().last().unwrap();
    let expected = format!("{:.4}", 0.8 * (2.0f64 / 10_000.0).sqrt());
    assert_eq!(longest.split_whitespace().collect::<Vec<_>>()[..2], ["1,000,000", expected.as_str()]);
}

#[test]
fn a_learner_without_a_theorem_says_so() {
    let outcome = Folder::new().run(&["learn", "--plan", "100"]);
    assert_eq!(outcome.code, Some(0));
    assert!(outcome.stdout.contains("no promise beforehand: "), "{}", outcome.stdout);
}

#[test]
fn of_no_examples_nothing_is_promised() {
    let outcome = Folder::new().run(&["learn", "--plan", "0", "--learner", "ogd"]);
    assert_eq!(outcome.code, Some(0));
    assert!(outcome.stdout.contains("the regret is 0"), "{}", outcome.stdout);
}

#[test]
fn what_makes_no_plan_is_refused() {
    let folder = Folder::new();
    for (arguments, said) in [
        (&["--plan", "10", "data.csv"][..], "leave INPUT out"),
        (&["--plan", "10", "--model", "m", "--report", "r"], "leave --model and --report out"),
        (&["--plan", "-1"], "unexpected argument"),
        (&["--plan", "many"], "invalid value 'many'"),
        (&["--plan", "10", "--scales", "norm=0"], "the norm of features is 0: it is a finite number above 0"),
        (&["--plan", "10", "--scales", "size=1"], "--scales has 'size=1': it is norm=X"),
        (&["--plan", "10", "--scales", "label"], "--scales has 'label'"),
        (&["--plan", "10", "--scales", "features=0,norm=1"], "the number of features is 0"),
        (&["--scales", "norm=1"], "add --plan T"),
        (&["--plan", "10", "--learner", "ogd:radius=0"], "radius is 0.0: it is a number from 1e-30 to 1e30"),
        (&["--plan", "10", "--radius", "-1"], "--radius is -1: it is a finite number above 0"),
        (&["--plan", "10", "--learner", "ogd:eta=0"], "eta is 0.0: it is a number from 1e-30 to 1e30"),
    ] {
        let outcome = folder.run(&[&["learn"], arguments].concat());
        assert_eq!(outcome.code, Some(2), "{arguments:?}");
        assert!(outcome.stderr.contains(said), "{arguments:?}: {}", outcome.stderr);
    }
}
