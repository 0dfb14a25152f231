//! What is played, and by whom.

use std::io::IsTerminal;
use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use onward_data::Input;
use onward_engine::PlayOptions;

use super::OutputArguments;
use super::learning::parse_number;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  onward play losses.csv --losses linear --learner hedge,ogd
      each row has a loss per expert; points are on the simplex
  onward play centres.csv --losses quadratic --domain ball --radius 2 --learner ftl,ogd
      each row is a centre x of the loss ‖w − x‖²
  onward play relatives.csv --losses log --learner ons,mirror-descent --html portfolios.html
      each row has the price relatives of a day
  onward play coins.csv --losses linear --domain all --learner coin --report - --quiet | jq .game.best
      as JSON, for scripts")]
pub(crate) struct PlayArguments {
    /// The file of rows; `-` or none: standard input. CSV, numbers between blanks, or JSON lines of arrays; each row is a
    /// vector, and columns whose first value is a text are left out
    #[arg(value_name = "INPUT", value_hint = ValueHint::FilePath)]
    input: Option<String>,

    /// What the point w of a round pays for its row
    #[arg(long, value_name = "LOSSES", help_heading = "Game")]
    losses: LossesOption,

    /// Where points are taken from
    #[arg(long, value_name = "DOMAIN", default_value = "simplex", help_heading = "Game")]
    domain: DomainOption,

    /// The radius U of the domain; with --domain all, of the fixed points that regret is counted against [default: 1;
    /// quadratic losses on all of R^d: any point]
    #[arg(long, value_name = "U", allow_negative_numbers = true, value_parser = parse_number, help_heading = "Game")]
    radius: Option<f64>,

    /// Columns to leave out, separated by commas
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', action = clap::ArgAction::Append, help_heading = "Game")]
    ignore: Vec<String>,

    /// The players, separated by commas or in several options [default: hedge and ogd on the simplex, coin and ogd on all
    /// of R^d, else ftrl and ogd]; see `onward list learners`
    #[arg(long, value_name = "NAME[:KEY=VALUE,…],…", action = clap::ArgAction::Append, help_heading = "Game")]
    learner: Vec<String>,

    /// Write a self-contained HTML page with charts (`-`: standard output)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub(crate) html: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// What a point pays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LossesOption {
    /// ⟨w, z⟩: rows are vectors of losses z
    Linear,
    /// ‖w − x‖²: rows are centres x
    Quadratic,
    /// −ln⟨w, x⟩: rows are price relatives x, what a day makes of 1 in each asset; on the simplex
    Log,
}

/// Where points are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DomainOption {
    /// w_i ≥ 0 and Σw_i = U
    Simplex,
    /// ‖w‖₂ ≤ U
    Ball,
    /// |w_i| ≤ U
    Box,
    /// ‖w‖₁ ≤ U
    L1,
    /// All of R^d
    All,
}

/// The word that an option is given by.
fn word(option: impl ValueEnum) -> String {
    option.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

impl PlayArguments {
    /// The input; standard input if none is named.
    pub(crate) fn input(&self) -> Result<Input, &'static str> {
        match &self.input {
            Some(name) => Ok(Input::from(name.as_str())),
            None if std::io::stdin().is_terminal() => {
                Err("no input is given: name a file, pipe rows in, or use `-` to type them")
            }
            None => Ok(Input::Standard),
        }
    }

    /// What they ask for.
    pub(crate) fn options(&self) -> PlayOptions {
        PlayOptions {
            losses: word(self.losses),
            domain: word(self.domain),
            radius: self.radius,
            learners: self.learner.iter().flat_map(|text| separated(text)).collect(),
            ignore: self.ignore.clone(),
            ..PlayOptions::default()
        }
    }
}

/// The learners of a list. A comma stands before the next one unless what follows is a parameter.
fn separated(text: &str) -> Vec<String> {
    let mut learners: Vec<String> = Vec::new();
    let mut depth = 0i32;
    for part in text.split(',') {
        let is_parameter = part.split(':').next().is_some_and(|name| name.contains('='));
        match learners.last_mut() {
            Some(last) if depth > 0 || is_parameter => {
                last.push(',');
                last.push_str(part);
            }
            _ => learners.push(part.trim().to_owned()),
        }
        depth += part.matches('(').count() as i32 - part.matches(')').count() as i32;
    }
    learners
}

#[cfg(test)]
mod tests {
    use super::separated;

    #[test]
    fn commas_separate_learners_and_their_parameters() {
        for (text, learners) in [
            ("ogd", &["ogd"][..]),
            ("ftl,ogd", &["ftl", "ogd"]),
            ("ogd:eta=1,average=true,ftl", &["ogd:eta=1,average=true", "ftl"]),
            ("hedge:learners=nag+(ogd:eta=1,radius=2),ogd", &["hedge:learners=nag+(ogd:eta=1,radius=2)", "ogd"]),
            ("hedge:eta=1, squint:range=2", &["hedge:eta=1", "squint:range=2"]),
        ] {
            assert_eq!(separated(text), learners);
        }
    }
}
