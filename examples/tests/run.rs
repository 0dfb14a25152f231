//! Every example runs, and what it asserts holds.

#[path = "../follow_the_leader.rs"]
mod follow_the_leader;
#[path = "../game.rs"]
mod game;
#[path = "../judge_your_own.rs"]
mod judge_your_own;
#[path = "../learn_a_file.rs"]
mod learn_a_file;
#[path = "../learn_in_memory.rs"]
mod learn_in_memory;
#[path = "../portfolio.rs"]
mod portfolio;

#[test]
fn learn_in_memory_runs() {
    learn_in_memory::main().unwrap();
}

#[test]
fn learn_a_file_runs() {
    learn_a_file::main().unwrap();
}

#[test]
fn judge_your_own_runs() {
    judge_your_own::main().unwrap();
}

#[test]
fn portfolio_runs() {
    portfolio::main().unwrap();
}

#[test]
fn game_runs() {
    game::main().unwrap();
}

#[test]
fn follow_the_leader_runs() {
    follow_the_leader::main().unwrap();
}
