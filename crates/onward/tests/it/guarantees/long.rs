//! Long streams: sums and points neither stand still nor lose what is small.

use onward::loss::Task;
use onward::optimizer::{OgdStrong, Optimizer, Step};
use onward::protocol::Bound;
use onward::{Features, loss};

use crate::common::forms;

/// The row whose bias alone is known.
fn bias() -> Features<'static> {
    Features::new(&[0], &[1.0]).unwrap()
}

/// After a row of importance 1, 200 rows of importance 1e-10 that say the opposite: what the first step made is moved by
/// less than 32 bits can hold in each of them, and by all of them together.
#[test]
fn steps_that_are_small_beside_the_weights_add_up() {
    let (mut tried, mut faults) = (0, Vec::new());
    for form in forms() {
        let bound = form.promise.bound.or(form.entry.promises[0].bound);
        let has_bound = matches!(bound, Some(Bound::Always | Bound::Linear(_) | Bound::Elsewhere(_)));
        // What Newton's method leaves is in the bound of the exact losses.
        if !has_bound || form.build().mixture().is_some() || form.promise.parameters.contains("losses=real") {
            continue;
        }
        let labels = if form.loss.task() == Task::Binary { [1.0, -1.0] } else { [2.0, 0.0] };
        let mut learner = form.build();
        learner.learn_one(bias(), labels[0], 1.0);
        let scores: Vec<f64> = (0..200).map(|_| learner.learn_one(bias(), labels[1], 1e-10)).collect();
        let (one, all) = (scores[1] - scores[0], scores[199] - scores[0]);
        // Some have no weight yet, and `coin` counts rows.
        if scores[0] == 0.0 || one.abs() > 1e-6 {
            continue;
        }
        tried += 1;
        // Rates may fall as 1/√t.
        if one == 0.0 || all / one < 20.0 || all / one > 200.0 {
            faults.push(format!("{}: from {} by {one}, in all by {all}", form.context(), scores[0]));
        }
    }
    assert!(tried > 0 && faults.is_empty(), "{tried}\n{}", faults.join("\n"));
}

/// On |w − 2| in a ball of radius 1 the point stays at 1, where it pays no more than the best does, and so its bound is next
/// to nothing. With weights of 32 bits steps of 2⁻²⁶ of all so far were lost while the point shrank by as much: it fell
/// to 0.984 and paid more than its bound. (Rows of equal importance do so after 2²⁴ of them.)
#[test]
fn strongly_convex_descent_does_not_stall_where_32_bits_would() {
    let absolute = loss::parse("absolute").unwrap();
    let mut descent = OgdStrong::new(1.0, Some(1.0)).unwrap();
    let (x, mut weight, mut regret, mut excess) = (bias(), 0.0, 0.0, 0.0f64);
    for round in 0..1 << 20 {
        let h = if round == 0 { 1e-20 } else { 2f64.powi(-26) * weight };
        let p = descent.begin(x);
        regret += h * (absolute.value(p, 2.0) - 1.0);
        weight += h;
        let g = absolute.derivative(p, 2.0);
        let Step::Gradient { time } = descent.prepare(g, h, x) else { unreachable!() };
        descent.advance(-time * g, x);
        excess = excess.max((regret - descent.guarantee().bound.unwrap()) / weight);
    }
    assert!(excess < 1e-12 && descent.weight(0) > 1.0 - 1e-12, "{excess} {}", descent.weight(0));
}
