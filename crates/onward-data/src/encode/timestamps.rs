//! The features of moments in time.

use onward::hashing::feature_hash as hash;

use super::{BIAS, Rules};
use crate::schema::timestamp::{Timestamp, WEEKDAYS};

/// The indices of the parts of a moment.
pub(super) struct TimestampIndices {
    hours: [u32; 24],
    weekdays: [u32; WEEKDAYS.len()],
    /// From 1 on.
    months: [u32; 13],
}

impl TimestampPart {
    /// What its feature is called, behind the name of the column.
    pub(super) fn name(self) -> String {
        match self {
            Self::Hour(hour) => format!(" hour={hour}"),
            Self::Weekday(day) => format!(" weekday={}", WEEKDAYS[day as usize % WEEKDAYS.len()]),
            Self::Month(month) => format!(" month={month}"),
        }
    }
}

impl TimestampIndices {
    pub(super) fn new(rules: &Rules, seed: u64) -> Self {
        // Codes that no column=value text can be: a zero byte, the part, its number.
        let of = |code: u8, number: usize| rules.hashed(hash::name(seed, &[0, code, number as u8]));
        Self {
            hours: std::array::from_fn(|hour| of(b'h', hour)),
            weekdays: std::array::from_fn(|weekday| of(b'd', weekday)),
            months: std::array::from_fn(|month| of(b'm', month)),
        }
    }

    /// The parts of a moment with their indices.
    #[inline]
    pub(super) fn features_of(&self, moment: Timestamp) -> impl Iterator<Item = (u32, TimestampPart)> + use<> {
        let of = |indices: &[u32], number: u32| indices.get(number as usize).copied().unwrap_or(BIAS);
        let hour = moment.hour.map(|hour| (of(&self.hours, hour), TimestampPart::Hour(hour)));
        let weekday = (of(&self.weekdays, moment.weekday), TimestampPart::Weekday(moment.weekday));
        let month = (of(&self.months, moment.month), TimestampPart::Month(moment.month));
        hour.into_iter().chain([weekday, month])
    }
}

/// The most features that a moment has: how long ago it was, the hour, the weekday, the month.
pub(crate) const FEATURES_OF_TIMESTAMP: usize = 4;

/// What the features of a moment are, but how long ago it was.
#[derive(Debug, Clone, Copy)]
pub(super) enum TimestampPart {
    Hour(u32),
    Weekday(u32),
    Month(u32),
}
