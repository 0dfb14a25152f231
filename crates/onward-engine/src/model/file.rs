//! Models as files.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use onward::Error;
use onward::archive::{Archive, ModelFile};
use onward_data::{AtomicFile, Schema};

use super::{Model, ModelMetadata};
use crate::error::EngineError;
use crate::registry::Registry;

impl Model {
    /// Loads what was saved.
    ///
    /// # Errors
    /// When the file cannot be read, is damaged or cut short, of a newer version, or of a learner or loss that
    /// is not built in.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, EngineError> {
        Self::load_with(path, &Registry::default())
    }

    /// Loads what was saved, with learners and losses of one's own.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_with(path: impl AsRef<Path>, registry: &Registry) -> Result<Self, EngineError> {
        let path = path.as_ref();
        let bytes = fs::read(path).map_err(|error| EngineError::Read { path: path.to_owned(), error })?;
        Self::from_bytes(&bytes, registry).map_err(|error| error.of_model(path))
    }

    /// The model in the bytes of a file.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn from_bytes(bytes: &[u8], registry: &Registry) -> Result<Self, EngineError> {
        let file = ModelFile::from_bytes(bytes).map_err(EngineError::model)?;
        let unfit = |what: &str| {
            EngineError::model(format!("is damaged: its {what} cannot be read; copy it again, or learn it again"))
        };
        let schema: Schema = serde_json::from_value(file.schema).map_err(|_| unfit("schema"))?;
        let metadata: ModelMetadata = serde_json::from_value(file.facts).map_err(|_| unfit("metadata"))?;
        schema.check().map_err(EngineError::model)?;
        let (learner, loss) = (registry.saved_learner(&file.learner)?, registry.loss(&file.loss)?);
        let mut model = Self::build(&learner, loss, file.radius, schema, metadata, registry)?;
        let mut archive = Archive::loading_with_map(file.state, &["learner", "ledger"]);
        model.persist(&mut archive)?;
        model.features = archive.into_map();
        Ok(model)
    }

    /// The bytes of its file: equal models give equal bytes.
    ///
    /// # Errors
    /// When it is too large for the format.
    pub fn to_bytes(&mut self) -> Result<Vec<u8>, EngineError> {
        let state = Archive::saved(|archive| self.persist(archive))?;
        let file = ModelFile {
            learner: self.learner.describe(),
            loss: self.loss.name(),
            radius: self.radius,
            schema: serde_json::to_value(&*self.schema).map_err(EngineError::model)?,
            facts: serde_json::to_value(&self.metadata).map_err(EngineError::model)?,
            state,
        };
        Ok(file.to_bytes()?)
    }

    fn persist(&mut self, archive: &mut Archive) -> Result<(), Error> {
        archive.part("learner", |archive| self.learner.persist(archive))?;
        archive.part("ledger", |archive| self.ledger.persist(archive))?;
        archive.part("names", |archive| self.names.persist(archive))
    }

    /// Saves it. A file that is there already is replaced as a whole or not at all.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&mut self, path: impl AsRef<Path>) -> Result<(), EngineError> {
        let (path, bytes) = (path.as_ref(), self.to_bytes()?);
        let written = AtomicFile::create(path).and_then(|mut file| file.write_all(&bytes).and_then(|()| file.commit()));
        written.map_err(|error: io::Error| EngineError::Write { path: path.to_owned(), error })
    }
}

/// Whether a file begins as models do. Pipes are not looked into.
pub fn is_model_file(path: &Path) -> bool {
    let mut head = Vec::new();
    // Of a pipe the reader would miss what is read here.
    path.is_file()
        && File::open(path).and_then(|file| file.take(9).read_to_end(&mut head)).is_ok()
        && onward::archive::is_safetensors(&head)
}
