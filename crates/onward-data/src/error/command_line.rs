//! Messages as the command line words them.

use super::{DataError, Message, Setting};

impl Message {
    /// The text, with settings as options of the command line.
    pub fn command_line(&self) -> String {
        self.worded(option)
    }
}

impl DataError {
    /// The whole error, with settings as options of the command line.
    pub fn command_line(&self) -> String {
        self.worded(option)
    }
}

fn option(setting: Setting, value: Option<&str>) -> String {
    let name = match (setting, value) {
        (Setting::Header, Some(_)) => return "--no-header".to_owned(),
        (Setting::Ids, _) => "id".to_owned(),
        _ => setting.name().replace('_', "-"),
    };
    match value {
        Some(value) if setting.takes_columns() => format!("--{name} '{value}'"),
        Some(value) => format!("--{name} {value}"),
        None => format!("--{name}"),
    }
}
