//! Prediction with expert advice: bounds against the regret that brute force finds, streams on which
//! bounds are nearly reached, and what each algorithm is for.

use onward::archive::Archive;
use onward::guarantee::{Comparator, Guarantee, GuaranteeKind};
use onward::learner::LearnerSpec;
use onward::mixture::experts::{AdaHedge, Experts, FixedShare, Hedge, HedgeRate, Share, Squint};
use onward::mixture::{ExpertMixture, Predict};
use onward::{Features, Learner, ScoreLearner, loss};

use crate::common::{Random, Saved};

/// Every algorithm, tuned in every way, for so many experts.
fn algorithms(count: usize) -> Vec<Box<dyn Experts>> {
    let mut all: Vec<Box<dyn Experts>> = vec![
        Box::new(AdaHedge::new(count).unwrap()),
        Box::new(Squint::new(count, None).unwrap()),
        Box::new(Squint::new(count, Some(1.0)).unwrap()),
    ];
    for rate in [HedgeRate::SelfTuned, HedgeRate::Rounds(2048.0), HedgeRate::Fixed(0.1)] {
        all.push(Box::new(Hedge::new(count, rate).unwrap()));
        for (switches, share) in [(0, Share::Tuned), (3, Share::Tuned), (40, Share::Tuned), (3, Share::Fixed(0.01))] {
            all.push(Box::new(FixedShare::new(count, switches, rate, share).unwrap()));
        }
    }
    all
}

/// What a game was: importance times loss of each expert in each round, and what was paid.
#[derive(Default)]
struct Game {
    losses: Vec<Vec<f64>>,
    paid: f64,
    /// Σ of the largest |h·ℓ|: what sums are exact to a part of.
    size: f64,
}

impl Game {
    /// A round: losses and importance.
    fn play(&mut self, experts: &mut dyn Experts, losses: &[f64], importance: f64) {
        let mut weights = vec![0.0; losses.len()];
        weights.copy_from_slice(experts.weights());
        assert!(weights.iter().all(|weight| (0.0..=1.0).contains(weight)), "{} {weights:?}", experts.describe());
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{} {weights:?}", experts.describe());
        self.paid += importance * weights.iter().zip(losses).map(|(weight, loss)| weight * loss).sum::<f64>();
        self.size += importance * losses.iter().fold(0.0, |most, loss| loss.abs().max(most));
        self.losses.push(losses.iter().map(|loss| importance * loss).collect());
        experts.observe(losses, importance);
    }

    /// The regret against the class that the guarantee is about.
    fn regret(&self, class: Comparator) -> f64 {
        self.paid
            - match class {
                Comparator::Experts => best_sequence(&self.losses, 0),
                Comparator::SwitchingExperts(switches) => best_sequence(&self.losses, switches as usize),
                other => panic!("{other:?} is no class of experts"),
            }
    }

    /// (regret, bound), the bound being held against the regret.
    fn judge(&self, experts: &dyn Experts) -> (f64, f64) {
        let guarantee = experts.guarantee();
        let regret = self.regret(guarantee.comparator.unwrap());
        (regret, guarantee.bound.unwrap())
    }
}

/// The least loss of a sequence of experts with at most so many switches, by dynamic programming.
fn best_sequence(losses: &[Vec<f64>], switches: usize) -> f64 {
    let count = losses.first().map_or(1, Vec::len);
    let switches = switches.min(losses.len());
    // least[j][k]: with j switches at most, expert k being the last.
    let mut least = vec![vec![0.0f64; count]; switches + 1];
    for round in losses {
        for j in (0..=switches).rev() {
            let from = if j > 0 { least[j - 1].iter().copied().fold(f64::INFINITY, f64::min) } else { f64::INFINITY };
            for k in 0..count {
                least[j][k] = least[j][k].min(from) + round[k];
            }
        }
    }
    least[switches].iter().copied().fold(f64::INFINITY, f64::min)
}

#[test]
fn the_best_sequence_is_that_of_all_sequences() {
    let mut random = Random(1);
    let losses: Vec<Vec<f64>> = (0..7).map(|_| (0..3).map(|_| random.uniform()).collect()).collect();
    let mut best = [f64::INFINITY; 7];
    for code in 0..3usize.pow(7) {
        let expert = |round: usize| code / 3usize.pow(round as u32) % 3;
        let switches = (1..7).filter(|&round| expert(round) != expert(round - 1)).count();
        let loss: f64 = (0..7).map(|round| losses[round][expert(round)]).sum();
        (switches..7).for_each(|allowed| best[allowed] = best[allowed].min(loss));
    }
    best.iter().enumerate().for_each(|(j, &best)| assert!((best_sequence(&losses, j) - best).abs() < 1e-12));
}

/// Streams of losses and importance, which may look at the weights.
type Stream = fn(usize, &[f64], &mut Random) -> (Vec<f64>, f64);

const STREAMS: [(&str, Stream); 8] = [
    ("random", |_, weights, random| (weights.iter().map(|_| random.uniform()).collect(), 1.0)),
    ("sorted", |round, weights, random| {
        let drift = round as f64 / 2048.0;
        let loss = |k: usize, random: &mut Random| (drift - k as f64 / 20.0).abs() + 0.1 * random.uniform();
        ((0..weights.len()).map(|k| loss(k, random)).collect(), 1.0)
    }),
    ("against the heaviest", |_, weights, _| (against_the_heaviest(weights), 1.0)),
    ("against the lightest", |_, weights, _| {
        (against_the_heaviest(weights).iter().map(|loss| 1.0 - loss).collect(), 1.0)
    }),
    ("heavy-tailed", |_, weights, random| {
        let loss = |random: &mut Random| random.between(-1.0, 1.0) / (random.uniform() + 1e-9).powi(2);
        (weights.iter().map(|_| loss(random)).collect(), 1.0 / (random.uniform() + 1e-3))
    }),
    ("ever larger", |round, weights, random| {
        let scale = 2f64.powf(round as f64 / 20.0);
        (weights.iter().map(|_| scale * random.uniform()).collect(), [1.0, 0.0, 3.0][round % 3])
    }),
    ("first tiny, then against the heaviest", |round, weights, random| {
        let scale = if round < 500 { 1e-12 } else { 1.0 };
        let shift = 0.01 * random.uniform();
        (against_the_heaviest(weights).iter().map(|loss| scale * (loss - shift)).collect(), 1.0)
    }),
    ("switching", |round, weights, random| {
        let best = (round / 300) % weights.len();
        let loss = |k: usize, random: &mut Random| if k == best { 0.3 } else { 0.8 } * random.uniform();
        ((0..weights.len()).map(|k| loss(k, random)).collect(), 1.0)
    }),
];

/// 1 for whom is believed most, 0 for all others.
fn against_the_heaviest(weights: &[f64]) -> Vec<f64> {
    let heaviest = (0..weights.len()).max_by(|&a, &b| weights[a].total_cmp(&weights[b])).unwrap();
    (0..weights.len()).map(|k| f64::from(u8::from(k == heaviest))).collect()
}

#[test]
fn no_guarantee_is_below_the_regret() {
    for count in [1, 2, 5, 17] {
        for (name, stream) in STREAMS {
            for mut experts in algorithms(count) {
                let (mut game, mut random) = (Game::default(), Random(2));
                let mut weights = vec![0.0; count];
                for round in 0..2048usize {
                    weights.copy_from_slice(experts.weights());
                    let (losses, importance) = stream(round, &weights, &mut random);
                    game.play(experts.as_mut(), &losses, importance);
                    if (round + 1).is_power_of_two() {
                        let (regret, bound) = game.judge(experts.as_ref());
                        let context = format!("{} of {count}, {name}, {round}", experts.describe());
                        assert!(regret <= bound + 1e-10 * game.size, "{context}: {regret} > {bound}");
                        assert!(count > 1 || bound == 0.0, "{context}: {bound}");
                    }
                }
            }
        }
    }
}

/// What each algorithm with a promise promises of so many rounds of such a range, beside the algorithm.
type Promised = (Box<dyn Experts>, Box<dyn Fn(f64, f64) -> f64>);

fn promised(count: usize) -> Vec<Promised> {
    let mut all: Vec<Promised> = vec![(
        Box::new(AdaHedge::new(count).unwrap()),
        Box::new(move |rounds, range| AdaHedge::promise(count, rounds, range).unwrap()),
    )];
    // What is beyond the range that was said to be known has no promise.
    all.push((
        Box::new(Squint::new(count, Some(4.0)).unwrap()),
        Box::new(move |rounds, range| Squint::promise(count, 4.0, rounds, range).unwrap().unwrap_or(f64::INFINITY)),
    ));
    for rate in [HedgeRate::SelfTuned, HedgeRate::Rounds(2048.0), HedgeRate::Rounds(100.0), HedgeRate::Fixed(0.1)] {
        all.push((
            Box::new(Hedge::new(count, rate).unwrap()),
            Box::new(move |rounds, range| Hedge::promise(count, rate, rounds, range).unwrap()),
        ));
        for (switches, share) in [(0, Share::Tuned), (3, Share::Tuned), (40, Share::Tuned), (3, Share::Fixed(0.01))] {
            if FixedShare::promise(count, switches, rate, share, 1.0, 1.0).unwrap().is_some() {
                all.push((
                    Box::new(FixedShare::new(count, switches, rate, share).unwrap()),
                    Box::new(move |rounds, range| {
                        FixedShare::promise(count, switches, rate, share, rounds, range).unwrap().unwrap()
                    }),
                ));
            }
        }
    }
    all
}

#[test]
fn no_promise_is_below_what_is_guaranteed_afterwards() {
    // Ranges that double whenever the one before has been forgotten are the worst for rates that tune themselves.
    let doubling: Stream = |round, weights, _| {
        let range = f64::from(1u32 << (round / 60).min(20));
        (against_the_heaviest(weights).iter().map(|loss| range * loss).collect(), 1.0)
    };
    let steady: Stream = |_, weights, _| (against_the_heaviest(weights), 1.0);
    let streams = STREAMS.iter().copied().chain([("doubling", doubling), ("steady", steady)]);
    let mut nearest = std::collections::BTreeMap::new();
    for (name, stream) in streams {
        for count in [1, 2, 5, 17] {
            for (mut experts, promise) in promised(count) {
                let (mut game, mut random, mut range) = (Game::default(), Random(2), 0f64);
                let mut weights = vec![0.0; count];
                for round in 0..2048usize {
                    weights.copy_from_slice(experts.weights());
                    let (losses, importance) = stream(round, &weights, &mut random);
                    game.play(experts.as_mut(), &losses, importance);
                    let of = |pick: fn(f64, f64) -> f64, from| losses.iter().copied().fold(from, pick);
                    range = range.max(importance * (of(f64::max, f64::MIN) - of(f64::min, f64::MAX)));
                    if (round + 1).is_power_of_two() {
                        let bound = experts.guarantee().bound.unwrap();
                        let promise = promise((round + 1) as f64, range);
                        let context = format!("{} of {count}, {name}, {round}", experts.describe());
                        assert!(bound <= promise * (1.0 + 1e-9) + 1e-10 * game.size, "{context}: {bound} > {promise}");
                        let ratio = nearest.entry(experts.describe()).or_insert(0f64);
                        *ratio = if promise > 0.0 { ratio.max(bound / promise) } else { *ratio };
                    }
                }
            }
        }
    }
    assert_eq!(nearest.len(), promised(2).len());
    for (name, ratio) in nearest {
        println!("{name}: {ratio}");
        // With nothing unknown, the promise is what is guaranteed afterwards.
        let least = if name.contains("hedge:eta=0") || name.contains("rounds") { 0.95 } else { 0.4 };
        assert!(ratio >= least, "{name}: {ratio}");
    }
}

/// Plays against the heaviest for a while, and then lets one expert be the best for ever: the bound of
/// exponential weights is nearly reached, in its second term first and then in its first.
fn tight_game(experts: &mut dyn Experts, rounds: usize) -> Game {
    let (mut game, mut weights) = (Game::default(), [0.0; 2]);
    for round in 0..rounds {
        weights.copy_from_slice(experts.weights());
        // Two experts with equal weights lose in turns.
        let losses = if round < rounds / 16 * 15 { against_the_heaviest(&weights) } else { vec![0.0, 1.0] };
        game.play(experts, &losses, 1.0);
    }
    game
}

#[test]
fn bounds_are_nearly_reached_so_that_wrong_constants_would_be_caught() {
    let rounds = 1 << 12;
    let tuned: [(Box<dyn Experts>, f64); 5] = [
        (Box::new(AdaHedge::new(2).unwrap()), 0.95),
        (Box::new(Hedge::new(2, HedgeRate::SelfTuned).unwrap()), 0.9),
        (Box::new(Hedge::new(2, HedgeRate::Rounds(rounds as f64)).unwrap()), 0.9),
        (Box::new(FixedShare::new(2, 0, HedgeRate::SelfTuned, Share::Tuned).unwrap()), 0.9),
        (Box::new(Squint::new(2, None).unwrap()), 0.2),
    ];
    for (mut experts, part) in tuned {
        let game = tight_game(experts.as_mut(), rounds);
        let (regret, bound) = game.judge(experts.as_ref());
        println!("{}: {regret} of {bound}: {}", experts.describe(), regret / bound);
        // Half the bound, or η/16 in place of η/8, is less than this.
        assert!(regret <= bound && regret >= part * bound, "{}: {regret} of {bound}", experts.describe());
    }
}

#[test]
fn a_sixteenth_of_eta_in_place_of_an_eighth_would_be_caught() {
    let (rounds, eta) = (1 << 12, 0.05);
    let mut experts = Hedge::new(2, HedgeRate::Fixed(eta)).unwrap();
    let game = tight_game(&mut experts, rounds);
    let (regret, bound) = game.judge(&experts);
    let wrong = 2f64.ln() / eta + eta / 16.0 * rounds as f64;
    assert!(regret <= bound && regret > wrong, "{regret} of {bound}, {wrong}");
}

#[test]
fn on_random_signs_regret_is_a_good_part_of_each_bound() {
    for count in 0..8 {
        let (mut ratio, seeds) = (0.0, 20);
        let mut name = String::new();
        for seed in 0..seeds {
            let mut experts: Box<dyn Experts> = match count {
                0 => Box::new(Hedge::new(2, HedgeRate::SelfTuned).unwrap()),
                1 => Box::new(Hedge::new(2, HedgeRate::Rounds(4096.0)).unwrap()),
                2 => Box::new(AdaHedge::new(2).unwrap()),
                3 => Box::new(Squint::new(2, None).unwrap()),
                4 => Box::new(Squint::new(2, Some(2.0)).unwrap()),
                5 => Box::new(FixedShare::new(2, 3, HedgeRate::SelfTuned, Share::Tuned).unwrap()),
                6 => Box::new(FixedShare::new(2, 3, HedgeRate::Rounds(4096.0), Share::Tuned).unwrap()),
                _ => Box::new(FixedShare::new(2, 100, HedgeRate::SelfTuned, Share::Tuned).unwrap()),
            };
            let (mut game, mut random) = (Game::default(), Random(seed));
            for _ in 0..1 << 12 {
                let sign = if random.next() % 2 == 0 { 1.0 } else { -1.0 };
                game.play(experts.as_mut(), &[sign, -sign], 1.0);
            }
            let (regret, bound) = game.judge(experts.as_ref());
            assert!(regret <= bound);
            ratio += regret / bound / seeds as f64;
            name = experts.describe();
        }
        println!("{name}: {ratio}");
        assert!(ratio >= 0.2, "{name}: {ratio}");
    }
}

#[test]
fn hedge_with_a_known_number_of_rounds_reaches_the_order_of_its_bound() {
    let (rounds, count) = (1 << 12, 16usize);
    let textbook = (f64::from(rounds) * (count as f64).ln() / 2.0).sqrt();
    let mut mean = 0.0;
    for seed in 0..20 {
        let mut experts = Hedge::new(count, HedgeRate::Rounds(f64::from(rounds))).unwrap();
        let (mut game, mut random) = (Game::default(), Random(seed));
        for _ in 0..rounds {
            let losses: Vec<f64> = (0..count).map(|_| (random.next() % 2) as f64).collect();
            game.play(&mut experts, &losses, 1.0);
        }
        let (regret, bound) = game.judge(&experts);
        assert!(regret <= bound && bound <= textbook * (1.0 + 1e-12));
        mean += regret / 20.0;
    }
    // No algorithm can pay less on such losses than about the expected maximum of 16 walks.
    assert!(mean >= 0.5 * textbook, "{mean} {textbook}");
}

#[test]
fn fixed_share_follows_a_switching_best_where_hedge_does_not() {
    let (rounds, switches) = (4000usize, 7);
    let play = |experts: &mut dyn Experts| {
        let (mut game, mut random) = (Game::default(), Random(3));
        for round in 0..rounds {
            let best = (round / 500) * 3 % 5;
            let mean = |k: usize| if k == best { 0.2 } else { 0.5 };
            let losses: Vec<f64> = (0..5).map(|k| f64::from(u8::from(random.uniform() < mean(k)))).collect();
            game.play(experts, &losses, 1.0);
        }
        game
    };
    let mut hedge = Hedge::new(5, HedgeRate::Rounds(rounds as f64)).unwrap();
    let of_hedge = play(&mut hedge).paid;
    for rate in [HedgeRate::SelfTuned, HedgeRate::Rounds(rounds as f64)] {
        let mut experts = FixedShare::new(5, switches, rate, Share::Tuned).unwrap();
        let game = play(&mut experts);
        let (regret, bound) = game.judge(&experts);
        assert!(game.paid < 0.8 * of_hedge, "{} {of_hedge}", game.paid);
        // Against the best sequence with seven switches, not the best expert.
        assert!(regret > 0.0 && regret <= bound && regret > 0.2 * bound, "{regret} {bound}");
    }
}

#[test]
fn squint_weighs_by_the_integral_that_brute_force_finds() {
    let (count, known) = (4, 1.0);
    let mut experts = Squint::new(count, Some(known)).unwrap();
    let (mut regrets, mut variances) = ([0.0; 4], [0.0; 4]);
    let (mut random, mut weights) = (Random(4), [0.0; 4]);
    for round in 0..200 {
        weights.copy_from_slice(experts.weights());
        // Σ η·e^(ηR − η²V) at the middles of 100,000 parts of (0, ½].
        let parts = 100_000;
        let integral = |k: usize| {
            let eta = |part: i32| (f64::from(part) + 0.5) / f64::from(parts) * 0.5;
            (0..parts).map(eta).map(|eta| eta * (eta * regrets[k] - eta * eta * variances[k]).exp()).sum::<f64>()
        };
        if round % 40 < 2 {
            let integrals: Vec<f64> = (0..count).map(integral).collect();
            let total: f64 = integrals.iter().sum();
            for k in 0..count {
                assert!((weights[k] - integrals[k] / total).abs() < 1e-8, "{round}: {weights:?} {integrals:?}");
            }
        }
        let losses: Vec<f64> = (0..count).map(|k| random.uniform() * (0.5 + k as f64 / 8.0)).collect();
        let mean: f64 = weights.iter().zip(&losses).map(|(weight, loss)| weight * loss).sum();
        for k in 0..count {
            regrets[k] += mean - losses[k];
            variances[k] += (mean - losses[k]).powi(2);
        }
        experts.observe(&losses, 1.0);
    }
    // The potential that the bound is made of, and the bound: the largest regret that it allows.
    let potential = |regret: f64, variance: f64| {
        let parts = 100_000;
        let eta = |part: i32| (f64::from(part) + 0.5) / f64::from(parts) * 0.5;
        (0..parts).map(eta).map(|eta| (eta * regret - eta * eta * variance).exp()).sum::<f64>() / f64::from(parts)
    };
    let sum: f64 = (0..count).map(|k| potential(regrets[k], variances[k]) / count as f64).sum();
    assert!(sum <= 1.0 + 1e-9, "{sum}");
    let best = (0..count).max_by(|&a, &b| regrets[a].total_cmp(&regrets[b])).unwrap();
    let bound = experts.guarantee().bound.unwrap();
    assert!((potential(bound, variances[best]) - count as f64).abs() < 1e-6, "{bound}");
}

#[test]
fn squint_counts_rounds_of_unheard_of_range_as_it_says() {
    // A plain twin in the units of losses: R, V, what clipping left out, and the first and last range.
    let mut experts = Squint::new(2, None).unwrap();
    let (mut regrets, mut variances, mut aside) = ([0.0; 2], [0.0; 2], [0.0; 2]);
    let (mut first, mut range) = (0.0, 0.0);
    let parts = 100_000;
    let mean_over_rates = |range: f64, of: &dyn Fn(f64) -> f64| {
        (0..parts).map(|part| of((f64::from(part) + 0.5) / f64::from(parts) / (2.0 * range))).sum::<f64>()
            / f64::from(parts)
    };
    let (mut random, mut weights) = (Random(12), [0.0; 2]);
    for round in 0..60 {
        weights.copy_from_slice(experts.weights());
        if round % 10 == 9 {
            let integrals = [0, 1].map(|k: usize| {
                mean_over_rates(range, &|eta| eta * (eta * regrets[k] - eta * eta * variances[k]).exp())
            });
            assert!((weights[0] - integrals[0] / (integrals[0] + integrals[1])).abs() < 1e-8, "{round}: {weights:?}");
        }
        // Seven times as large from time to time.
        let scale = 7f64.powi(round / 13);
        let losses = [scale * random.uniform(), scale * random.uniform()];
        let (before, now) = (range, f64::max(range, (losses[0] - losses[1]).abs()));
        let kept = if before > 0.0 { before / now } else { 1.0 };
        range = now;
        first = if before > 0.0 { first } else { now };
        for k in 0..2 {
            let regret = weights[0] * losses[0] + weights[1] * losses[1] - losses[k];
            regrets[k] += regret * kept;
            variances[k] += (regret * kept).powi(2);
            aside[k] += regret * (1.0 - kept);
        }
        experts.observe(&losses, 1.0);
        let best = usize::from(regrets[1] + aside[1] > regrets[0] + aside[0]);
        let clipped = experts.guarantee().bound.unwrap() - aside[best];
        let potential = mean_over_rates(range, &|eta| (eta * clipped - eta * eta * variances[best]).exp());
        let allowed = 2.0 * range / first;
        assert!((potential / allowed - 1.0).abs() < 1e-6, "{round}: {potential} {allowed}");
    }
    assert!(range > 1000.0 * first && aside.iter().all(|aside| aside.abs() > 1.0), "{range} {first} {aside:?}");
}

#[test]
fn easy_streams_cost_adahedge_and_squint_a_constant_and_hedge_a_root() {
    let rounds = 1 << 14;
    let regret = |experts: &mut dyn Experts| {
        let (mut game, mut random) = (Game::default(), Random(5));
        for _ in 0..rounds {
            let losses = [0.3 * random.uniform(), 0.2 + 0.3 * random.uniform(), 0.5 + 0.3 * random.uniform()];
            game.play(experts, &losses, 1.0);
        }
        let (regret, bound) = game.judge(experts);
        assert!(regret <= bound);
        (regret, bound)
    };
    for experts in [&mut AdaHedge::new(3).unwrap() as &mut dyn Experts, &mut Squint::new(3, None).unwrap()] {
        let (regret, bound) = regret(experts);
        assert!(regret < 4.0 && bound < 16.0, "{}: {regret} {bound}", experts.describe());
    }
    assert!(regret(&mut Hedge::new(3, HedgeRate::SelfTuned).unwrap()).1 > 40.0);
}

#[test]
fn a_million_rounds_lose_nothing_to_rounding() {
    let mut all: [Box<dyn Experts>; 4] = [
        Box::new(Hedge::new(2, HedgeRate::Fixed(1.0)).unwrap()),
        Box::new(FixedShare::new(2, 3, HedgeRate::SelfTuned, Share::Tuned).unwrap()),
        Box::new(AdaHedge::new(2).unwrap()),
        Box::new(Squint::new(2, None).unwrap()),
    ];
    for experts in &mut all {
        let (mut random, mut weights, mut paid, mut sums) = (Random(6), [0.0; 2], 0.0, [0.0; 2]);
        for _ in 0..1_000_000 {
            weights.copy_from_slice(experts.weights());
            let losses = [0.5 * random.uniform(), 0.4 + 0.6 * random.uniform()];
            for k in 0..2 {
                paid += weights[k] * losses[k];
                sums[k] += losses[k];
            }
            experts.observe(&losses, 1.0);
        }
        let bound = experts.guarantee().bound.unwrap();
        assert!(weights.iter().all(|weight| weight.is_finite()) && weights[0] > 0.99, "{weights:?}");
        assert!(paid - sums[0] <= bound && bound.is_finite(), "{}: {} {bound}", experts.describe(), paid - sums[0]);
    }
}

#[test]
fn saving_loading_and_continuing_equals_never_stopping() {
    for (at, mut whole) in algorithms(3).into_iter().enumerate() {
        let mut again = algorithms(3).swap_remove(at);
        let mut random = Random(7);
        let (mut one, mut other) = ([0.0; 3], [0.0; 3]);
        for round in 0..200 {
            if round == 0 || round == 77 {
                let mut fresh = algorithms(3).swap_remove(at);
                fresh.restore(&again.state()).unwrap();
                again = fresh;
            }
            let losses = [random.uniform(), 2.0 * random.uniform(), 0.1 * round as f64];
            whole.observe(&losses, 1.5);
            again.observe(&losses, 1.5);
            one.copy_from_slice(whole.weights());
            other.copy_from_slice(again.weights());
            assert_eq!(one.map(f64::to_bits), other.map(f64::to_bits), "{}", whole.describe());
        }
        assert_eq!(whole.guarantee(), again.guarantee());
        assert_eq!(whole.state(), again.state());
    }
}

#[test]
fn a_damaged_state_is_refused() {
    for mut experts in algorithms(3) {
        experts.observe(&[0.0, 1.0, 2.0], 1.0);
        let state = experts.state();
        for column in state.columns().keys() {
            for damage in [vec![0.0; 2], vec![0.0, f64::NAN, 0.0], vec![0.0, f64::INFINITY, 0.0]] {
                let mut damaged = state.clone();
                damaged.set_column(column, onward::archive::SavedColumn::F64(damage));
                assert!(experts.restore(&damaged).is_err(), "{}: {column}", experts.describe());
            }
        }
        for number in state.numbers().keys() {
            for damage in [f64::NAN, f64::INFINITY, -1.0] {
                let mut damaged = state.clone();
                damaged.set(number, damage);
                assert!(experts.restore(&damaged).is_err(), "{}: {number}", experts.describe());
            }
        }
    }
}

fn build(text: &str, loss: &onward::SharedLoss) -> Box<dyn Learner> {
    text.parse::<LearnerSpec>().unwrap().build(loss, None).unwrap()
}

/// Learns from a stream on which experts disagree, and returns (regret against the best expert, bound printed).
fn regret_of_learner(text: &str, seed: u64) -> (f64, f64) {
    let loss = loss::parse("absolute").unwrap();
    let mut learner = build(text, &loss);
    let (mut random, mut paid) = (Random(seed), 0.0);
    let rounds = 300;
    for round in 0..rounds {
        let x = [1.0, random.between(-1.0, 1.0) as f32];
        let label = 3.0 * f64::from(x[1]) * if (round / 40) % 2 == 0 { 1.0 } else { -1.0 } + random.between(-1.0, 1.0);
        let prediction = learner.learn_one(Features::new(&[0, 1], &x).unwrap(), label, 1.0);
        paid += loss.value(prediction, label);
    }
    let best = learner.mixture().unwrap().best().unwrap().loss * f64::from(rounds);
    (paid - best, learner.guarantee().bound.unwrap())
}

#[test]
fn drawn_predictions_keep_the_bound_on_average_over_seeds_and_what_they_print_always() {
    for algorithm in ["hedge", "fixed-share", "adahedge", "squint"] {
        let learners = "learners=(ogd:radius=1)+(ogd:radius=5)+(nag:eta=4)+(adagrad:eta=0.05)";
        let (mixed, bound) = regret_of_learner(&format!("{algorithm}:{learners}"), 8);
        assert!(mixed <= bound);
        let seeds = 200;
        let (mut regrets, mut luck) = (Vec::new(), Vec::new());
        for seed in 0..seeds {
            let (regret, printed) = regret_of_learner(&format!("{algorithm}:{learners},predict=draw,seed={seed}"), 8);
            assert!(regret <= printed + 1e-9, "{algorithm} {seed}: {regret} {printed}");
            regrets.push(regret);
            luck.push(printed - bound);
        }
        let mean_and_error = |numbers: &[f64]| {
            let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
            let variance = numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>();
            (mean, variance.sqrt() / numbers.len() as f64)
        };
        let (mean, error) = mean_and_error(&regrets);
        assert!(mean <= bound + 3.0 * error, "{algorithm}: {mean} ± {error} {bound}");
        // Drawing pays more than mixing, which gains by convexity.
        assert!(mean > mixed, "{algorithm}: {mean} {mixed}");
        let (mean, error) = mean_and_error(&luck);
        assert!(error > 0.0 && mean.abs() <= 4.0 * error, "{algorithm}: luck {mean} ± {error}");
    }
}

#[test]
fn predicting_says_what_learning_will_draw() {
    let loss = loss::parse("logistic").unwrap();
    let mut learner = build("adahedge:learners=nag+ogd+adagrad,predict=draw,seed=9", &loss);
    let mut random = Random(10);
    for _ in 0..200 {
        let x = [1.0, random.between(-1.0, 1.0) as f32];
        let x = Features::new(&[0, 1], &x).unwrap();
        let before = learner.state();
        let predicted = learner.predict_one(x);
        assert_eq!(learner.predict_one(x), predicted);
        learner.learn_one(x, 1.0, 0.0);
        assert_eq!(learner.state(), before);
        let label = if random.uniform() < 0.3 { 1.0 } else { -1.0 };
        assert_eq!(learner.learn_one(x, label, 1.0), predicted);
    }
}

/// Σ w_k·ℓ_k of experts that learn alone, by the weights before each round.
#[test]
fn what_is_paid_on_average_over_draws_is_apart_from_their_luck() {
    let loss = loss::parse("logistic").unwrap();
    let mut drawing = build("hedge:learners=nag+ogd,predict=draw,seed=7", &loss);
    let mut alone = [build("nag", &loss), build("ogd", &loss)];
    let (mut random, mut expected, mut paid) = (Random(12), 0.0, 0.0);
    for _ in 0..300 {
        let x = [1.0, random.between(-1.0, 1.0) as f32];
        let x = Features::new(&[0, 1], &x).unwrap();
        let label = if random.uniform() < 0.7 { 1.0 } else { -1.0 };
        let weights: Vec<f64> = drawing.mixture().unwrap().experts.iter().map(|expert| expert.weight).collect();
        paid += loss.value(drawing.learn_one(x, label, 1.0), label);
        for (learner, weight) in alone.iter_mut().zip(weights) {
            expected += weight * loss.value(learner.learn_one(x, label, 1.0), label);
        }
    }
    let mixed = drawing.mixture().unwrap();
    assert!((mixed.expected.unwrap() * 300.0 - expected).abs() < 1e-10);
    assert!((mixed.loss * 300.0 - paid).abs() < 1e-10 && (paid - expected).abs() > 1e-3);
    assert_eq!(build("hedge:learners=nag+ogd", &loss).mixture().unwrap().expected, None);
}

#[test]
fn a_mixture_follows_the_expert_that_is_best() {
    let loss = loss::parse("squared").unwrap();
    for algorithm in ["hedge", "fixed-share", "adahedge", "squint"] {
        let mut learner = build(&format!("{algorithm}:learners=(ogd:radius=0.01)+nag+(ogd:radius=0.02)"), &loss);
        let mut random = Random(11);
        for _ in 0..2000 {
            let x = [1.0, random.between(-1.0, 1.0) as f32];
            learner.learn_one(Features::new(&[0, 1], &x).unwrap(), 2.0 + f64::from(x[1]), 1.0);
        }
        let mixed = learner.mixture().unwrap();
        assert_eq!(mixed.best().unwrap().name, "nag:eta=0.5");
        assert!(mixed.experts[1].weight > 0.9, "{algorithm}: {mixed:?}");
        assert!(mixed.gap() * 2000.0 <= learner.guarantee().bound.unwrap());
        assert!((learner.linear().unwrap().weight(1) - 1.0).abs() < 0.2, "{algorithm}");
    }
}

/// An expert that always says the same.
struct Constant(f64, onward::SharedLoss);

impl ScoreLearner for Constant {
    fn predict_one(&self, _: Features<'_>) -> f64 {
        self.0
    }

    fn learn_one(&mut self, _: Features<'_>, _: f64, _: f64) -> f64 {
        self.0
    }

    fn loss(&self) -> onward::SharedLoss {
        self.1.clone()
    }

    fn describe(&self) -> String {
        format!("constant {}", self.0)
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::none(GuaranteeKind::Own, "it never learns")
    }

    fn persist(&mut self, _: &mut Archive) -> Result<(), onward::Error> {
        Ok(())
    }
}

/// Regret over bound of a mixture of the constants 0 and 1 on labels 0 and 1 at random, on average over seeds: by
/// the absolute loss, which is straight between them, so that mixing gains nothing.
fn part_of_the_bound<E: Experts + 'static>(algorithm: impl Fn() -> E) -> f64 {
    let loss = loss::parse("absolute").unwrap();
    let seeds = 20;
    let part = |seed| {
        let learners: Vec<Box<dyn Learner>> =
            vec![Box::new(Constant(0.0, loss.clone())), Box::new(Constant(1.0, loss.clone()))];
        let advice = ExpertMixture::new(loss.clone(), algorithm(), learners, Predict::Mix).unwrap();
        let mut advice: Box<dyn Learner> = Box::new(advice);
        let (mut random, mut game) = (Random(seed), Game::default());
        for _ in 0..1 << 12 {
            let label = (random.next() % 2) as f64;
            let score = advice.learn_one(Features::new(&[0], &[1.0]).unwrap(), label, 2.0);
            game.paid += 2.0 * loss.value(score, label);
            game.losses.push(vec![2.0 * label, 2.0 * (1.0 - label)]);
        }
        let guarantee = advice.guarantee();
        assert_eq!(guarantee.kind, GuaranteeKind::Mixture);
        let regret = game.regret(guarantee.comparator.unwrap());
        let bound = guarantee.bound.unwrap();
        assert!(regret <= bound);
        regret / bound
    };
    (0..seeds).map(part).sum::<f64>() / seeds as f64
}

#[test]
fn a_mixture_of_learners_comes_near_to_its_bound_where_mixing_gains_nothing() {
    let parts = [
        ("hedge", part_of_the_bound(|| Hedge::new(2, HedgeRate::SelfTuned).unwrap())),
        ("fixed-share", part_of_the_bound(|| FixedShare::new(2, 3, HedgeRate::SelfTuned, Share::Tuned).unwrap())),
        ("adahedge", part_of_the_bound(|| AdaHedge::new(2).unwrap())),
        ("squint", part_of_the_bound(|| Squint::new(2, None).unwrap())),
    ];
    println!("{parts:?}");
    assert!(parts.iter().all(|&(_, part)| part >= 0.2), "{parts:?}");
}

#[test]
fn learners_that_do_not_fit_together_are_refused() {
    let (absolute, squared) = (loss::parse("absolute").unwrap(), loss::parse("squared").unwrap());
    let constant = |loss: &onward::SharedLoss| Box::new(Constant(0.0, loss.clone())) as Box<dyn Learner>;
    let message = |loss, learners, count| {
        let advice = ExpertMixture::new(loss, AdaHedge::new(count).unwrap(), learners, Predict::Mix);
        advice.err().unwrap().to_string()
    };
    assert_eq!(
        message(squared.clone(), vec![constant(&absolute)], 1),
        "the expert 'constant 0' has the loss absolute, and the mixture has the loss squared; they must be the same"
    );
    assert_eq!(
        message(squared.clone(), vec![constant(&squared)], 2),
        "there must be as many learners as the algorithm weighs, 2; got 1"
    );
    assert_eq!(message(squared, Vec::new(), 2), "the number of learners to mix must be from 1 to 256; got 0");
    let mistakes = loss::parse("zero-one").unwrap();
    assert!(message(mistakes.clone(), vec![constant(&mistakes)], 1).contains("must be convex"));
}

#[test]
fn draws_are_independent_and_by_weight() {
    let loss = loss::parse("absolute").unwrap();
    let rounds = 1 << 12;
    for seed in 0..4 {
        // A rate so small that weights stay as they are: a quarter on the expert that says 1.
        let constants = [1.0, 0.0, 0.0, 0.0];
        let learners = constants.map(|constant| Box::new(Constant(constant, loss.clone())) as Box<dyn Learner>);
        let hedge = Hedge::new(4, HedgeRate::Fixed(1e-30)).unwrap();
        let advice = ExpertMixture::new(loss.clone(), hedge, learners.into(), Predict::Draw(seed)).unwrap();
        let mut advice: Box<dyn Learner> = Box::new(advice);
        let x = Features::new(&[0], &[1.0]).unwrap();
        let drawn: Vec<f64> = (0..rounds).map(|_| advice.learn_one(x, 0.0, 1.0)).collect();
        let pairs = drawn.windows(2).filter(|pair| pair[0] == 1.0 && pair[1] == 1.0).count() as f64;
        let ones: f64 = drawn.iter().sum();
        // Within four standard deviations of T/4 and about as many of T/16.
        assert!((ones - 1024.0).abs() < 4.0 * 27.8, "{seed}: {ones}");
        assert!((pairs - 256.0).abs() < 4.0 * 19.0, "{seed}: {pairs}");
    }
}
