//! Threads for work that comes in shards.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use onward::hindsight::Workers;

/// This many threads, the caller's among them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Threads(pub(crate) usize);

impl Workers for Threads {
    fn map<T: Send>(&self, count: usize, work: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
        if self.0 <= 1 {
            return (0..count).map(work).collect();
        }
        let next = AtomicUsize::new(0);
        let done = Mutex::new((0..count).map(|_| None).collect::<Vec<Option<T>>>());
        let run = || {
            loop {
                let shard = next.fetch_add(1, Ordering::Relaxed);
                if shard >= count {
                    return;
                }
                let result = work(shard);
                done.lock().unwrap_or_else(PoisonError::into_inner)[shard] = Some(result);
            }
        };
        std::thread::scope(|scope| {
            (1..self.0.min(count)).for_each(|_| drop(scope.spawn(run)));
            run();
        });
        // A thread that panicked has ended the scope with its panic: all are there.
        done.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_whoever_computed_them() {
        for threads in [0, 1, 2, 5, 40] {
            assert_eq!(Threads(threads).map(17, &|shard| shard * shard), (0..17).map(|k| k * k).collect::<Vec<_>>());
            assert!(Threads(threads).map(0, &|shard| shard).is_empty());
        }
    }
}
