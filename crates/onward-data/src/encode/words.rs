//! Text as a bag of words: runs of letters and digits, lower-cased, and their
//! sequences up to n words. A word that occurs c times has value 1 + ln c, and
//! the words of a cell have length 1 together, so that a long text does not
//! outweigh a short one.

use onward::hashing::feature_hash as hash;

use crate::text::hashed::ByHash;

/// Counts the words of one cell.
#[derive(Debug, Default)]
pub(crate) struct BagOfWords {
    ngrams: usize,
    /// The text of the words, lower-cased, one after the other with a space between.
    text: String,
    /// Where in `text` each word is.
    spans: Vec<(usize, usize)>,
    /// For each distinct word or sequence its hash, count and place, in order of appearance.
    found: Vec<(u64, u32, (usize, usize))>,
    place: ByHash<usize>,
}

impl BagOfWords {
    pub(crate) fn new(ngrams: usize) -> Self {
        Self { ngrams: ngrams.max(1), ..Self::default() }
    }

    /// Counts the words of a text in the group with this hash seed.
    pub(crate) fn count(&mut self, seed: u64, text: &[u8]) {
        self.text.clear();
        self.spans.clear();
        self.found.clear();
        self.place.clear();
        self.split(text);
        for first in 0..self.spans.len() {
            for length in 1..=self.ngrams.min(self.spans.len() - first) {
                let span = (self.spans[first].0, self.spans[first + length - 1].1);
                self.add(hash::name(seed, &self.text.as_bytes()[span.0..span.1]), span);
            }
        }
    }

    fn split(&mut self, text: &[u8]) {
        for piece in String::from_utf8_lossy(text).split(|letter: char| !letter.is_alphanumeric()) {
            if piece.is_empty() {
                continue;
            }
            if !self.text.is_empty() {
                self.text.push(' ');
            }
            let start = self.text.len();
            self.text.extend(piece.chars().flat_map(char::to_lowercase));
            self.spans.push((start, self.text.len()));
        }
    }

    fn add(&mut self, hash: u64, span: (usize, usize)) {
        let found = &mut self.found;
        let place = *self.place.entry(hash).or_insert_with(|| {
            found.push((hash, 0, span));
            found.len() - 1
        });
        self.found[place].1 += 1;
    }

    /// The distinct words with hash and value, in order of appearance.
    pub(crate) fn weighted(&self) -> impl Iterator<Item = (u64, f32, &str)> {
        let value = |count: u32| 1.0 + onward::numeric::logarithm(f64::from(count));
        let length = self.found.iter().map(|&(_, count, _)| value(count) * value(count)).sum::<f64>().sqrt();
        self.found
            .iter()
            .map(move |&(hash, count, (start, end))| (hash, (value(count) / length) as f32, &self.text[start..end]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bag(ngrams: usize, text: &str) -> Vec<(String, f32)> {
        let mut words = BagOfWords::new(ngrams);
        words.count(7, text.as_bytes());
        words.weighted().map(|(_, value, word)| (word.to_owned(), value)).collect()
    }

    #[test]
    fn words_are_lower_case_runs_of_letters_and_digits() {
        let half = 0.5f64.sqrt() as f32;
        assert_eq!(bag(1, "Free,  MONEY!"), [("free".to_owned(), half), ("money".to_owned(), half)]);
        assert_eq!(bag(1, " --- "), []);
        assert_eq!(bag(1, "Éa2"), [("éa2".to_owned(), 1.0)]);
    }

    #[test]
    fn repeated_words_grow_with_the_logarithm_and_the_whole_has_length_one() {
        let found = bag(1, "a a a b");
        let ratio = f64::from(found[0].1) / f64::from(found[1].1);
        assert!((ratio - (1.0 + 3f64.ln())).abs() < 1e-6);
        let length: f32 = found.iter().map(|(_, value)| value * value).sum();
        assert!((length - 1.0).abs() < 1e-6);
    }

    #[test]
    fn sequences_up_to_n_words() {
        let words: Vec<_> = bag(2, "a b c").into_iter().map(|(word, _)| word).collect();
        assert_eq!(words, ["a", "a b", "b", "b c", "c"]);
    }
}
