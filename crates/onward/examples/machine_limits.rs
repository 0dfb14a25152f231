//! What this machine's memory allows, beside which the time of a feature is to be seen: how fast a text can be read and
//! copied, and how long it takes to change slots at random in tables of several sizes.
//! `cargo run --release -p onward --example machine_limits`

use std::hint::black_box;
use std::time::Instant;

use onward::numeric::rng::SplitMix64;

/// What a slot of `nag` takes.
type Slot = [u64; 2];

/// Larger than any cache.
const TEXT: usize = 256 << 20;

/// How many slots are changed, in rows of so many.
const CHANGES: usize = 1 << 22;
const ROW: usize = 64;

/// The shortest of several runs, in seconds.
fn shortest(mut run: impl FnMut()) -> f64 {
    let time = |run: &mut dyn FnMut()| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    };
    (0..5).map(|_| time(&mut run)).fold(f64::INFINITY, f64::min)
}

fn main() {
    let text = vec![1u64; TEXT / 8];
    let read = shortest(|| {
        black_box(black_box(&text).iter().fold(0u64, |sum, word| sum.wrapping_add(*word)));
    });
    let mut copy = vec![0u64; TEXT / 8];
    let copied = shortest(|| black_box(&mut copy).copy_from_slice(black_box(&text)));
    let gigabytes = TEXT as f64 / 1e9;
    println!("one thread reads {:.1} GB/s and copies {:.1} GB/s", gigabytes / read, gigabytes / copied);
    println!(
        "table        slots changed at random, row by row    slots read one after the other, each telling the next"
    );
    for kilobytes in [128, 512, 1024, 4096, 16_384, 65_536, 262_144] {
        let size = (kilobytes << 10) / size_of::<Slot>();
        let mut random = SplitMix64::new(7);
        let places: Vec<u32> = (0..CHANGES).map(|_| random.below(size as u64) as u32).collect();
        let mut table: Vec<Slot> = vec![[0; 2]; size];
        let changed = shortest(|| {
            // As a learner does: a row's slots are read, then written.
            let mut row = [[0; 2]; ROW];
            for places in places.chunks_exact(ROW) {
                for (slot, &place) in row.iter_mut().zip(places) {
                    *slot = table[place as usize];
                }
                for (slot, &place) in row.iter().zip(places) {
                    table[place as usize] = [slot[0] + 1, slot[1] + 2];
                }
            }
        });
        // A cycle through all slots (Sattolo's shuffle).
        let mut next: Vec<u32> = (0..size as u32).collect();
        for at in (1..size).rev() {
            next.swap(at, random.below(at as u64) as usize);
        }
        table.iter_mut().zip(&next).for_each(|(slot, &next)| slot[0] = u64::from(next));
        let followed = shortest(|| {
            let mut at = 0;
            for _ in 0..CHANGES / 4 {
                at = table[at][0] as usize;
            }
            black_box(at);
        });
        let nanoseconds = |seconds: f64, count: usize| 1e9 * seconds / count as f64;
        println!(
            "{kilobytes:>7} KB   {:>6.1} ns                             {:>6.1} ns",
            nanoseconds(changed, CHANGES),
            nanoseconds(followed, CHANGES / 4)
        );
    }
}
