//! Moments in time as ISO 8601 writes them: `2013-01-01`, `2013-01-01 05:15`,
//! `2013-01-01T05:15:00.25Z`, `…+02:00`.

use std::fmt::Write;

/// A moment: the clock as written, and the days since 1970 in UTC.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Timestamp {
    /// Days since 1970-01-01 UTC, with the time of day as the fraction.
    pub(crate) days: f64,
    /// The month as written, 1 to 12.
    pub(crate) month: u32,
    /// The weekday as written, 0 = Monday.
    pub(crate) weekday: u32,
    /// The hour of day as written, 0 to 23; `None` for a date.
    pub(crate) hour: Option<u32>,
}

pub(crate) const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

const SECONDS_PER_DAY: f64 = 86_400.0;

/// How many characters a date has.
const DATE: usize = 10;

/// A day of the calendar.
#[derive(Debug, Clone, Copy)]
struct Day {
    /// Since 1970-01-01.
    date: i64,
    month: u32,
}

/// Reads moments, and remembers the day of the last one, which the next often shares.
#[derive(Debug, Clone, Default)]
pub(crate) struct TimestampParser {
    last: Option<([u8; DATE], Day)>,
}

impl TimestampParser {
    /// What [`parse`] gives.
    pub(crate) fn parse(&mut self, text: &[u8]) -> Option<Timestamp> {
        let (date, rest) = text.split_first_chunk()?;
        let day = match self.last {
            Some((last, day)) if last == *date => day,
            _ => {
                let day = day(date)?;
                self.last = Some((*date, day));
                day
            }
        };
        at(day, rest)
    }
}

/// Reads a moment; `None` when the text is none.
pub(crate) fn parse(text: &[u8]) -> Option<Timestamp> {
    TimestampParser::default().parse(text)
}

/// Reads a date.
fn day(text: &[u8; DATE]) -> Option<Day> {
    let (year, rest) = number(text, 4)?;
    let (month, rest) = number(rest.strip_prefix(b"-")?, 2)?;
    let (day, _) = number(rest.strip_prefix(b"-")?, 2)?;
    if !(1..=12).contains(&month) || day < 1 || day > month_length(year, month) {
        return None;
    }
    Some(Day { date: days_from_civil(i64::from(year), month, day), month })
}

/// Reads what follows a date: nothing, or the time of day.
#[inline]
fn at(Day { date, month }: Day, rest: &[u8]) -> Option<Timestamp> {
    if rest.is_empty() {
        return Some(moment(date, month, None, 0.0));
    }
    let rest = rest.strip_prefix(b"T").or_else(|| rest.strip_prefix(b" "))?;
    let (hour, rest) = number(rest, 2)?;
    let (minute, rest) = number(rest.strip_prefix(b":")?, 2)?;
    let (second, rest) = seconds(rest)?;
    let offset = zone(rest)?;
    if hour > 23 || minute > 59 || second >= 61.0 {
        return None;
    }
    let clock = f64::from(hour * 3600 + minute * 60) + second;
    Some(moment(date, month, Some(hour), (clock - offset) / SECONDS_PER_DAY))
}

/// A moment from whole units since 1970 UTC, `per_second` of them a second, on a clock
/// that is `offset` seconds ahead of UTC. The same bits as [`parse`] gives for its text.
pub(crate) fn from_units(units: i64, per_second: i64, offset: i64) -> Timestamp {
    let (date, second_of_day, subunits) = clock(units, per_second, offset);
    let second = (second_of_day % 60) as f64 + subunits as f64 / per_second as f64;
    let since_midnight = (second_of_day - second_of_day % 60) as f64 + second;
    let hour = (second_of_day / 3600) as u32;
    let fraction = (since_midnight - offset as f64) / SECONDS_PER_DAY;
    moment(date, civil_from_days(date).1, Some(hour), fraction)
}

/// A date from days since 1970.
pub(crate) fn from_date(date: i64) -> Timestamp {
    moment(date, civil_from_days(date).1, None, 0.0)
}

/// What a calendar and a clock show: the date, the second of the day, and what is left of a second, in units.
fn clock(units: i64, per_second: i64, offset: i64) -> (i64, i64, i64) {
    const PER_DAY: i64 = 86_400;
    let seconds = units.div_euclid(per_second).saturating_add(offset);
    (seconds.div_euclid(PER_DAY), seconds.rem_euclid(PER_DAY), units.rem_euclid(per_second))
}

/// The offset from UTC in seconds that a zone of Arrow stands for, if it is a fixed one.
pub(crate) fn fixed_offset(name: &str) -> Option<i64> {
    match name {
        "UTC" | "Etc/UTC" | "GMT" => Some(0),
        _ => zone(name.as_bytes()).map(|offset| offset as i64),
    }
}

/// Writes a date as ISO 8601 has it.
pub(crate) fn write_date(out: &mut String, date: i64) {
    let (year, month, day) = civil_from_days(date);
    // Writing to a String cannot fail.
    let _ = write!(out, "{year:04}-{month:02}-{day:02}");
}

/// Writes a moment as ISO 8601 has it; `offset` is `None` on a clock without a zone.
pub(crate) fn write_units(out: &mut String, units: i64, per_second: i64, offset: Option<i64>) {
    let (date, second, subunits) = clock(units, per_second, offset.unwrap_or(0));
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    write_date(out, date);
    let _ = write!(out, "T{hour:02}:{minute:02}:{second:02}");
    if subunits != 0 {
        let digits = per_second.ilog10() as usize;
        let _ = write!(out, ".{subunits:0digits$}");
        out.truncate(out.trim_end_matches('0').len());
    }
    match offset {
        None => {}
        Some(0) => out.push('Z'),
        Some(offset) => {
            let sign = if offset < 0 { '-' } else { '+' };
            let minutes = offset.abs() / 60;
            let _ = write!(out, "{sign}{:02}:{:02}", minutes / 60, minutes % 60);
        }
    }
}

fn moment(date: i64, month: u32, hour: Option<u32>, fraction: f64) -> Timestamp {
    // 1970-01-01 was a Thursday.
    let weekday = date.saturating_add(3).rem_euclid(7) as u32;
    Timestamp { days: date as f64 + fraction, month, weekday, hour }
}

/// A number with exactly this many digits, and what follows.
fn number(text: &[u8], digits: usize) -> Option<(u32, &[u8])> {
    let (head, rest) = text.split_at_checked(digits)?;
    let mut value = 0;
    for byte in head {
        value = value * 10 + u32::from(byte.is_ascii_digit().then(|| byte - b'0')?);
    }
    Some((value, rest))
}

/// Optional seconds with an optional fraction.
fn seconds(text: &[u8]) -> Option<(f64, &[u8])> {
    let Some(rest) = text.strip_prefix(b":") else { return Some((0.0, text)) };
    let (whole, rest) = number(rest, 2)?;
    let Some(rest) = rest.strip_prefix(b".").or_else(|| rest.strip_prefix(b",")) else {
        return Some((f64::from(whole), rest));
    };
    let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if count == 0 || count > 9 {
        return None;
    }
    let (fraction, rest) = number(rest, count)?;
    Some((f64::from(whole) + f64::from(fraction) / [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9][count], rest))
}

/// The offset from UTC in seconds: nothing, `Z`, ` UTC`, `+02`, `+0200`, `+02:00`, and these after
/// a blank, as `%z` is often written.
fn zone(text: &[u8]) -> Option<f64> {
    if text.is_empty() || text == b"Z" || text == b" UTC" {
        return Some(0.0);
    }
    let text = text.strip_prefix(b" ").unwrap_or(text);
    let (sign, rest) = match text.split_first()? {
        (b'+', rest) => (1.0, rest),
        (b'-', rest) => (-1.0, rest),
        _ => return None,
    };
    let (hours, rest) = number(rest, 2)?;
    let rest = rest.strip_prefix(b":").unwrap_or(rest);
    let (minutes, rest) = if rest.is_empty() { (0, rest) } else { number(rest, 2)? };
    (rest.is_empty() && hours < 24 && minutes < 60).then(|| sign * f64::from(hours * 3600 + minutes * 60))
}

/// Days since 1970-01-01 of a date in the Gregorian calendar (Hinnant, "chrono-compatible
/// low-level date algorithms").
fn days_from_civil(year: i64, month: u32, day: u32) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = i64::from((153 * ((month + 9) % 12) + 2) / 5 + day - 1);
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Year, month and day of a day since 1970-01-01.
fn civil_from_days(date: i64) -> (i64, u32, u32) {
    let day = date.saturating_add(719_468);
    let day_of_era = day.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = ((shifted + 2) % 12 + 1) as u32;
    let year = day.div_euclid(146_097) * 400 + year_of_era + i64::from(month <= 2);
    (year, month, (day_of_year - (153 * shifted + 2) / 5 + 1) as u32)
}

fn month_length(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_moments() {
        let moment = parse(b"2013-01-01T05:15").unwrap();
        assert_eq!((moment.month, moment.weekday, moment.hour), (1, 1, Some(5)));
        assert_eq!(moment.days, 15_706.0 + 5.25 / 24.0);
        let epoch = parse(b"1970-01-01").unwrap();
        assert_eq!((epoch.days, epoch.weekday, epoch.hour), (0.0, 3, None));
        assert_eq!(parse(b"2000-02-29 23:59:59.5").unwrap().weekday, 1);
        assert_eq!(parse(b"1970-01-01T02:00:00+02:00").unwrap().days, 0.0);
        assert_eq!(parse(b"1970-01-01T00:00:00Z").unwrap().days, 0.0);
    }

    #[test]
    fn zones_shift_the_days_and_not_the_clock() {
        for zone in ["+0530", "+05:30"] {
            let moment = parse(format!("2013-01-01T00:30:00{zone}").as_bytes()).unwrap();
            assert_eq!((moment.hour, moment.weekday), (Some(0), 1), "{zone}");
            assert_eq!(moment.days, 15_706.0 - 5.0 / 24.0, "{zone}");
        }
        for zone in ["+0100", "+01", "+01:00", " +0100", " +01:00"] {
            assert_eq!(parse(format!("1970-01-01T01:00:00{zone}").as_bytes()).unwrap().days, 0.0, "{zone}");
        }
        for zone in ["+1", "+010", "  +01", "+01000", "0100", "+2400", "+0160"] {
            assert_eq!(parse(format!("1970-01-01T01:00:00{zone}").as_bytes()), None, "{zone}");
        }
    }

    #[test]
    fn what_is_no_moment_is_none() {
        for text in ["2013-13-01", "2013-02-29", "2013-1-1", "20130101", "2013-01-01T24:00", "2013-01-01x", "1-2", ""] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
            let mut moments = TimestampParser::default();
            moments.parse(b"2013-01-01").unwrap();
            assert_eq!(moments.parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn every_day_of_eight_centuries_follows_the_one_before() {
        let mut expected = days_from_civil(1600, 1, 1);
        for year in 1600..2400 {
            for month in 1..=12 {
                for day in 1..=month_length(year, month) {
                    assert_eq!(days_from_civil(i64::from(year), month, day), expected);
                    assert_eq!(civil_from_days(expected), (i64::from(year), month, day));
                    expected += 1;
                }
            }
        }
    }

    proptest! {
        #[test]
        fn a_moment_in_units_and_its_text_are_the_same_to_the_bit(
            seconds in -62_000_000_000i64..250_000_000_000,
            subunits in prop_oneof![Just(0i64), Just(250_000_000), 0i64..1_000_000_000],
            digits in prop_oneof![Just(0u32), Just(3), Just(6), Just(9)],
            offset in prop_oneof![Just(None), (-1439i64..1440).prop_map(|minutes| Some(minutes * 60))],
        ) {
            let per_second = 10i64.pow(digits);
            prop_assume!(digits < 9 || seconds.abs() < 9_000_000_000);
            let units = seconds * per_second + subunits / 10i64.pow(9 - digits);
            let mut text = String::new();
            write_units(&mut text, units, per_second, offset);
            let expected = from_units(units, per_second, offset.unwrap_or(0));
            prop_assert_eq!(parse(text.as_bytes()), Some(expected), "{}", text);
            let mut moments = TimestampParser::default();
            // Another day before, and the same one.
            for text in ["1999-12-31T23:00", &text, &text[..10], &text] {
                prop_assert_eq!(moments.parse(text.as_bytes()), parse(text.as_bytes()), "{}", text);
            }
        }
    }

    #[test]
    fn moments_are_written_as_iso_8601_has_them() {
        let written = |units, per_second, offset| {
            let mut text = String::new();
            write_units(&mut text, units, per_second, offset);
            text
        };
        assert_eq!(written(0, 1, None), "1970-01-01T00:00:00");
        assert_eq!(written(1_250, 1000, Some(0)), "1970-01-01T00:00:01.25Z");
        assert_eq!(written(-1, 1_000_000, Some(-5400)), "1969-12-31T22:29:59.999999-01:30");
        assert_eq!(written(i64::MAX, 1, None), "292277026596-12-04T15:30:07");
    }

    #[test]
    fn fixed_zones_have_an_offset_and_places_have_none() {
        assert_eq!(fixed_offset("UTC"), Some(0));
        assert_eq!(fixed_offset("+02:00"), Some(7200));
        assert_eq!(fixed_offset("-0130"), Some(-5400));
        assert_eq!(fixed_offset("Europe/Berlin"), None);
    }

    #[test]
    fn the_first_and_last_moments_there_are_do_not_overflow() {
        for units in [i64::MIN, i64::MAX] {
            for per_second in [1, 1000, 1_000_000, 1_000_000_000] {
                assert!(from_units(units, per_second, 86_340).days.is_finite());
            }
            assert!(from_date(units).days.is_finite());
        }
    }
}
