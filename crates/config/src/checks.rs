//! Checks of an experiment by the rows of its settings: values in range, and no key without effect.
//!
//! Checks across tables are in `resolve/`.

use crate::layers::Layers;
use crate::settings;
use crate::settings::conditions::chain;
use crate::slot_types::SLOTS;
use crate::tables::unknown;
use floatgate_base::names::any_of;
use floatgate_base::policy::{Acts, Need, ParamKind, Setting};
use floatgate_base::{ParamInfo, Result};
use toml::Value;

/// Refuses values outside the ranges of their rows. Parameters of slots are checked with their policies.
pub(crate) fn ranges(layers: &Layers) -> Result<()> {
    for (key, row) in settings::rows() {
        let Some(value) = layers.value(&key).and_then(|value| setting(row, value)) else { continue };
        if let (Setting::Name(name), Some(names)) = (&value, row.names())
            && !names.contains(&name.as_str())
        {
            return Err(unknown(layers, &key, row.name, name, names.into_iter()));
        }
        row.check(value).map_err(|misfit| layers.error(&key, misfit.what, misfit.expected))?;
    }
    Ok(())
}

/// Refuses keys that have no effect in the mode of the run, except for defaults.
pub(crate) fn modes(layers: &Layers, timed: bool) -> Result<()> {
    let acts = |acts: Acts| match acts {
        Acts::Always => true,
        Acts::Timed => timed,
        Acts::Functional => !timed,
    };
    for (key, row) in settings::rows() {
        if !acts(row.acts) {
            without_effect(layers, &key, row, timed)?;
        }
    }
    for slot in SLOTS {
        if !acts(slot.acts) {
            let key = format!("{}.{}", slot.key, slot.selector);
            let default = slot.policies[0].name;
            if let Some(policy) = layers.text(&key).filter(|policy| *policy != default) {
                return Err(no_effect(layers, &key, &format!("\"{policy}\""), timed));
            }
        }
        for (param, _) in slot.params() {
            if !acts(param.acts) {
                without_effect(layers, &format!("{}.{}", slot.key, param.name), param, timed)?;
            }
        }
    }
    Ok(())
}

fn without_effect(layers: &Layers, key: &str, row: &ParamInfo, timed: bool) -> Result<()> {
    let Some(value) = layers.value(key) else { return Ok(()) };
    let default = row.fallback(&Default::default());
    let setting = setting(row, value);
    if setting.is_some() && setting == default {
        return Ok(());
    }
    let quoted = |setting: Setting| match setting {
        Setting::Name(name) => format!("\"{name}\""),
        other => other.to_toml(),
    };
    let shown = setting.map_or_else(|| value.to_string(), quoted);
    Err(no_effect(layers, key, &shown, timed))
}

fn no_effect(layers: &Layers, key: &str, value: &str, timed: bool) -> Box<floatgate_base::Error> {
    let name = key.rsplit('.').next().unwrap_or(key);
    let (here, there) = if timed { ("timed", "functional") } else { ("functional", "timed") };
    layers.error(
        key,
        format!("{name} = {value} has no effect in {here} mode"),
        format!("expected mode = \"{there}\", or no {name}"),
    )
}

/// Refuses keys that act only with another value of another key. `value_of` returns that value, set or implied.
pub(crate) fn needs(layers: &Layers, value_of: impl Fn(&str) -> String) -> Result<()> {
    for (key, row) in settings::rows() {
        if layers.value(&key).is_none() {
            continue;
        }
        for need in chain(row) {
            let value = value_of(need.key);
            if !need.values.contains(&value.as_str()) {
                return Err(unmet(layers, &key, row, &need, &value));
            }
        }
    }
    Ok(())
}

fn unmet(
    layers: &Layers,
    key: &str,
    row: &ParamInfo,
    need: &Need,
    value: &str,
) -> Box<floatgate_base::Error> {
    let table = |key: &str| key.rsplit_once('.').map_or("", |(table, _)| table).to_string();
    let name = need.key.rsplit('.').next().unwrap_or(need.key);
    let other = if table(key) == table(need.key) { name } else { need.key };
    let values: Vec<_> = need.values.iter().map(|value| format!("\"{value}\"")).collect();
    let own = layers.value(key).map_or_else(String::new, |own| format!(" = {own}"));
    let what = format!("{}{own} has no effect with {other} = \"{value}\"", row.name);
    layers.error(key, what, format!("expected {other} = {}, or no {}", any_of(&values), row.name))
}

/// Converts a value of TOML to one of a row; none if the row leaves its values to other code.
fn setting(row: &ParamInfo, value: &Value) -> Option<Setting> {
    let number = |value: &Value| value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64));
    Some(match row.kind {
        ParamKind::Whole { .. } => Setting::Whole(u64::try_from(value.as_integer()?).ok()?),
        ParamKind::Number(_) => Setting::Number(number(value)?),
        ParamKind::Flag => Setting::Flag(value.as_bool()?),
        ParamKind::Name(_) | ParamKind::Listed(_) | ParamKind::Text(_) => {
            Setting::Name(value.as_str()?.into())
        }
        ParamKind::Order(_) => {
            let names = value.as_array()?.iter().map(|name| name.as_str().map(String::from));
            Setting::Names(names.collect::<Option<_>>()?)
        }
        ParamKind::Numbers { .. } => {
            Setting::Numbers(value.as_array()?.iter().map(number).collect::<Option<_>>()?)
        }
        ParamKind::Rows { .. } | ParamKind::Other(_) => return None,
    })
}
