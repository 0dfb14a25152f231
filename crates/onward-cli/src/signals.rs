//! SIGINT and SIGTERM: the run ends after the batch at hand and writes what it has;
//! a second one ends it at once. So does the first, while the input is being opened:
//! there is nothing to write yet.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Which signal has come.
#[derive(Debug, Clone, Default)]
pub(crate) struct Signals {
    received: Arc<AtomicUsize>,
    /// Whether the next one ends the program at once.
    at_once: Arc<AtomicBool>,
}

impl Signals {
    /// Begins to catch them.
    pub(crate) fn catch() -> std::io::Result<Self> {
        let received = Arc::new(AtomicUsize::new(0));
        let at_once = Arc::new(AtomicBool::new(true));
        for signal in [SIGINT, SIGTERM] {
            // Order matters: a signal that does not end the program sets the flag that makes the next one do it.
            flag::register_conditional_shutdown(signal, code(signal).into(), Arc::clone(&at_once))?;
            flag::register(signal, Arc::clone(&at_once))?;
            flag::register_usize(signal, Arc::clone(&received), signal as usize)?;
        }
        Ok(Self { received, at_once })
    }

    /// The input is open: from now on the first signal ends the run in order.
    pub(crate) fn opened(&self) {
        self.at_once.store(false, Ordering::Relaxed);
    }

    /// Whether one has come.
    pub(crate) fn received(&self) -> bool {
        self.received.load(Ordering::Relaxed) != 0
    }

    /// The exit code of the run.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self.received.load(Ordering::Relaxed) {
            0 => ExitCode::SUCCESS,
            signal => ExitCode::from(code(signal as i32)),
        }
    }
}

/// What a shell reports for a program that a signal ended.
fn code(signal: i32) -> u8 {
    128u8.saturating_add(signal as u8)
}
