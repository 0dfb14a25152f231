//! Parameters of learners and losses: declared once, with range, default, meaning and when they apply. Reading them,
//! errors, lists and descriptions follow.
//!
//! ```
//! use onward::parameter::{ParameterDescriptor, positive};
//! const ETA: ParameterDescriptor = positive("eta").default("0.5").meaning("learning rate");
//! assert_eq!(ETA.check(2.0)?, 2.0);
//! assert_eq!(ETA.check(-1.0).unwrap_err().to_string(), "eta must be above 0; got -1");
//! # Ok::<(), onward::Error>(())
//! ```

mod description;
mod descriptor;
mod given;

pub use description::Description;
pub use descriptor::{
    Applies, ParameterDescriptor, ParameterKind, flag, learner, learners, number, positive, whole, within, words,
};
pub use given::GivenParameters;
pub(crate) use given::split_outside;
