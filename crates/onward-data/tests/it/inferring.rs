//! What columns and targets are taken for when some of their values are no numbers.

use onward::loss::Task;
use onward_data::{Kind, OnError, Options, Role, TargetRule};

use crate::text::{Outcome, read};

fn target(text: &str) -> Options {
    Options { target: Some(text.to_owned()), ..Options::default() }
}

/// A table of a target and a column x with these values.
fn column(values: impl IntoIterator<Item = String>) -> String {
    let rows = values.into_iter().enumerate().map(|(at, value)| format!("{},{value},{}\n", at % 2, at % 7));
    "y,x,z\n".to_owned() + &rows.collect::<String>()
}

/// So many numbers, then these words.
fn numbers_then(count: usize, words: &[&str]) -> String {
    column((0..count).map(|at| (at % 13).to_string()).chain(words.iter().map(|&word| word.to_owned())))
}

fn kind(outcome: &Outcome) -> Kind {
    let columns = &outcome.schema.as_ref().unwrap().columns;
    match &columns.iter().find(|column| column.name == "x").unwrap().role {
        Role::Feature(kind) => kind.clone(),
        role => panic!("{role:?}"),
    }
}

fn is_number(outcome: &Outcome) -> bool {
    matches!(kind(outcome), Kind::Numeric { .. })
}

#[test]
fn a_value_among_twenty_numbers_is_a_mistake_and_among_fewer_a_category() {
    let outcome = read(numbers_then(20, &["1-2"]), target("y"));
    assert!(is_number(&outcome));
    assert_eq!(outcome.rows.len(), 20);
    assert_eq!(
        outcome.error.unwrap(),
        "input, line 22, column 'x': expected a number, found '1-2'; fix the record, use --categorical 'x', or skip such records with --on-error skip"
    );
    let outcome = read(numbers_then(19, &["1-2"]), target("y")).whole();
    assert_eq!(kind(&outcome), Kind::Categorical { origin: None });
}

#[test]
fn one_value_in_twenty_may_be_a_mistake_and_more_are_categories() {
    assert!(is_number(&read(numbers_then(95, &["a1", "b2", "c3", "d4", "e5"]), target("y"))));
    assert!(!is_number(&read(numbers_then(95, &["a1", "b2", "c3", "d4", "e5", "f6"]), target("y"))));
}

#[test]
fn missing_values_do_not_count_among_the_numbers() {
    let text =
        column((0..100).map(|at| if at < 10 { at.to_string() } else { "NA".to_owned() }).chain(["1-2".to_owned()]));
    assert_eq!(kind(&read(text, target("y")).whole()), Kind::Categorical { origin: None });
}

#[test]
fn mistakes_are_skipped_and_counted() {
    let options = Options { on_error: OnError::Skip, ..target("y") };
    let outcome = read(numbers_then(100, &["0x10", "7", "1-2"]), options).whole();
    assert_eq!((outcome.rows.len(), outcome.skipped), (101, 2));
    assert!(outcome.errors[1].starts_with("input, line 104, column 'x': expected a number, found '1-2'"));
}

#[test]
fn what_is_said_to_be_a_category_is_one() {
    let options = Options { categorical: vec!["x".to_owned()], ..target("y") };
    assert!(!is_number(&read(numbers_then(100, &["0x10"]), options).whole()));
}

#[test]
fn a_word_that_repeats_may_stand_for_a_missing_value() {
    let error = read(numbers_then(100, &["?", "5", "?", "?"]), target("y")).error.unwrap();
    assert_eq!(
        error,
        "input, line 102, column 'x': expected a number, found '?', as in 3 of the first rows; if it stands for a \
         missing value, write an empty cell or NA; else use --categorical 'x', or skip such records with \
         --on-error skip"
    );
    let outcome = read(numbers_then(30, &["unknown"; 10]), target("y")).whole();
    assert_eq!(kind(&outcome), Kind::Categorical { origin: None });
    let note = "all values of 'x' are numbers, except 'unknown' (10 times): if it stands for a missing value, write an empty \
                cell or NA";
    assert!(outcome.notes.iter().any(|line| line == note), "{:?}", outcome.notes);
}

#[test]
fn codes_with_letters_stay_categories() {
    // One postal code in ten is from abroad.
    let codes = (0..200).map(|at| if at % 10 == 0 { format!("K{at}A") } else { format!("{:05}", at % 50 * 37) });
    assert_eq!(kind(&read(column(codes), target("y")).whole()), Kind::Categorical { origin: None });
}

#[test]
fn a_word_among_dates_is_a_mistake_too() {
    let dates = |count| (0..count).map(|at| format!("2013-01-{:02}", at % 28 + 1)).chain(["soon".to_owned()]);
    let outcome = read(column(dates(20)), target("y"));
    assert!(matches!(kind(&outcome), Kind::Timestamp { .. }));
    assert_eq!(
        outcome.error.unwrap(),
        "input, line 22, column 'x': expected a date like 2013-01-31 or 2013-01-31T23:59:59, found 'soon'; fix the record, use --categorical 'x', or skip such records with --on-error skip"
    );
    let few = (0..3).flat_map(|_| dates(5));
    assert_eq!(kind(&read(column(few), target("y")).whole()), Kind::Categorical { origin: None });
}

#[test]
fn json_that_holds_a_word_among_numbers() {
    let rows = |at: usize| if at == 60 { "\"many\"".to_owned() } else { (at % 9).to_string() };
    let text: String = (0..100).map(|at| format!("{{\"y\": {}, \"x\": {}}}\n", at % 2, rows(at))).collect();
    let error = read(text, target("y")).error.unwrap();
    assert!(error.starts_with("input, line 61, column 'x': expected a number, found 'many'; "), "{error}");
}

/// A table whose target has these values.
fn labels(values: impl IntoIterator<Item = String>) -> String {
    let rows = values.into_iter().enumerate().map(|(at, value)| format!("{value},{}\n", at % 7));
    "y,x\n".to_owned() + &rows.collect::<String>()
}

/// Labels that repeat, with a word at row 48: line 50.
fn with_word(values: &[&str], rows: usize, word: &str) -> String {
    labels((0..rows).map(|at| if at == 48 { word } else { values[at % values.len()] }.to_owned()))
}

fn rule(outcome: &Outcome) -> TargetRule {
    outcome.schema.as_ref().unwrap().target.rule.clone()
}

#[test]
fn a_word_among_labels_that_are_numbers_is_an_error_at_its_line() {
    let outcome = read(with_word(&["1.5", "2.5", "7"], 100, "abc"), target("y"));
    assert_eq!((rule(&outcome), outcome.rows.len()), (TargetRule::Number, 48));
    assert_eq!(
        outcome.error.unwrap(),
        "input, line 50, column 'y': the label must be a finite number; got 'abc'; fix the record, or skip such records with --on-error skip; for classes, name the positive one: --target 'y==CLASS'"
    );
}

#[test]
fn a_word_among_signs_is_an_error_at_its_line() {
    let wrong = "the label must be 1 for the positive class and 0 or -1 for the other; got 'abc'; fix the record, or skip such records with --on-error skip; for numbers use --task regression; for classes name the \
                 positive one";
    for values in [&["0", "1"][..], &["-1", "+1"], &["yes", "no"], &["1"]] {
        for task in [None, Some(Task::Binary)] {
            let outcome = read(with_word(values, 100, "abc"), Options { task, ..target("y") });
            assert_eq!(rule(&outcome), TargetRule::Signs);
            assert_eq!(outcome.error.unwrap(), format!("input, line 50, column 'y': {wrong}: --target 'y==CLASS'"));
        }
    }
    let svmlight: String = (1..=60).map(|at| format!("{} 1:1\n", if at == 50 { "abc" } else { "1" })).collect();
    let vw = svmlight.replace(" 1:1", " | a");
    for text in [svmlight, vw] {
        let error = read(text, Options::default()).error.unwrap();
        assert_eq!(error, format!("input, line 50: {wrong}: --target 'label==CLASS'"));
    }
}

#[test]
fn a_word_among_probabilities_is_an_error_at_its_line() {
    let outcome = read(with_word(&["0.5", "1", "0"], 60, "abc"), Options { task: Some(Task::Binary), ..target("y") });
    assert_eq!(rule(&outcome), TargetRule::Probability);
    assert!(outcome.error.unwrap().starts_with("input, line 50, column 'y': the label must be a finite number"));
}

#[test]
fn another_number_among_signs_is_an_error_at_its_line_when_the_task_is_binary() {
    let text = with_word(&["0", "1"], 100, "7");
    let outcome = read(&text, Options { task: Some(Task::Binary), ..target("y") });
    assert_eq!(rule(&outcome), TargetRule::Signs);
    assert!(outcome.error.unwrap().starts_with("input, line 50, column 'y': the label must be 1 for the positive"));
    // Counts are such numbers, too.
    assert_eq!(rule(&read(text, target("y")).whole()), TargetRule::Number);
    let error = read("y,x\n0,1\n-1,2\n1,1\n-1,2\n0,1\n", Options { task: Some(Task::Binary), ..target("y") }).error;
    assert!(error.unwrap().starts_with("input: target 'y' has more than two values in the first rows: -1, 0, 1, …; "));
}

#[test]
fn one_word_among_three_labels_is_a_mistake_however_few_there_are() {
    let outcome = read("y,x\n1.5,1\n2.5,2\nabc,3\n", target("y"));
    assert!(outcome.error.unwrap().starts_with("input, line 4, column 'y': the label must be a finite number"));
}

#[test]
fn a_number_and_a_word_are_two_classes_only_where_both_are_frequent() {
    let mixed = labels((0..40).map(|at| ["1", "x"][at % 2].to_owned()));
    let classes = TargetRule::Classes { negative: "1".to_owned(), positive: "x".to_owned() };
    assert_eq!(rule(&read(mixed, target("y")).whole()), classes);
    let found = "has two values in the first rows, 1 and abc, of which only one is a number; if they are two classes, name the positive one: ";
    let remedy = "if one is a mistake, fix it, or use --task regression to see where it is";
    let error = read("y,x\n1,1\n1,2\nabc,3\n", target("y")).error.unwrap();
    assert_eq!(error, format!("input: target 'y' {found}--target 'y==abc'; {remedy}"));
    let error = read("1 1:1\nabc 2:1\n", Options::default()).error.unwrap();
    assert_eq!(error, format!("input: target 'label' {found}--target 'label==abc'; {remedy}"));
    assert_eq!(read("y,x\n1,1\n1,2\nabc,3\n", target("y==abc")).whole().rows.len(), 3);
}

#[test]
fn two_words_are_two_classes_in_any_number_of_rows() {
    let classes = TargetRule::Classes { negative: "ham".to_owned(), positive: "spam".to_owned() };
    assert_eq!(rule(&read("y,x\nspam,1\nham,2\n", target("y")).whole()), classes);
    assert_eq!(rule(&read("y,x\nyes,1\nno,2\n", target("y")).whole()), TargetRule::Signs);
}

#[test]
fn many_classes_are_told_with_what_is_no_number_among_them() {
    let error = read("y,x\n1,1\n2,2\na,3\nb,4\n3,1\n", target("y")).error.unwrap();
    assert_eq!(
        error,
        "input: target 'y' has more than two values in the first rows: 1, 2, a, … (2 of 5 are not numbers: 'a', 'b', …); \
         name the positive one, --target 'y==1', or compare numbers, --target 'y>0'"
    );
}

#[test]
fn a_third_class_is_told_with_the_column_that_it_is_in() {
    let text = with_word(&["ham", "spam"], 12_000, "ham").replace("\nspam,0\n", "\nham,0\n") + "eggs,1\n";
    let error = read(text, target("y")).error.unwrap();
    assert_eq!(
        error,
        "input, line 12002, column 'y': the label 'eggs' is neither 'ham' nor 'spam', the two classes of the first \
         rows; fix the record, or skip such records with --on-error skip; or name the positive class, which makes all others negative: --target 'y==spam'"
    );
}

#[test]
fn what_is_no_number_is_refused_where_numbers_are_compared() {
    for stray in ["x7", "inf", "1e400", "3,0"] {
        for text in ["==2", "!=2", ">2"] {
            let rows = (0..100).map(|at| if at == 48 { format!("\"{stray}\"") } else { (at % 5).to_string() });
            let outcome = read(labels(rows), target(&format!("y{text}")));
            assert_eq!(outcome.rows.len(), 48);
            let error = outcome.error.unwrap();
            let place = format!("input, line 50, column 'y': the label must be a finite number; got '{stray}'; ");
            assert!(error.starts_with(&place), "{error}");
        }
    }
    // In a column of words numbers are words like others.
    let outcome = read(labels((0..40).map(|at| ["1", "x", "y2"][at % 3].to_owned())), target("y==1")).whole();
    assert_eq!(outcome.rows.len(), 40);
}

fn notes(values: &[&str], text: &str) -> Vec<String> {
    let outcome = read(labels((0..40).map(|at| values[at % values.len()].to_owned())), target(text)).whole();
    outcome.notes
}

#[test]
fn a_number_that_does_not_occur_is_noted() {
    let values = ["0", "1.0", "2", "3", "4"];
    let note = "'77' does not occur in the first rows of 'y', which holds 0, 1.0, 2, …";
    assert!(notes(&values, "y==77").iter().any(|line| line == note), "{:?}", notes(&values, "y==77"));
    assert!(notes(&values, "y!=2.5").iter().any(|line| line.starts_with("'2.5' does not occur")));
    for text in ["y==1", "y!=1.00", "y==4", "y>3", "y<=0", "y<1", "y>=4"] {
        let notes = notes(&values, text);
        assert!(!notes.iter().any(|line| line.contains("does not occur") || line.contains("one class")), "{notes:?}");
    }
}

#[test]
fn a_comparison_that_gives_one_class_is_noted() {
    let note =
        |threshold| format!("only one class in the first rows: 'y' goes from 0 to 4 there, compared with {threshold}");
    for (text, threshold) in [("y>77", "77"), ("y>4", "4"), ("y>-1", "-1"), ("y<0", "0"), ("y>=0", "0"), ("y<=4", "4")]
    {
        let notes = notes(&["0", "2", "4"], text);
        assert!(notes.contains(&note(threshold)), "{text}: {notes:?}");
    }
}

#[test]
fn blanks_around_labels_do_not_count() {
    let text = "y,x\n spam ,1\nham,2\nspam,3\n";
    let signs = |outcome: Outcome| outcome.whole().rows.iter().map(|row| row.label).collect::<Vec<_>>();
    let expected = [1.0f64, -1.0, 1.0].map(|label| Some(label.to_bits()));
    assert_eq!(signs(read(text, target("y==spam"))), expected);
    assert_eq!(signs(read(text, target("y"))), expected);
    let error = read("y,x\n b ,1\na,2\nc ,3\n", target("y")).error.unwrap();
    assert!(error.ends_with(
        "first rows: a, b, c, …; name the positive one, --target 'y==a', or compare numbers, --target 'y>0'"
    ));
    assert_eq!(rule(&read("y,x\n yes ,1\nno,2\n", target("y")).whole()), TargetRule::Signs);
}

#[test]
fn first_rows_without_a_label_are_noted_with_what_is_assumed() {
    let text = labels((0..10_002).map(|at| if at > 10_000 { "1" } else { "" }.to_owned()));
    let has = |options, note: &str| {
        let notes = read(&text, options).whole().notes;
        assert!(notes.iter().any(|line| line == note), "{notes:?}");
    };
    has(
        target("y"),
        "all labels are missing in the first rows of 'y': regression is assumed (else use --task binary or --target \
         'y==CLASS')",
    );
    has(
        Options { task: Some(Task::Binary), ..target("y") },
        "all labels are missing in the first rows of 'y': 1 against 0 or -1 is assumed (else use --target 'y==CLASS')",
    );
    has(target("y==1"), "all labels are missing in the first rows of 'y'");
}

#[test]
fn remedies_for_a_model_are_those_that_it_has() {
    let schema = read("y,x,d\n0,1,2013-01-01\n1,2,2013-01-02\n", target("y")).whole().schema.unwrap();
    let bound = Options { schema: Some(schema), ..Options::default() };
    for row in ["0,a,2013-01-01", "0,1,a", "7,1,2013-01-01", "a,1,2013-01-01"] {
        let error = read(format!("y,x,d\n{row}\n"), bound.clone()).error.unwrap();
        assert!(error.ends_with("; fix the record, or skip such records with --on-error skip"), "{error}");
    }
    let error = read("y,x,d\n0,1e39,2013-01-01\n", bound.clone()).error.unwrap();
    assert!(!error.contains("--ignore"), "{error}");
    let error = read("y,x,d\n0,\"1,5\",2013-01-01\n", bound).error.unwrap();
    assert!(error.contains("sed") && !error.contains("--categorical"), "{error}");
}

#[test]
fn a_column_without_a_name_in_csv_is_called_by_its_number() {
    let text = ",y,x\n0,1,5\n1,0,6\n2,1,8\n";
    let names = |options| {
        let outcome = read(text, options).whole();
        outcome.names.into_values().flatten().collect::<Vec<_>>()
    };
    assert_eq!(names(target("y")), ["bias", "column 1", "x"]);
    assert_eq!(names(Options { ignore: vec!["column 1".to_owned()], ..target("y") }), ["bias", "x"]);
    let error = read(",1,2\n0,1,5\n", target("y")).error.unwrap();
    assert_eq!(
        error,
        "input, line 1: column 1 has no name, and the other names are only numbers; rename a column, or use --no-header if \
         this line is data"
    );
}

#[test]
fn dates_may_have_any_zone_of_numbers() {
    for zone in ["+0100", "+01", "+01:00", " +0100", "Z", ""] {
        let text = column((0..30).map(|at| format!("2013-01-{:02}T00:30:00{zone}", at % 28 + 1)));
        let outcome = read(text, target("y")).whole();
        assert!(matches!(kind(&outcome), Kind::Timestamp { .. }), "{zone}");
        let names: Vec<_> = outcome.names.values().flatten().collect();
        assert!(names.contains(&&"x hour=0".to_owned()), "{zone}: {names:?}");
    }
}
