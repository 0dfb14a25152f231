//! The texts that fuzzing has found to be worth keeping (`fuzz/`), through the same checks.

use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;

use crate::text;

/// The files of a tar archive: before each a block of 512 bytes holds its size in octal and its type.
fn files(archive: &[u8]) -> Vec<&[u8]> {
    let (mut files, mut rest) = (Vec::new(), archive);
    while let Some((header, after)) = rest.split_at_checked(512).filter(|(header, _)| header[0] != 0) {
        let size = std::str::from_utf8(&header[124..135]).unwrap();
        let size = usize::from_str_radix(size, 8).unwrap();
        if header[156] == b'0' {
            files.push(&after[..size]);
        }
        rest = &after[size.next_multiple_of(512)..];
    }
    files
}

fn each(target: &str, check: impl Fn(&[u8])) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../fuzz/corpus/{target}.tar.gz"));
    let mut archive = Vec::new();
    GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_end(&mut archive).unwrap();
    let texts = files(&archive);
    assert!(texts.len() > 100, "{} texts of {target}", texts.len());
    texts.into_iter().for_each(check);
}

#[test]
fn texts_that_were_kept_are_read_as_plain_parsers_do() {
    each("svmlight", text::any::svmlight);
    each("vw", text::any::vw);
    each("csv", text::any::csv);
}
