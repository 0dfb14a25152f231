//! SIGINT and SIGTERM: the run ends after the batch at hand and writes what it has;
//! a second one ends it at once.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Which signal has come.
#[derive(Debug, Clone, Default)]
pub(crate) struct Signals {
    received: Arc<AtomicUsize>,
}

impl Signals {
    /// Begins to catch them.
    pub(crate) fn catch() -> std::io::Result<Self> {
        let received = Arc::new(AtomicUsize::new(0));
        let again = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // Order matters: the first signal only sets the flag that makes the second end the program.
            flag::register_conditional_shutdown(signal, code(signal).into(), Arc::clone(&again))?;
            flag::register(signal, Arc::clone(&again))?;
            flag::register_usize(signal, Arc::clone(&received), signal as usize)?;
        }
        Ok(Self { received })
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
