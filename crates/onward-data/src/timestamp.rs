//! Moments in time as ISO 8601 writes them: `2013-01-01`, `2013-01-01 05:15`,
//! `2013-01-01T05:15:00.25Z`, `…+02:00`.

/// A moment: the clock as written, and the days since 1970 in UTC.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Moment {
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

/// Reads a moment; `None` when the text is none.
pub(crate) fn parse(text: &[u8]) -> Option<Moment> {
    let (year, rest) = number(text, 4)?;
    let (month, rest) = number(rest.strip_prefix(b"-")?, 2)?;
    let (day, rest) = number(rest.strip_prefix(b"-")?, 2)?;
    if !(1..=12).contains(&month) || day < 1 || day > month_length(year, month) {
        return None;
    }
    let date = days_from_civil(i64::from(year), month, day);
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

/// A moment from microseconds since 1970.
pub(crate) fn from_microseconds(microseconds: i64, has_time: bool) -> Moment {
    const PER_DAY: i64 = 86_400_000_000;
    let date = microseconds.div_euclid(PER_DAY);
    let within = microseconds.rem_euclid(PER_DAY);
    let month = month_of(date);
    let hour = has_time.then_some((within / 3_600_000_000) as u32);
    moment(date, month, hour, within as f64 / PER_DAY as f64)
}

fn moment(date: i64, month: u32, hour: Option<u32>, fraction: f64) -> Moment {
    // 1970-01-01 was a Thursday.
    let weekday = (date + 3).rem_euclid(7) as u32;
    Moment { days: date as f64 + fraction, month, weekday, hour }
}

/// A number of exactly so many digits, and what follows.
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
    let Some(rest) = text.strip_prefix(b":") else {
        return Some((0.0, text));
    };
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

/// The offset from UTC in seconds: nothing, `Z`, `+02`, `+0200`, `+02:00`.
fn zone(text: &[u8]) -> Option<f64> {
    if text.is_empty() || text == b"Z" || text == b" UTC" {
        return Some(0.0);
    }
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

/// The month of a day since 1970-01-01.
fn month_of(date: i64) -> u32 {
    let day_of_era = (date + 719_468).rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    ((shifted + 2) % 12 + 1) as u32
}

fn month_length(year: u32, month: u32) -> u32 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
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
    fn what_is_no_moment_is_none() {
        for text in ["2013-13-01", "2013-02-29", "2013-1-1", "20130101", "2013-01-01T24:00", "2013-01-01x", "1-2", ""] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn every_day_of_eight_centuries_follows_the_one_before() {
        let mut expected = days_from_civil(1600, 1, 1);
        for year in 1600..2400 {
            for month in 1..=12 {
                for day in 1..=month_length(year, month) {
                    assert_eq!(days_from_civil(i64::from(year), month, day), expected);
                    assert_eq!(month_of(expected), month);
                    expected += 1;
                }
            }
        }
    }

    #[test]
    fn microseconds_and_text_agree() {
        let text = parse(b"2013-06-15T13:45:30").unwrap();
        let days = days_from_civil(2013, 6, 15);
        let clock = ((13 * 60 + 45) * 60 + 30) * 1_000_000;
        let counted = from_microseconds(days * 86_400_000_000 + clock, true);
        assert_eq!((counted.month, counted.weekday, counted.hour), (text.month, text.weekday, text.hour));
        assert!((counted.days - text.days).abs() < 1e-9);
    }
}
