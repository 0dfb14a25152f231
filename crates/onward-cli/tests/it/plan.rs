//! `onward plan`: what the theory promises before there are data.

use crate::common::Folder;

#[test]
fn the_promise_is_the_textbooks() {
    let arguments = ["--learner", "ogd:radius=1", "--loss", "squared", "--norm", "1", "--label", "1"];
    let outcome = Folder::new().run(&[&["plan", "10000"], &arguments[..]].concat());
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    // G = 4UX² and 8(UX)²√(2/T) per example.
    let expected = format!("{:.4}", 8.0 * (2.0f64 / 10_000.0).sqrt());
    let line = outcome.stdout.lines().find(|line| line.ends_with("← this stream")).unwrap();
    assert_eq!(line.split_whitespace().collect::<Vec<_>>()[..2], ["10,000", expected.as_str()]);
    // A hundred times longer, a tenth per example.
    let longest = outcome.stdout.lines().last().unwrap();
    let expected = format!("{:.4}", 0.8 * (2.0f64 / 10_000.0).sqrt());
    assert_eq!(longest.split_whitespace().collect::<Vec<_>>()[..2], ["1,000,000", expected.as_str()]);
}

#[test]
fn a_learner_without_a_theorem_says_so() {
    let outcome = Folder::new().run(&["plan", "100"]);
    assert_eq!(outcome.code, Some(0));
    assert!(outcome.stdout.contains("no promise in advance: "), "{}", outcome.stdout);
}

#[test]
fn a_mixture_promises_for_losses_of_a_range() {
    let plan = |learner: &str, more: &[&str]| {
        let outcome = Folder::new().run(&[&["plan", "800", "--learner", learner][..], more].concat());
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        outcome.stdout
    };
    let text = plan("hedge:rounds=800", &[]);
    assert!(text.starts_with("plan for 800 examples of expert losses at most 1 apart\n"), "{text}");
    // √(ln K/(2T)) per example for four experts.
    let expected = format!("{:.4}", (4f64.ln() / 1600.0).sqrt());
    let line = text.lines().find(|line| line.ends_with("← this stream")).unwrap();
    assert_eq!(line.split_whitespace().nth(1), Some(expected.as_str()), "{text}");
    let twice = plan("adahedge:learners=nag+ogd", &["--range", "2"]);
    let expected = 2.0 * ((800.0 * 2f64.ln()).sqrt() + 4.0 / 3.0 * 2f64.ln() + 2.0);
    let line = twice.lines().find(|line| line.ends_with("← this stream")).unwrap();
    assert_eq!(line.split_whitespace().nth(2), Some(format!("{expected:.4}").as_str()), "{twice}");
    for (learner, reason) in [
        ("hedge:predict=draw", "no promise in advance: with predict=draw the bound holds on average"),
        ("fixed-share", "no promise in advance: its rates and shares depend on the stream; give rounds=T"),
        ("squint", "no promise in advance: the first range of losses can be arbitrarily small; give range=B"),
        ("squint:range=0.5", "no promise in advance: losses of experts may differ by more than its range"),
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
    let outcome = Folder::new().run(&["plan", "0", "--learner", "ogd"]);
    assert_eq!(outcome.code, Some(0));
    assert!(outcome.stdout.contains("the regret is 0"), "{}", outcome.stdout);
}

#[test]
fn what_makes_no_plan_is_refused() {
    let folder = Folder::new();
    for (arguments, said) in [
        (&["10", "data.csv"][..], "unexpected argument 'data.csv'"),
        (&["10", "--model", "m"], "unexpected argument '--model'"),
        (&[], "<EXAMPLES>"),
        (&["10", "--label", "1", "--label", "2"], "'--label <Y>' cannot be used multiple times"),
        (&["10", "--features", "1.5"], "invalid value '1.5' for '--features <D>'"),
        (&["10", "--features", "0"], "must be a whole number from 1 to 4294967296"),
        (
            &["10", "--norm", "1", "--largest", "5"],
            "--norm must be from 5 (--largest) to 5 (--largest·√features); got 1",
        ),
        (
            &["10", "--norm", "9", "--largest", "2", "--features", "16"],
            "from 2 (--largest) to 8 (--largest·√features); got 9",
        ),
        (&["-1"], "must be a whole number of examples, such as"),
        (&["many"], "invalid value 'many'"),
        (&["10", "--norm", "0"], "for '--norm <X>': must be a number above 0"),
        (&["10", "--range", "-1"], "for '--range <R>': must be a number above 0"),
        (&["10", "--learner", "ogd:radius=0"], "radius of ogd must be above 0; got 0"),
        (&["10", "--radius", "-1"], "--radius must be above 0; got -1"),
        (&["10", "--learner", "ogd:eta=0"], "eta of ogd must be above 0, or auto; got 0"),
    ] {
        let outcome = folder.run(&[&["plan"], arguments].concat());
        assert_eq!(outcome.code, Some(2), "{arguments:?}");
        assert!(outcome.stderr.contains(said), "{arguments:?}: {}", outcome.stderr);
    }
}

/// What is promised of 100 examples.
fn plan(learner: &str, loss: &str, bounds: &str) -> String {
    let bounds: Vec<String> = bounds.split(',').map(|bound| format!("--{bound}")).collect();
    let mut arguments = vec!["plan", "100", "--learner", learner, "--loss", loss];
    arguments.extend(bounds.iter().map(String::as_str));
    Folder::new().run(&arguments).stdout
}

#[test]
fn nothing_is_promised_that_the_run_would_not_keep() {
    let text = plan("coin:gradient=0.1,radius=1", "hinge", "largest=5,features=2");
    assert!(text.contains("may be as large as 5, more than the 0.1 that was given"), "{text}");
    let text = plan("ogd:domain=simplex,dimension=4", "hinge", "features=9");
    assert!(text.contains("no promise in advance: rows had features at or above the dimension"), "{text}");
    // Without a domain slopes are bounded for some losses, and not for others.
    for learner in ["sgd:schedule=constant", "osd:domain=all,eta=0.1", "ftrl", "dual-averaging:domain=all,gradient=5"] {
        assert!(plan(learner, "logistic", "norm=2").contains("← this stream"), "{learner}");
        let text = plan(learner, "squared", "norm=2");
        assert!(text.contains("the gradients of this loss have no bound in advance"), "{learner}: {text}");
    }
    // U²/(2η) + ½ηTG² in all.
    let text = plan("sgd:schedule=constant,eta0=0.1", "hinge", "norm=2");
    let line = text.lines().find(|line| line.ends_with("← this stream")).unwrap();
    assert_eq!(line.split_whitespace().nth(2), Some("25.0000"), "{text}");
}
