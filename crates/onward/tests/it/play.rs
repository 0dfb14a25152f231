//! Games without features: every player that there is, on every loss and domain, against adversaries that see its point. The
//! point is charged here a second time by formulas written out, and compared with fixed points of a grid.

use std::collections::BTreeMap;

use onward::domain::Domain;
use onward::game::{Game, GameRules, PointLoss};
use onward::protocol::LearnerSpec;
use onward::registry::LEARNERS;

use crate::common::Random;

const DOMAINS: [&str; 5] = ["simplex", "ball", "box", "l1", "all"];

const ROUNDS: usize = 128;

/// Every name, and the forms that games have beside.
fn specifications() -> Vec<LearnerSpec> {
    let forms = [
        "ogd:eta=0.5",
        "osd:eta=0.05",
        "ftrl:alpha=2,losses=real",
        "dual-averaging:gradient=8",
        "adagrad:eta=auto",
        "adagrad:form=dual-averaging",
        "hedge:eta=0.1",
        "hedge:predict=draw,seed=4",
        "squint:range=4",
        "fixed-share:alpha=0.01,eta=0.1",
        "mirror-descent:eta=0.1",
        "ons:epsilon=0.1",
    ];
    let names = LEARNERS.iter().map(|entry| entry.name).chain(forms);
    names.map(|name| name.parse().unwrap()).collect()
}

fn games(dimension: usize) -> Vec<GameRules> {
    let mut games = Vec::new();
    for loss in PointLoss::ALL {
        for (at, domain) in DOMAINS.into_iter().enumerate() {
            // Radii of 1 and others, and none.
            let radius = [None, Some(2.0), Some(0.5)][(at + dimension) % 3];
            games.extend(GameRules::new(loss, domain, radius, dimension));
        }
    }
    games.extend(GameRules::new(PointLoss::Quadratic, "all", Some(3.0), dimension));
    games
}

/// What w pays, written out.
fn charged(loss: PointLoss, w: &[f64], row: &[f64]) -> f64 {
    match loss {
        PointLoss::Linear => w.iter().zip(row).map(|(w, z)| w * z).sum(),
        PointLoss::Quadratic => w.iter().zip(row).map(|(w, x)| (w - x).powi(2)).sum(),
        PointLoss::Log => -w.iter().zip(row).map(|(w, x)| w * x).sum::<f64>().ln(),
    }
}

fn is_inside(rules: &GameRules, w: &[f64]) -> bool {
    let room = 1.0 + 1e-12;
    let sizes = w.iter().map(|w| w.abs());
    match rules.domain() {
        Domain::Simplex { radius, .. } => {
            w.iter().all(|w| *w >= 0.0) && (w.iter().sum::<f64>() - radius).abs() <= 1e-12 * radius
        }
        Domain::Ball(radius) => w.iter().map(|w| w * w).sum::<f64>().sqrt() <= radius * room,
        Domain::Box(radius) => sizes.fold(0.0, f64::max) <= radius * room,
        Domain::L1Ball(radius) => sizes.sum::<f64>() <= radius * room,
        _ => w.iter().all(|w| w.is_finite()),
    }
}

/// Comparators: corners, the centre, and random ones.
fn comparators(rules: &GameRules, random: &mut Random) -> Vec<Vec<f64>> {
    let (dimension, radius) = (rules.dimension(), rules.radius());
    let mut points = vec![vec![0.0; dimension]];
    for at in 0..dimension {
        for sign in [-radius, radius] {
            let mut corner = vec![0.0; dimension];
            corner[at] = sign;
            points.push(corner);
        }
    }
    points.push(vec![radius; dimension]);
    points.push(vec![-radius; dimension]);
    (0..40).for_each(|_| points.push((0..dimension).map(|_| random.between(-1.5, 1.5) * radius).collect()));
    let within = match rules.domain() {
        Domain::All => Domain::Ball(radius),
        domain => domain,
    };
    points.iter_mut().for_each(|point| within.project(point));
    points
}

const ADVERSARIES: [&str; 7] = ["signs", "coin", "swing", "fresh", "heavy", "against the leader", "drift"];

/// The row of a round by an adversary who sees the point.
fn row(adversary: &str, loss: PointLoss, w: &[f64], round: usize, random: &mut Random) -> Vec<f64> {
    let dimension = w.len();
    let largest = (0..dimension).max_by(|&a, &b| w[a].total_cmp(&w[b])).unwrap();
    let signs: Vec<f64> = match adversary {
        "signs" => w.iter().map(|&w| if w >= 0.0 { 1.0 } else { -1.0 }).collect(),
        "swing" => {
            vec![if (usize::BITS - (round + 1).leading_zeros()).is_multiple_of(2) { 1.0 } else { -1.0 }; dimension]
        }
        "fresh" => (0..dimension).map(|at| f64::from(u8::from(at == round % dimension))).collect(),
        "heavy" => (0..dimension).map(|_| random.between(-1.0, 1.0).powi(5) * 20.0).collect(),
        "against the leader" if round == 0 => vec![0.5; dimension],
        "against the leader" => (0..dimension).map(|at| if (round + at) % 2 == 1 { -1.0 } else { 1.0 }).collect(),
        "drift" => (0..dimension).map(|at| ((round + 40 * at) as f64 / 60.0).sin()).collect(),
        _ => (0..dimension).map(|_| if random.uniform() < 0.5 { 1.0 } else { -1.0 }).collect(),
    };
    match (loss, adversary) {
        // The most weighty asset loses.
        (PointLoss::Log, "signs") => (0..dimension).map(|at| if at == largest { 0.5 } else { 1.25 }).collect(),
        // An asset that is nothing for a day, each in turn.
        (PointLoss::Log, "fresh") => (0..dimension).map(|at| f64::from(u8::from(at != round % dimension))).collect(),
        (PointLoss::Log, _) => signs.iter().map(|sign| (0.7 * sign.clamp(-8.0, 8.0)).exp()).collect(),
        (PointLoss::Quadratic, "signs") => signs.iter().map(|sign| -2.0 * sign).collect(),
        _ => signs,
    }
}

#[derive(Default)]
struct Found {
    compared: usize,
    worst: f64,
}

/// One player against one adversary; what is wrong is named.
fn contest(rules: &GameRules, player: &LearnerSpec, adversary: &str, found: &mut Found, faults: &mut Vec<String>) {
    let mut game = Game::new(*rules);
    if game.join("it", player).is_err() {
        return;
    }
    let mut random = Random(17);
    let points = comparators(rules, &mut random);
    let (mut paid, mut sizes, mut rows) = (0.0, 0.0, Vec::new());
    for round in 0..ROUNDS {
        let point = game.standings()[0].point().to_vec();
        let place = format!(
            "{player}, {} on {} {}, {adversary}, T = {}",
            rules.loss(),
            rules.domain().name(),
            rules.radius(),
            round + 1
        );
        if !is_inside(rules, &point) {
            faults.push(format!("{place}: {point:?} is not in the domain"));
            return;
        }
        let row = row(adversary, rules.loss(), &point, round, &mut random);
        let charge = charged(rules.loss(), &point, &row);
        (paid, sizes) = (paid + charge, sizes + charge.abs());
        game.play(&row).unwrap();
        rows.push(row);
        if !(round + 1).is_power_of_two() {
            continue;
        }
        let standing = &game.standings()[0];
        if paid == f64::INFINITY {
            assert!(standing.ruined().is_some() && standing.guarantee().bound.is_err(), "{place}");
            return;
        }
        assert!((standing.paid() - paid).abs() <= 1e-12 * (1.0 + sizes), "{place}: {} {paid}", standing.paid());
        let total = |u: &[f64]| rows.iter().map(|row| charged(rules.loss(), u, row)).sum::<f64>();
        let best = game.best().unwrap();
        let scale = 1.0 + sizes + best.loss.abs();
        assert!((total(&best.point) - best.loss).abs() <= 1e-10 * scale, "{place}: the best pays something else");
        if let Some(better) = points.iter().find(|u| total(u) < best.loss - best.gap - 1e-10 * scale) {
            faults.push(format!("{place}: {better:?} is better than the best"));
        }
        let Ok(bound) = standing.guarantee_against(&best).bound else { continue };
        let regret = paid - best.loss;
        found.compared += 1;
        // Weights are in single precision.
        if regret > bound + 2f64.powi(-22) * bound.abs() + 1e-9 * scale {
            faults.push(format!("{place}: regret {regret} > bound {bound}"));
        }
        // Less is what f64 rounds.
        if bound > 1e-9 * scale {
            found.worst = found.worst.max(regret / bound);
        }
        // Of every other comparator too, where the guarantee is about all of them.
        for u in &points {
            let regret = paid - total(u);
            if regret > bound + 2f64.powi(-22) * bound.abs() + 1e-9 * scale {
                faults.push(format!("{place}: regret {regret} > bound {bound} against {u:?}"));
            }
        }
    }
}

#[test]
fn no_player_pays_more_than_its_guarantee_allows_in_any_game() {
    let mut faults = Vec::new();
    let mut table: BTreeMap<(String, String), Found> = BTreeMap::new();
    for dimension in [1, 3] {
        for rules in games(dimension) {
            for player in specifications() {
                let game = format!("{} on {}", rules.loss(), rules.domain().name());
                let found = table.entry((player.to_string(), game)).or_default();
                for adversary in ADVERSARIES {
                    contest(&rules, &player, adversary, found, &mut faults);
                }
            }
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults[..faults.len().min(40)].join("\n"));
    table.retain(|_, found| found.compared > 0);
    for ((player, game), found) in &table {
        println!("{player}\t{game}\t{}\t{:.3}", found.compared, found.worst);
    }
    assert!(table.len() > 80, "{}", table.len());
    // A bound that is never come near says nothing.
    let vacuous: Vec<_> = table.iter().filter(|(_, found)| found.worst < 0.02).map(|(name, _)| name).collect();
    assert!(vacuous.is_empty(), "{vacuous:?}");
}

/// What a specification is refused for in a game.
fn refused(rules: &GameRules, player: &str) -> String {
    let mut game = Game::new(*rules);
    game.join("it", &player.parse().unwrap()).err().map_or_else(|| panic!("{player} plays"), |error| error.to_string())
}

#[test]
fn following_the_leader_pays_t_minus_1_where_descent_pays_the_root_of_t() {
    let mut game = Game::new(GameRules::new(PointLoss::Linear, "box", None, 1).unwrap());
    ["ftl", "ogd", "osd:eta=0.01"].into_iter().for_each(|name| game.join(name, &name.parse().unwrap()).unwrap());
    for round in 0..10_000 {
        game.play(&[if round == 0 {
            0.5
        } else if round % 2 == 1 {
            -1.0
        } else {
            1.0
        }])
        .unwrap();
    }
    let [leader, descent, fixed] = game.standings() else { panic!() };
    assert_eq!(leader.paid(), 9_999.0);
    assert!(leader.guarantee().bound.is_err());
    assert_eq!(game.best().unwrap().loss, -0.5);
    // D√(2T), D = 2, and half of that times G for a fixed rate of 1/√T.
    assert!(descent.paid() + 0.5 <= 2.0 * 2f64.sqrt() * 100.0);
    assert!(fixed.paid() + 0.5 <= 100.0);
}

#[test]
fn the_leader_of_quadratics_is_the_running_mean_with_a_logarithmic_regret() {
    let mut random = Random(2);
    let mut game = Game::new(GameRules::new(PointLoss::Quadratic, "all", None, 3).unwrap());
    ["ftl", "ogd-strong", "ftrl:alpha=0.5,losses=real"]
        .iter()
        .for_each(|name| game.join(*name, &name.parse().unwrap()).unwrap());
    let (mut sums, mut largest) = ([0.0; 3], 0.0f64);
    for round in 1..=2000 {
        // Far from 0: squares about the mean must not be lost beside those of the mean.
        let x = [0, 1, 2].map(|at| 1e5 + f64::from(at) + random.between(-1.0, 1.0));
        game.play(&x).unwrap();
        sums.iter_mut().zip(x).for_each(|(sum, x)| *sum += x);
        largest = largest.max(x.iter().map(|x| x * x).sum::<f64>());
        let [leader, descent, regularised] = game.standings() else { panic!() };
        for (at, sum) in sums.iter().enumerate() {
            let mean = sum / f64::from(round);
            assert!((leader.point()[at] - mean).abs() < 1e-9 && (descent.point()[at] - mean).abs() < 1e-8);
            assert!((regularised.point()[at] - sum / (f64::from(round) + 0.25)).abs() < 1e-9);
        }
    }
    let best = game.best().unwrap();
    let leader = &game.standings()[0];
    let regret = leader.paid() - best.loss;
    // On all of R^d the bound is the regret.
    assert!((leader.guarantee().bound.unwrap() - regret).abs() < 1e-9 * leader.paid());
    assert!(regret <= 4.0 * largest * (1.0 + 2000f64.ln()));
    assert!(game.standings()[2].guarantee().bound.is_err());
}

/// Every point of a grid of the simplex of three coordinates, and of the others of two.
#[test]
fn no_point_of_a_fine_grid_is_better_than_the_best() {
    let mut random = Random(11);
    for loss in PointLoss::ALL {
        for domain in DOMAINS {
            let dimension = if domain == "simplex" { 3 } else { 2 };
            let Ok(rules) = GameRules::new(loss, domain, Some(1.5), dimension) else { continue };
            let mut game = Game::new(rules);
            let lean = random.between(0.0, 1.0);
            let rows: Vec<Vec<f64>> = (0..30)
                .map(|_| (0..dimension).map(|at| random.between(-1.0, 2.0) + lean * at as f64).collect())
                .map(|row: Vec<f64>| if loss == PointLoss::Log { row.iter().map(|x| x.exp()).collect() } else { row })
                .collect();
            rows.iter().for_each(|row| game.play(row).unwrap());
            let best = game.best().unwrap();
            let total = |u: &[f64]| rows.iter().map(|row| charged(loss, u, row)).sum::<f64>();
            assert!((total(&best.point) - best.loss).abs() < 1e-10);
            let (mut nearest, steps) = (f64::INFINITY, 150);
            for i in 0..=steps {
                for j in 0..=steps {
                    let at = |k: i32| 1.5 * (2.0 * f64::from(k) / f64::from(steps) - 1.0);
                    let mut u = vec![at(i), at(j)];
                    if dimension == 3 {
                        u = vec![1.5 * f64::from(i) / f64::from(steps), 1.5 * f64::from(j) / f64::from(steps)];
                        u.push(1.5 - u[0] - u[1]);
                    }
                    let size = u.iter().map(|u| u * u).sum::<f64>().sqrt();
                    let is_inside = match domain {
                        "simplex" => u[2] >= 0.0,
                        "l1" => u.iter().map(|u| u.abs()).sum::<f64>() <= 1.5,
                        "box" => true,
                        _ => size <= 1.5,
                    };
                    if is_inside {
                        assert!(total(&u) >= best.loss - best.gap - 1e-9, "{loss} {domain} {u:?}");
                        nearest = nearest.min(total(&u));
                    }
                }
            }
            // And it is about as good as one of them.
            assert!(nearest - best.loss < 1.5, "{loss} {domain}: {nearest} {}", best.loss);
        }
    }
}

#[test]
fn the_expectation_is_apart_from_the_luck_of_the_draw() {
    let rules = GameRules::new(PointLoss::Linear, "simplex", None, 3).unwrap();
    let (mut drawn, mut expected) = (Vec::new(), 0.0);
    for seed in 0..40 {
        let mut game = Game::new(rules);
        game.join("mix", &"hedge".parse().unwrap()).unwrap();
        game.join("draw", &format!("hedge:predict=draw,seed={seed}").parse().unwrap()).unwrap();
        let mut random = Random(5);
        (0..400).for_each(|_| game.play(&[random.uniform(), random.uniform(), 0.9 * random.uniform()]).unwrap());
        let [mix, draw] = game.standings() else { panic!() };
        // What is charged and bounded does not know of the draws.
        assert_eq!((mix.paid(), mix.guarantee()), (draw.paid(), draw.guarantee()));
        assert_eq!(mix.drawn(), None);
        expected = draw.paid();
        drawn.push(draw.drawn().unwrap());
    }
    let mean = drawn.iter().sum::<f64>() / 40.0;
    let variance = drawn.iter().map(|loss| (loss - mean).powi(2)).sum::<f64>() / 39.0;
    assert!(variance > 1.0, "{variance}");
    assert!((mean - expected).abs() < 4.0 * (variance / 40.0).sqrt(), "{mean} {expected}");
    // Its luck in one run is bounded too, by Hoeffding and Azuma: √(T ln(2/δ)/2) for losses in [0, 1].
    assert!(drawn.iter().all(|loss| (loss - expected).abs() < (400.0 * 2e6f64.ln() / 2.0).sqrt()));
}

#[test]
fn a_portfolio_that_loses_everything_is_ruined_and_plays_no_more() {
    let mut game = Game::new(GameRules::new(PointLoss::Log, "simplex", None, 2).unwrap());
    // Ten days of an asset that doubles, then it is worth nothing.
    game.join("greedy", &"ogd:eta=5".parse().unwrap()).unwrap();
    game.join("careful", &"mirror-descent".parse().unwrap()).unwrap();
    (0..10).for_each(|_| game.play(&[2.0, 0.5]).unwrap());
    game.play(&[0.0, 1.0]).unwrap();
    game.play(&[1.0, 1.0]).unwrap();
    game.finish();
    let [greedy, careful] = game.standings() else { panic!() };
    assert_eq!((greedy.ruined(), greedy.paid()), (Some(11), f64::INFINITY));
    assert!(greedy.guarantee().bound.unwrap_err().starts_with("it lost everything in round 11"));
    assert!(
        careful.ruined().is_none() && careful.paid() - game.best().unwrap().loss <= careful.guarantee().bound.unwrap()
    );
    assert_eq!(greedy.curve().last().unwrap().paid, f64::INFINITY);
}

#[test]
fn what_cannot_be_played_is_refused_with_the_reason() {
    let rules = |loss, domain| GameRules::new(loss, domain, None, 3);
    let simplex = rules(PointLoss::Linear, "simplex").unwrap();
    let all = rules(PointLoss::Quadratic, "all").unwrap();
    for (rules, player, message) in [
        (&simplex, "coin", "coin plays on these domains: all; the domain of the game is simplex"),
        (&simplex, "auto", "auto learns from features and labels, and games have none"),
        (&simplex, "nag", "nag learns from features"),
        (&simplex, "ogd:radius=2", "radius of ogd follows from the domain of the game; leave it out"),
        (&simplex, "ogd:standardise=true", "standardise is about features"),
        (&simplex, "hedge:learners=nag+ogd", "in a game hedge weighs the coordinates; leave learners out"),
        (&simplex, "hedge:eta=-1", "eta of hedge must be above 0, or auto; got -1"),
        (&simplex, "ftrl:losses=real", "losses=real is for quadratic losses"),
        (&all, "hedge", "hedge weighs the corners of the simplex; the domain of the game is all"),
        (&all, "mirror-descent", "mirror-descent plays on these domains: simplex, ball, l1"),
        (&all, "ogd-strong:sigma=1", "sigma is 2"),
        (&rules(PointLoss::Quadratic, "simplex").unwrap(), "hedge:predict=draw", "predict=draw is for linear losses"),
    ] {
        let found = refused(rules, player);
        assert!(found.starts_with(message), "{player}: {found}");
    }
    for (refused, message) in [
        (GameRules::new(PointLoss::Log, "ball", None, 3), "log losses are played on the simplex"),
        (GameRules::new(PointLoss::Linear, "simplex", None, 1), "on the simplex there must be two coordinates or more"),
        (
            GameRules::new(PointLoss::Linear, "ball", Some(-1.0), 1),
            "the radius of a game must be from 1e-30 to 1e30; got -1",
        ),
        (GameRules::new(PointLoss::Linear, "orthant", None, 1), "there is no domain 'orthant'"),
        (GameRules::new(PointLoss::Linear, "ball", None, 0), "a game must have from 1 to 1048576 coordinates; got 0"),
    ] {
        assert!(refused.as_ref().unwrap_err().to_string().starts_with(message), "{refused:?}");
    }
    let mut game = Game::new(rules(PointLoss::Log, "simplex").unwrap());
    for (row, message) in [
        (&[1.0, 2.0][..], "a row must have 3 entries; got 2"),
        (&[1.0, -2.0, 1.0], "price relatives must be 0 or more; got -2"),
        (&[0.0, 0.0, 0.0], "price relatives must not all be 0"),
        (&[1.0, f64::NAN, 1.0], "entries must be numbers within ±1e30; got NaN"),
        (&[1.0, 1e31, 1.0], "entries must be numbers within ±1e30; got 1e31"),
    ] {
        let error = game.play(row).unwrap_err().to_string();
        assert!(error.starts_with(message) || error.contains("1e30; got"), "{error}");
    }
    assert_eq!(game.rounds(), 0);
}

#[test]
fn the_newton_step_comes_near_the_best_portfolio_and_says_how_near() {
    let mut game = Game::new(GameRules::new(PointLoss::Log, "simplex", None, 2).unwrap());
    ["ons", "mirror-descent", "ftl"].into_iter().for_each(|name| game.join(name, &name.parse().unwrap()).unwrap());
    // Cover's market: cash, and an asset that doubles and halves. Half and half grows by 9/8 every two days.
    for day in 0..400 {
        game.play(&[1.0, if day % 2 == 0 { 2.0 } else { 0.5 }]).unwrap();
    }
    let best = game.best().unwrap();
    assert!((best.loss + 200.0 * (9f64 / 8.0).ln()).abs() < 1e-9 && (best.point[0] - 0.5).abs() < 1e-7);
    for standing in game.standings() {
        let (regret, bound) = (standing.paid() - best.loss, standing.guarantee().bound.unwrap());
        assert!(regret <= bound + 1e-9, "{}: {regret} {bound}", standing.name());
    }
    let newton = &game.standings()[0];
    // Logarithmic: with α = 1 and two assets a few times ln T.
    assert!(newton.guarantee().bound.unwrap() < 20.0, "{:?}", newton.guarantee());
}
