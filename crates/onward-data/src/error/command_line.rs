//! How the command line calls settings: the only place here that names its options.

use super::message::Setting;

/// A setting as an option of the command line.
pub(super) fn option(setting: Setting, value: Option<&str>) -> String {
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
