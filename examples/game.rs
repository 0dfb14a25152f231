//! Solve zero-sum matrix games by letting two players without regret play each other.
//!
//!     cargo run -p onward-examples --example game
//!
//! The row player loses xᵀAy, the column player wins it. Each weighs its moves by Hedge. In T rounds the regrets
//! of both are Σ xᵀAy − min_i Σ (Ay)_i and max_j Σ (xᵀA)_j − Σ xᵀAy: their sum over T is the duality gap of the average
//! strategies, and so the bounds on both, over T, say how far the averages are from an equilibrium at most.

use std::error::Error;

use onward::mixture::experts::{Experts, Hedge, HedgeRate};

type Matrix = Vec<Vec<f64>>;

/// What each row loses against a mix of columns.
fn against_columns(game: &Matrix, y: &[f64]) -> Vec<f64> {
    game.iter().map(|row| row.iter().zip(y).map(|(a, y)| a * y).sum()).collect()
}

/// What each column wins against a mix of rows.
fn against_rows(game: &Matrix, x: &[f64]) -> Vec<f64> {
    (0..game[0].len()).map(|j| game.iter().zip(x).map(|(row, x)| row[j] * x).sum()).collect()
}

fn least(numbers: &[f64]) -> f64 {
    numbers.iter().copied().fold(f64::INFINITY, f64::min)
}

fn most(numbers: &[f64]) -> f64 {
    numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// The average strategies after so many rounds of Hedge against Hedge.
fn play(name: &str, game: &Matrix, rounds: u32) -> Result<(Vec<f64>, Vec<f64>), Box<dyn Error>> {
    let mut row = Hedge::new(game.len(), HedgeRate::SelfTuned)?;
    let mut column = Hedge::new(game[0].len(), HedgeRate::SelfTuned)?;
    let (mut x, mut y) = (vec![0.0; game.len()], vec![0.0; game[0].len()]);
    let (mut sum_x, mut sum_y) = (x.clone(), y.clone());

    println!("{name}:   rounds   duality gap   at most");
    for round in 1..=rounds {
        x.copy_from_slice(row.weights());
        y.copy_from_slice(column.weights());
        sum_x.iter_mut().zip(&x).for_each(|(sum, x)| *sum += x);
        sum_y.iter_mut().zip(&y).for_each(|(sum, y)| *sum += y);
        // Each sees what every move of its own would have cost against the other's mix.
        row.observe(&against_columns(game, &y), 1.0);
        let gains = against_rows(game, &x);
        column.observe(&gains.iter().map(|gain| -gain).collect::<Vec<_>>(), 1.0);

        if round.is_power_of_two() {
            let mean = |sum: &[f64]| sum.iter().map(|sum| sum / f64::from(round)).collect::<Vec<_>>();
            let gap = most(&against_rows(game, &mean(&sum_x))) - least(&against_columns(game, &mean(&sum_y)));
            let bound = (row.guarantee().bound? + column.guarantee().bound?) / f64::from(round);
            println!("{:>1$}   {gap:>11.6}   {bound:>7.6}", round, name.len() + 12);
            assert!((-1e-12..=bound + 1e-12).contains(&gap), "{gap} {bound}");
        }
    }
    let mean = |sum: Vec<f64>| sum.into_iter().map(|sum| sum / f64::from(rounds)).collect();
    Ok((mean(sum_x), mean(sum_y)))
}

/// The exact value of a small game (Shapley, Snow 1950): some square part of the matrix has strategies that make the
/// opponent's moves in it equal, and which are optimal in the whole. All parts are tried.
fn value(game: &Matrix) -> Option<f64> {
    let (rows, columns) = (game.len(), game[0].len());
    let chosen = |mask: u32, count: usize| (0..count).filter(|&at| mask >> at & 1 == 1).collect::<Vec<_>>();
    for i in (1..1u32 << rows).map(|mask| chosen(mask, rows)) {
        for j in (1..1u32 << columns).map(|mask| chosen(mask, columns)).filter(|j| j.len() == i.len()) {
            let part: Matrix = i.iter().map(|&i| j.iter().map(|&j| game[i][j]).collect()).collect();
            let transposed: Matrix = (0..j.len()).map(|j| part.iter().map(|row| row[j]).collect()).collect();
            let (Some(y), Some(x)) = (equaliser(&part), equaliser(&transposed)) else { continue };
            let spread = |strategy: &[f64], at: &[usize], count: usize| {
                let mut whole = vec![0.0; count];
                at.iter().zip(strategy).for_each(|(&at, part)| whole[at] = *part);
                whole
            };
            let (x, y) = (spread(&x, &i, rows), spread(&y, &j, columns));
            let (high, low) = (most(&against_rows(game, &x)), least(&against_columns(game, &y)));
            if high - low < 1e-9 {
                return Some((high + low) / 2.0);
            }
        }
    }
    None
}

/// A mix of columns against which all rows lose the same, if there is one: Σ_j a_ij·y_j = v for all i, Σ y_j = 1.
fn equaliser(part: &Matrix) -> Option<Vec<f64>> {
    let size = part.len() + 1;
    let mut system: Matrix = part.iter().map(|row| row.iter().copied().chain([-1.0, 0.0]).collect()).collect();
    system.push([vec![1.0; size - 1], vec![0.0, 1.0]].concat());
    for at in 0..size {
        let pivot = (at..size).max_by(|&a, &b| system[a][at].abs().total_cmp(&system[b][at].abs()))?;
        system.swap(at, pivot);
        if system[at][at].abs() < 1e-12 {
            return None;
        }
        let head = system[at].clone();
        for (_, row) in system.iter_mut().enumerate().filter(|(other, _)| *other != at) {
            let factor = row[at] / head[at];
            row.iter_mut().zip(&head).for_each(|(entry, head)| *entry -= factor * head);
        }
    }
    let y: Vec<f64> = (0..size - 1).map(|at| system[at][size] / system[at][at]).collect();
    y.iter().all(|&y| y >= -1e-12).then_some(y)
}

/// Plays two games and checks them against their exact values.
pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // Rock, paper, scissors, where rock against scissors counts twice: what the row player loses.
    let biased = vec![vec![0.0, 1.0, -2.0], vec![-1.0, 0.0, 1.0], vec![2.0, -1.0, 0.0]];
    let (x, y) = play("rock, paper, scissors", &biased, 1 << 14)?;
    println!("the averages: {x:.3?} against {y:.3?}");
    // The game is fair, and the equilibrium is a quarter, a half, a quarter.
    let exact = value(&biased).ok_or("no equilibrium was found")?;
    assert!(exact.abs() < 1e-9, "{exact}");
    for (strategy, equilibrium) in x.iter().chain(&y).zip([0.25, 0.5, 0.25, 0.25, 0.5, 0.25]) {
        assert!((strategy - equilibrium).abs() < 0.05, "{x:?} {y:?}");
    }

    // A game without any structure.
    let entry = |i: u32, j: u32| f64::from((i * 7919 + j * 104_729 + i * j * 611) % 1000) / 1000.0;
    let random: Matrix = (0..5).map(|i| (0..7).map(|j| entry(i, j)).collect()).collect();
    let (x, y) = play("5 × 7", &random, 1 << 14)?;
    let (high, low) = (most(&against_rows(&random, &x)), least(&against_columns(&random, &y)));
    let exact = value(&random).ok_or("no equilibrium was found")?;
    println!("the value is {exact:.6}: between {low:.6} and {high:.6} by what the averages ensure");
    assert!((low - 1e-9..=high + 1e-9).contains(&exact), "{low} {exact} {high}");
    Ok(())
}
