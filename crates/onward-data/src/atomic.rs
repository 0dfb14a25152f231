//! Files that are replaced as a whole or not at all.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempPath;

/// A file being written beside the one it will replace: what was there stays
/// until [`commit`](AtomicFile::commit), and for good if that never comes.
///
/// Standard output, pipes and devices cannot be replaced: they are written as it goes.
pub struct AtomicFile {
    target: PathBuf,
    writer: BufWriter<Box<dyn Write + Send>>,
    /// The file that will replace the target, with the name that it has until then.
    temporary: Option<(Arc<File>, TempPath)>,
}

/// A file that is wholly written and has not yet taken its place, so that several can be
/// written before the first one replaces anything.
#[derive(Debug)]
pub struct PreparedFile {
    target: PathBuf,
    /// `None`: there is nothing to replace.
    temporary: Option<TempPath>,
}

const BUFFER: usize = 64 << 10;

impl AtomicFile {
    /// Begins to write what will be at `path`; `-` is standard output.
    ///
    /// # Errors
    /// When the folder is not there or not writable.
    pub fn create(path: &Path) -> io::Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::new(path.to_owned(), Box::new(io::stdout()), None));
        }
        // A link is followed: the file it names is replaced, not the link.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if fs::metadata(&target).is_ok_and(|metadata| !metadata.is_file()) {
            let file = File::options().write(true).open(&target)?;
            return Ok(Self::new(target, Box::new(file), None));
        }
        let (file, path) = temporary(&target)?;
        let file = Arc::new(file);
        Ok(Self::new(target, Box::new(Arc::clone(&file)), Some((file, path))))
    }

    fn new(target: PathBuf, writer: Box<dyn Write + Send>, temporary: Option<(Arc<File>, TempPath)>) -> Self {
        Self { target, writer: BufWriter::with_capacity(BUFFER, writer), temporary }
    }

    /// Makes what was written the file's content, durably.
    ///
    /// # Errors
    /// When the last bytes cannot be written; the file is then as it was before.
    pub fn commit(self) -> io::Result<()> {
        self.prepare()?.commit()
    }

    /// Brings what was written to the disk, without replacing anything yet.
    ///
    /// # Errors
    /// When the last bytes cannot be written; the file is then as it was before.
    pub fn prepare(mut self) -> io::Result<PreparedFile> {
        self.writer.flush()?;
        let synced = self.temporary.map(|(file, path)| file.sync_all().map(|()| path));
        Ok(PreparedFile { target: self.target, temporary: synced.transpose()? })
    }
}

impl PreparedFile {
    /// Puts the file in its place, durably.
    ///
    /// # Errors
    /// When it cannot be renamed; the file is then as it was before.
    pub fn commit(self) -> io::Result<()> {
        let Some(temporary) = self.temporary else { return Ok(()) };
        temporary.persist(&self.target).map_err(|error| error.error)?;
        // The new name is durable once the folder is. Some systems do not open folders: the rename has happened all the same.
        File::open(folder(&self.target)).map_or(Ok(()), |folder| folder.sync_all())
    }
}

/// A temporary file in the folder of `target`, with the permissions that a new file gets
/// (or those of the file it replaces). Opened here and not by the library, whose errors
/// would name a file that the user never heard of.
fn temporary(target: &Path) -> io::Result<(File, TempPath)> {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let prefix = format!(".{name}.");
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
        options.mode(fs::metadata(target).map_or(0o666, |metadata| metadata.permissions().mode() & 0o777));
    }
    let mut builder = tempfile::Builder::new();
    let made = builder.prefix(&prefix).suffix(".part").make_in(folder(target), |path| options.open(path));
    made.map(tempfile::NamedTempFile::into_parts)
}

fn folder(target: &Path) -> &Path {
    match target.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

impl fmt::Debug for AtomicFile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("AtomicFile").field("target", &self.target).finish_non_exhaustive()
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_committed_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        fs::write(&path, "old").unwrap();
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        drop(file);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_commit_replaces_the_file_and_a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("model"), folder.path().join("link"));
        fs::write(&path, "old").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let mut file = AtomicFile::create(&link).unwrap();
        file.write_all(b"new").unwrap();
        file.commit().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[test]
    fn a_prepared_file_replaces_nothing_until_it_is_committed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        fs::write(&path, "old").unwrap();
        let prepared = || {
            let mut file = AtomicFile::create(&path).unwrap();
            file.write_all(b"new").unwrap();
            file.prepare().unwrap()
        };
        drop(prepared());
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let again = prepared();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        again.commit().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_missing_folder_is_an_error_that_names_no_temporary_file() {
        let error = AtomicFile::create(Path::new("/nowhere/at/all")).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(2), "{error}");
    }
}
