//! gzip and Zstandard, recognised by their first bytes.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::GzDecoder;

/// How much of a compressed input is read at a time.
const BUFFER: usize = 128 << 10;

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// How many bytes tell how an input is compressed.
pub(super) const HEAD: usize = ZSTD.len();

/// Whether an input that begins like this is compressed.
pub(crate) fn is_compressed(head: &[u8]) -> bool {
    // Or a skippable frame of Zstandard, as pzstd writes them first.
    head.starts_with(GZIP) || head.starts_with(ZSTD) || matches!(head, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// What a reader whose first bytes are `head` gives once decompressed.
pub(super) fn decompressed<R: Read + Send + 'static>(head: &[u8], reader: R) -> io::Result<Box<dyn Read + Send>> {
    let buffered = BufReader::with_capacity(BUFFER, reader);
    Ok(match head.starts_with(GZIP) {
        true => Box::new(Gzip { member: Some(GzDecoder::new(buffered)) }),
        false => Box::new(zstd::stream::read::Decoder::with_buffer(buffered)?),
    })
}

/// The members of a gzip file one after the other. Zeros after the last one, with which
/// tapes and some programs fill up blocks, count for nothing.
struct Gzip<R> {
    /// `None` at the end.
    member: Option<GzDecoder<R>>,
}

/// Something else follows compressed data.
#[derive(Debug, thiserror::Error)]
#[error("the compressed data is followed by something that is not gzip")]
pub(super) struct Trailing;

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let read = member.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let ended = self.member.take().map(GzDecoder::into_inner);
            self.member = ended.map(next_member).transpose()?.flatten();
        }
        Ok(0)
    }
}

fn next_member<R: BufRead>(mut reader: R) -> io::Result<Option<GzDecoder<R>>> {
    let mut is_padded = false;
    loop {
        let bytes = reader.fill_buf()?;
        let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
        is_padded |= zeros > 0;
        match bytes.get(zeros) {
            None if bytes.is_empty() => return Ok(None),
            None => reader.consume(zeros),
            Some(first) if *first == GZIP[0] && !is_padded => return Ok(Some(GzDecoder::new(reader))),
            Some(_) => return Err(io::Error::new(io::ErrorKind::InvalidData, Trailing)),
        }
    }
}
