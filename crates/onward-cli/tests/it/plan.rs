//! `--plan`: what the theory promises before there are data.

use crate::common::Folder;

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
fn a_mixture_promises_for_losses_of_a_range() {
    let plan = |learner: &str, more: &[&str]| {
        let outcome = Folder::new().run(&[&["learn", "--plan", "800", "--learner", learner][..], more].concat());
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        outcome.stdout
    };
    let text = plan("hedge:rounds=800", &[]);
    assert!(text.starts_with("plan for 800 examples of losses of experts within 1 of each other\n"), "{text}");
    // √(ln K/(2T)) an example for four experts.
    let expected = format!("{:.4}", (4f64.ln() / 1600.0).sqrt());
    let line = text.lines().find(|line| line.ends_with("← this stream")).unwrap();
    assert_eq!(line.split_whitespace().nth(1), Some(expected.as_str()), "{text}");
    let twice = plan("adahedge:learners=nag+ogd", &["--scales", "range=2"]);
    let expected = 2.0 * ((800.0 * 2f64.ln()).sqrt() + 4.0 / 3.0 * 2f64.ln() + 2.0);
    let line = twice.lines().find(|line| line.ends_with("← this stream")).unwrap();
    assert_eq!(line.split_whitespace().nth(2), Some(format!("{expected:.4}").as_str()), "{twice}");
    for (learner, reason) in [
        ("hedge:predict=draw", "no promise beforehand: draws keep the bound on average"),
        ("fixed-share", "no promise beforehand: its rates and shares come from what happens: give rounds=T"),
        ("squint", "no promise beforehand: the first range that comes may be as small as it likes: give range=B"),
        ("squint:range=0.5", "no promise beforehand: losses of experts may differ by more than its range"),
    ] {
        assert!(plan(learner, &[]).contains(reason), "{learner}: {}", plan(learner, &[]));
    }
    for learner in
        ["fixed-share:rounds=800", "fixed-share:eta=0.1,alpha=0.01", "squint:range=1", "hedge", "hedge:learners=nag"]
    {
        assert!(plan(learner, &[]).contains("← this stream"), "{learner}");
    }
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
        (&["--plan", "10", "data.csv"][..], "'--plan <T>' cannot be used with '[INPUT]...'"),
        (
            &["--plan", "10", "--model", "m", "--report", "r"],
            "cannot be used with:\n  --model <FILE>\n  --report <FILE>",
        ),
        (&["--plan", "10", "--scales", "label=1,label=2"], "--scales has label twice: leave one of them out"),
        (
            &["--plan", "10", "--scales", "features=1.5"],
            "features=1.5: it is a whole number up to 4294967296, as many as there are indices",
        ),
        (
            &["--plan", "10", "--scales", "norm=1,largest=5"],
            "with 1 feature the norm is from largest to largest·√features, 5",
        ),
        (&["--plan", "10", "--scales", "norm=9,largest=2,features=16"], "to largest·√features, 8"),
        (&["--plan", "-1"], "it is a whole number of examples, from 0 to"),
        (&["--plan", "many"], "invalid value 'many'"),
        (&["--plan", "10", "--scales", "norm=0"], "the norm of features is 0: it is a finite number above 0"),
        (&["--plan", "10", "--scales", "size=1"], "--scales has 'size=1': it is norm=X"),
        (&["--plan", "10", "--scales", "range=-1"], "the range of losses is -1: it is a finite number above 0"),
        (&["--plan", "10", "--scales", "label"], "--scales has 'label'"),
        (&["--plan", "10", "--scales", "features=0,norm=1"], "the number of features is 0"),
        (&["--scales", "norm=1"], "add --plan T"),
        (&["--plan", "10", "--learner", "ogd:radius=0"], "radius is 0.0: it is a number from 1e-30 to 1e30"),
        (
            &["--plan", "10", "--radius", "-1"],
            "--radius is -1: it is a finite number above 0, for a smaller ball holds no predictor but 0",
        ),
        (&["--plan", "10", "--learner", "ogd:eta=0"], "eta is 0.0: it is a number from 1e-30 to 1e30"),
    ] {
        let outcome = folder.run(&[&["learn"], arguments].concat());
        assert_eq!(outcome.code, Some(2), "{arguments:?}");
        assert!(outcome.stderr.contains(said), "{arguments:?}: {}", outcome.stderr);
    }
}

#[test]
fn options_that_a_plan_has_no_use_for_are_refused() {
    let (folder, help) = (Folder::new(), Folder::new().run(&["learn", "--help"]).stdout);
    // Every option there is, but for those that a plan is made of.
    let useful = ["plan", "scales", "learner", "loss", "radius", "task", "help"];
    let names = help.lines().filter_map(|line| line.trim_start().split_once("--"));
    let names = names.filter(|(before, _)| before.is_empty() || before.starts_with('-')).map(|(_, rest)| rest);
    let mut tried = 0;
    for line in names {
        let name: String = line.chars().take_while(|at| at.is_ascii_lowercase() || *at == '-').collect();
        if useful.contains(&name.as_str()) {
            continue;
        }
        let option = format!("--{name}");
        let takes_value = line[name.len()..].starts_with(" <");
        let value = match name.as_str() {
            "format" => "csv",
            "on-error" => "skip",
            "order" => "shuffle",
            "hindsight-gap" => "0.5",
            _ => "1",
        };
        let mut arguments = vec!["learn", "--plan", "10", &option];
        arguments.extend(takes_value.then_some(value));
        let outcome = folder.run(&arguments);
        assert_eq!(outcome.code, Some(2), "{option}: {}", outcome.stdout);
        // --hindsight-gap alone lacks --hindsight.
        let is_said = outcome.stderr.contains("--plan <T>") && outcome.stderr.contains(&option);
        assert!(is_said || option == "--hindsight-gap", "{option}: {}", outcome.stderr);
        tried += 1;
    }
    assert_eq!(tried, 31, "{help}");
}

/// What is promised of 100 examples.
fn plan(learner: &str, loss: &str, scales: &str) -> String {
    let arguments = ["learn", "--plan", "100", "--learner", learner, "--loss", loss, "--scales", scales];
    Folder::new().run(&arguments).stdout
}

#[test]
fn scales_that_a_promise_does_not_depend_on_are_named() {
    let text = plan("ogd:radius=1", "hinge", "norm=2,label=3,range=4");
    assert!(text.ends_with("it does not depend on label or range\n"), "{text}");
    assert!(!plan("ogd:radius=1", "squared", "norm=2,label=3").contains("does not depend"));
    assert!(plan("hedge:rounds=100", "logistic", "norm=2,range=3").ends_with("it does not depend on norm\n"));
    // What one scale says of another counts.
    for (learner, scales) in
        [("ogd", "features=4"), ("ogd", "largest=2"), ("mirror-descent", "norm=3"), ("ogd:domain=box", "features=9")]
    {
        let text = plan(learner, "logistic", scales);
        assert!(text.contains("← this stream") && !text.contains("does not depend"), "{learner} {scales}: {text}");
    }
}

#[test]
fn nothing_is_promised_that_the_run_would_not_keep() {
    let text = plan("coin:gradient=0.1,radius=1", "hinge", "largest=5,features=2");
    assert!(text.contains("may be as large as 5, more than the 0.1 that was given"), "{text}");
    let text = plan("ogd:domain=simplex,dimension=4", "hinge", "features=9");
    assert!(text.contains("no promise beforehand: rows had features at or above the dimension"), "{text}");
    // Without a domain slopes are bounded for some losses, and not for others.
    for learner in ["sgd:schedule=constant", "osd:domain=all,eta=0.1", "ftrl", "dual-averaging:domain=all,gradient=5"] {
        assert!(plan(learner, "logistic", "norm=2").contains("← this stream"), "{learner}");
        let text = plan(learner, "squared", "norm=2");
        assert!(text.contains("nothing bounds the gradients of this loss beforehand"), "{learner}: {text}");
    }
    // U²/(2η) + ½ηTG² in all.
    let text = plan("sgd:schedule=constant,eta0=0.1", "hinge", "norm=2");
    let line = text.lines().find(|line| line.ends_with("← this stream")).unwrap();
    assert_eq!(line.split_whitespace().nth(2), Some("25.0000"), "{text}");
}
