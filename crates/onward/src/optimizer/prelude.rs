//! What most optimisers are written with: a file of an algorithm begins with `use super::prelude::*`.

pub(super) use crate::archive::{Archive, Field, visit_fields};
pub(super) use crate::guarantee::{Comparator, Guarantee, bound_of_sums};
pub(super) use crate::parameter::{Description, ParameterDescriptor, flag, number, positive, whole, within, words};
pub(super) use crate::protocol::{
    COMPARATOR_RADIUS, FIXED_RATE, LearnerDescriptor, Linear, Losses, Optimizer, Params, ProblemBounds, Promise,
    STANDARDISE, STEP, Step, StepKind,
};
pub(super) use crate::{Error, Features, Loss};
