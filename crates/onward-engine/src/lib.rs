//! Models, runs and reports of Onward: what the command line calls, and what any other door does.
//!
//! [`learn`] goes over inputs once or several times, [`compare`] lets learners learn side by side, [`predict`] uses
//! a [`Model`]. Each gives a typed report of what it cost. A [`RunControl`] cancels a run and follows its progress. A
//! model also learns row by row, with no file and no thread: [`Model::learn_one`].
//!
//! No terminal, arguments, exit codes or signals in here: those are the doors'.

mod control;
mod error;
mod hindsight;
mod model;
mod past_sample;
mod plan;
mod play;
mod predictions;
mod registry;
mod report;
mod rows;
mod run;
mod trace;

pub use control::{Event, Progress, RunControl};
pub use error::{EngineError, EngineErrorKind};
pub use hindsight::HindsightOptions;
pub use model::{
    DEFAULT_LEARNER, HeavyFeature, Inspection, MatrixRows, Model, ModelMetadata, ModelOptions, Snapshot, is_model_file,
};
pub use plan::Plan;
pub use play::{PlayOptions, PlayRun, play};
pub use predictions::{PredictionCsv, PredictionSink};
pub use registry::Registry;
pub use report::*;
pub use rows::PassOrder;
pub use run::{
    CompareOptions, CompareOutcome, CompareRun, Contestant, LearnOptions, LearnOutcome, LearnRun, PredictRun, Start,
    compare, learn, predict,
};
