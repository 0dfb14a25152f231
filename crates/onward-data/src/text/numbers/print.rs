//! Numbers as text that is read back as the same numbers.

use super::Number;

/// The shortest decimal that is read back as the same number.
pub(crate) fn shortest(number: f64, out: &mut Vec<u8>) {
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format(number);
    out.extend_from_slice(text.strip_suffix(".0").unwrap_or(text).as_bytes());
}

/// The shortest decimal that is read back as the same 32-bit float, by way of a 64-bit one.
pub(crate) fn shortest_single(number: f32, out: &mut Vec<u8>) {
    if number == 1.0 {
        // All categories have it.
        return out.push(b'1');
    }
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format(number);
    let text = text.strip_suffix(".0").unwrap_or(text);
    // Rounded twice, a text can end up on the other side of where it would if rounded once.
    match super::parse(text.as_bytes()) {
        Number::Finite(read) if (read as f32).to_bits() == number.to_bits() => out.extend_from_slice(text.as_bytes()),
        _ => shortest(number.into(), out),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{self as numbers, Number};
    use super::*;

    fn single(number: f32) -> String {
        let mut text = Vec::new();
        shortest_single(number, &mut text);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn whole_numbers_have_no_point() {
        assert_eq!(single(1.0), "1");
        assert_eq!(single(-0.1), "-0.1");
        assert_eq!(single(-0.0), "-0");
        let mut text = Vec::new();
        shortest(1e300, &mut text);
        assert_eq!(numbers::parse(&text), Number::Finite(1e300));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn every_float_is_read_back_as_it_was(bits: u32) {
            let value = f32::from_bits(bits);
            prop_assume!(value.is_finite());
            let Number::Finite(read) = numbers::parse(single(value).as_bytes()) else {
                panic!("{}", single(value));
            };
            prop_assert_eq!((read as f32).to_bits(), bits);
        }
    }
}
