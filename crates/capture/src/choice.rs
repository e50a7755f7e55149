//! Selects the pins of captures that are counted.

use crate::lows::Lows;
use crate::names::{has_name, is_ready_busy};
use crate::read::Reading;
use floatgate_base::error::quote;
use floatgate_base::names::remedy;
use floatgate_base::{Error, Place, Result};

/// Most names in a message.
const NAMES_MAX: usize = 20;

/// Lists names of pins for a message.
pub(crate) fn names(lows: &Lows, pins: &[usize]) -> String {
    let shown = pins.iter().take(NAMES_MAX).map(|&pin| quote(lows.pins[pin].name.as_bytes()));
    let more =
        if pins.len() > NAMES_MAX { format!(" and {} more", pins.len() - NAMES_MAX) } else { String::new() };
    format!("{}{more}", shown.collect::<Vec<_>>().join(", "))
}

/// Lists the pins that changed and are not counted.
pub(crate) fn left_out(lows: &Lows, chosen: &[usize]) -> Vec<String> {
    let others = lows
        .pins
        .iter()
        .enumerate()
        .filter(|(pin, state)| state.changed && state.is_digital && !chosen.contains(pin));
    others.map(|(_, pin)| pin.name.clone()).collect()
}

/// Selects the pins to count.
pub(crate) fn choose(
    lows: &Lows,
    readings: &[Reading],
    signals: &[String],
    warnings: &mut Vec<String>,
) -> Result<Vec<usize>> {
    if !signals.is_empty() {
        return named(lows, readings, signals);
    }
    if lows.pins.iter().all(|pin| !pin.changed || !pin.is_digital) {
        let all: Vec<usize> = (0..lows.pins.len()).collect();
        return Err(Error::input(
            Place::Path(readings[0].path.clone()),
            format!("no signal ever changes ({})", names(lows, &all)),
            "expected a capture of a pin at work",
        ));
    }
    // Each capture is judged on its own names: a pin named RB in one says nothing about Channel 0 in another.
    let (mut chosen, mut guessed, mut idle) = (Vec::new(), Vec::new(), Vec::new());
    for reading in readings {
        let changed = |&pin: &usize| lows.pins[pin].changed && lows.pins[pin].is_digital;
        let known = |&pin: &usize| is_ready_busy(&lows.pins[pin].name);
        let (here, still): (Vec<usize>, Vec<usize>) = reading.pins.clone().partition(changed);
        let recognised: Vec<usize> = here.iter().copied().filter(known).collect();
        idle.extend(still.into_iter().filter(known));
        if recognised.is_empty() && here.len() > 1 {
            guessed.extend(&here);
        }
        chosen.extend(if recognised.is_empty() { here } else { recognised });
    }
    if !guessed.is_empty() {
        let names = names(lows, &guessed);
        warnings.push(format!(
            "all changing signals count as Ready/Busy pins, one per die: {names}; use --signal to select"
        ));
    }
    if !idle.is_empty() {
        let names = names(lows, &idle);
        warnings.push(format!(
            "signals that never change are not counted: {names}; if their dies were idle, name all signals with \
             --signal"
        ));
    }
    Ok(chosen)
}

/// Returns the pins with these names, either complete or after the last dot.
fn named(lows: &Lows, readings: &[Reading], signals: &[String]) -> Result<Vec<usize>> {
    let mut chosen = Vec::new();
    for signal in signals {
        let matches = (0..lows.pins.len()).filter(|&pin| has_name(&lows.pins[pin].name, signal));
        let before = chosen.len();
        chosen.extend(matches);
        if chosen.len() == before {
            let names = lows.pins.iter().map(|pin| &pin.name).chain(&lows.passed_over);
            let all: Vec<&str> = names.map(String::as_str).collect();
            let what = format!("no signal {}", quote(signal.as_bytes()));
            let place = Place::Path(readings[0].path.clone());
            return Err(Error::input(place, what, remedy(signal, &all, "")));
        }
    }
    chosen.sort_unstable();
    chosen.dedup();
    Ok(chosen)
}
