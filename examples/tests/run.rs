//! Every example runs, and what it asserts holds.

#[path = "../extend.rs"]
mod extend;
#[path = "../follow_the_leader.rs"]
mod follow_the_leader;
#[path = "../game.rs"]
mod game;
#[path = "../judge_your_own.rs"]
mod judge_your_own;
#[path = "../learn_and_continue.rs"]
mod learn_and_continue;
#[path = "../learn_in_memory.rs"]
mod learn_in_memory;
#[path = "../matrix.rs"]
mod matrix;
#[path = "../portfolio.rs"]
mod portfolio;
#[path = "../records.rs"]
mod records;
#[path = "../serve.rs"]
mod serve;

#[test]
fn learn_in_memory_runs() {
    learn_in_memory::main().unwrap();
}

#[test]
fn extend_runs() {
    extend::main().unwrap();
}

#[test]
fn learn_and_continue_runs() {
    learn_and_continue::main().unwrap();
}

#[test]
fn matrix_runs() {
    matrix::main().unwrap();
}

#[test]
fn records_runs() {
    records::main().unwrap();
}

#[test]
fn serve_runs() {
    serve::main().unwrap();
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
