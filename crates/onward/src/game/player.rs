//! Who plays: a player declares a point, is shown the round, and moves.

use super::GameRules;
use crate::guarantee::Guarantee;

/// A round as a player sees it when its point has been charged.
#[derive(Debug, Clone, Copy)]
pub struct GameRound<'a> {
    /// The rules.
    pub rules: &'a GameRules,
    /// What came: the vector that all losses of the round are of.
    pub row: &'a [f64],
    /// z, the gradient of the loss at the player's point.
    pub gradient: &'a [f64],
}

/// A player of a game.
pub trait Player: Send {
    /// The point that the next round is charged for, in the domain of the game.
    fn point(&self) -> &[f64];

    /// A round.
    fn observe(&mut self, round: &GameRound<'_>);

    /// A bound on Σ ℓ_t(w_t) − ℓ_t(u) from what happened, for every u of a class, or why there is none.
    fn guarantee(&self) -> Guarantee;

    /// Name and all parameters.
    fn describe(&self) -> String;

    /// What the corner paid that was drawn with the point for probabilities, for players that draw one. It comes before
    /// [`observe`](Self::observe).
    fn draw(&mut self, _row: &[f64]) -> Option<f64> {
        None
    }
}
