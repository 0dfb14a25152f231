//! Reads and parses inputs, as `onward learn` does, and does nothing with them: what is left of a run's time is learning
//! and keeping the books. `cargo run --release -p onward-data --example parse -- FILE…`

use std::error::Error;

use onward_data::{Input, Options, Reader};

fn main() -> Result<(), Box<dyn Error>> {
    let inputs: Vec<Input> = std::env::args_os().skip(1).map(|path| Input::Path(path.into())).collect();
    let threads = std::thread::available_parallelism()?.get();
    let mut reader = Reader::open(&inputs, Options { threads, ..Options::default() })?;
    let (mut examples, mut features) = (0, 0);
    while let Some(parsed) = reader.next_batch()? {
        examples += parsed.batch.len();
        features += parsed.batch.features();
    }
    println!("{examples} examples, {features} features");
    Ok(())
}
