//! Texts for users that name settings. Each door words these for its own users.

use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

macro_rules! settings {
    ($($setting:ident $name:literal)*) => {
        /// A field of [`Options`](crate::Options), as messages name it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[allow(missing_docs)]
        pub enum Setting {
            $($setting,)*
        }

        /// All settings, with the names of their fields.
        const NAMES: &[(&str, Setting)] = &[$(($name, Setting::$setting)),*];
    };
}

settings! {
    Bits "bits"
    Cache "cache"
    Categorical "categorical"
    Format "format"
    Header "header"
    Ids "ids"
    Ignore "ignore"
    Interactions "interactions"
    Loss "loss"
    Ngrams "ngrams"
    Numeric "numeric"
    OnError "on_error"
    RecordLimit "record_limit"
    Target "target"
    Task "task"
    Text "text"
    Threads "threads"
    Weight "weight"
}

impl Setting {
    /// The name of the field.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, setting)| *setting == self).map_or("", |(name, _)| name)
    }

    /// Whether its values are names of columns, or an expression of one.
    pub fn takes_columns(self) -> bool {
        matches!(
            self,
            Self::Categorical | Self::Ids | Self::Ignore | Self::Numeric | Self::Target | Self::Text | Self::Weight
        )
    }
}

/// What settings stand between where messages are written: `⟦ignore⟧`, `⟦on_error=skip⟧`.
const BEGIN: char = '⟦';
const END: char = '⟧';

/// A text for people that names settings.
///
/// [`Display`] names them as the fields of [`Options`](crate::Options) are, with `field=value` where a value is meant.
///
/// ```
/// use onward_data::{Input, Options, Reader};
///
/// let error = Reader::open(&[Input::bytes("rain.csv", "rain,clouds\n1,2\n")], Options::default()).err().unwrap();
/// let remedy = error.remedy().unwrap();
/// assert_eq!(remedy.to_string(), "name it with target; the columns are: rain, clouds");
/// assert_eq!(remedy.worded(|setting, _| format!("`{setting:?}`")), "name it with `Target`; the columns are: rain, clouds");
/// assert_eq!(remedy.command_line(), "name it with --target; the columns are: rain, clouds");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Message(String);

impl<T: Into<String>> From<T> for Message {
    /// Settings stand in it as `⟦ignore⟧` or `⟦on_error=skip⟧`.
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

impl Message {
    /// The text, with each setting worded by `word`, which is told the value that is meant, if one is.
    pub fn worded(&self, word: impl Fn(Setting, Option<&str>) -> String) -> String {
        let mut parts = self.0.split(BEGIN);
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            match part.split_once(END).and_then(|(said, rest)| Some((parsed(said)?, rest))) {
                Some(((setting, value), rest)) => {
                    text.push_str(&word(setting, value));
                    text.push_str(rest);
                }
                // The brackets are from the data.
                None => {
                    text.push(BEGIN);
                    text.push_str(part);
                }
            }
        }
        text
    }

    /// The text, with settings as options of the command line.
    pub fn command_line(&self) -> String {
        self.worded(super::command_line::option)
    }

    /// The settings that it names, with the values that are meant.
    pub fn settings(&self) -> impl Iterator<Item = (Setting, Option<&str>)> {
        self.0.split(BEGIN).skip(1).filter_map(|part| parsed(part.split_once(END)?.0))
    }
}

/// A setting with a value or without.
fn parsed(said: &str) -> Option<(Setting, Option<&str>)> {
    let (name, value) = said.split_once('=').map_or((said, None), |(name, value)| (name, Some(value)));
    NAMES.iter().find(|(other, _)| *other == name).map(|&(_, setting)| (setting, value))
}

impl Display for Message {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.worded(field))
    }
}

/// A setting as a field of [`Options`](crate::Options).
pub(super) fn field(setting: Setting, value: Option<&str>) -> String {
    match value {
        Some(value) if setting.takes_columns() => format!("{}='{value}'", setting.name()),
        Some(value) => format!("{}={value}", setting.name()),
        None => setting.name().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_worded_and_all_else_stays() {
        let message = Message::from("⟦ no ⟧ say ⟦header=no⟧, ⟦target=x==1⟧ or ⟦ids⟧ ⟧ ⟦text");
        assert_eq!(message.to_string(), "⟦ no ⟧ say header=no, target='x==1' or ids ⟧ ⟦text");
        assert_eq!(message.command_line(), "⟦ no ⟧ say --no-header, --target 'x==1' or --id ⟧ ⟦text");
        let settings: Vec<_> = message.settings().collect();
        assert_eq!(settings, [(Setting::Header, Some("no")), (Setting::Target, Some("x==1")), (Setting::Ids, None)]);
    }

    /// Each name between brackets in the code is that of a setting.
    #[test]
    fn messages_name_settings_that_there_are() {
        fn files(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
            let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
            entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
        }
        let mut count = 0;
        for path in files(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
            let text = std::fs::read_to_string(&path).unwrap();
            for part in text.split(BEGIN).skip(1).filter(|_| !path.ends_with("message.rs")) {
                let said = part.split(END).next().unwrap();
                assert!(parsed(said).is_some(), "{}: {said}", path.display());
                count += 1;
            }
        }
        assert!(count > 80, "{count}");
    }
}
