//! Reads value change dumps (IEEE 1364-2001, section 18): declarations, then times and changes, all separated by white
//! space.
//!
//! Bits of vectors are separate pins. Several names for one identifier are one pin, which takes the first name. Real
//! numbers and strings are not pins. A pin at `z` is released, and ready: it is an open-drain output with a pull-up.
//! Between `$dumpoff` and `$dumpon` no level is known.

use crate::level::Level;
use crate::lows::Lows;
use crate::options::Watch;
use crate::units::parse_time_unit_ps;
use crate::words::Words;
use floatgate_base::error::quote;
use floatgate_base::{Error, Result};
use floatgate_input::Input;
use std::collections::{BTreeMap, BTreeSet};

/// Most words of a declaration to keep.
const SECTION_WORDS_MAX: usize = 16;
/// Widest vector whose bits are pins.
const VECTOR_MAX: usize = 1024;
/// Most pins of a capture: each takes about 300 bytes plus its name.
const PINS_MAX: usize = 1 << 16;
/// Limits on the bytes of a name with its scopes, on those of an identifier, and on the depth of scopes: a small,
/// highly compressed file could otherwise demand any amount of memory.
const NAME_MAX: usize = 1000;
const ID_MAX: usize = 200;
const SCOPES_MAX: usize = 1000;
/// Number of identifiers in the lookup table: those of up to three characters.
const TABLE: usize = 94 + 94 * 94 + 94 * 94 * 94;
const NONE: u32 = u32::MAX;

/// Types of variables that are no levels.
const NO_PINS: [&str; 5] = ["real", "realtime", "string", "event", "parameter"];
/// Most bytes of variables to choose from, and the bytes of one besides its names.
const DECLARED_BYTES_MAX: usize = 128 << 20;
const DECLARED_BYTES: usize = 100;

/// A variable as declared.
#[derive(Debug)]
struct Declared {
    id: String,
    name: String,
    range: Option<(i64, i64)>,
    width: u32,
}

/// A variable: its pins are consecutive, with the highest bit first.
#[derive(Clone, Copy, Debug)]
struct Variable {
    first: u32,
    width: u32,
}

/// The variables by identifier.
#[derive(Debug, Default)]
struct Variables {
    all: Vec<Variable>,
    short: Vec<u32>,
    long: BTreeMap<Box<[u8]>, u32>,
}

/// Returns the table index of an identifier of up to three characters from `!` to `~`.
#[inline]
fn place_of(id: &[u8]) -> Option<usize> {
    if id.len() > 3 || id.is_empty() {
        return None;
    }
    let mut place = 0;
    for &byte in id {
        if !(33..=126).contains(&byte) {
            return None;
        }
        place = place * 94 + usize::from(byte - 33) + 1;
    }
    Some(place - 1)
}

impl Variables {
    fn insert(&mut self, id: &[u8], variable: Variable) {
        let number = self.all.len() as u32;
        self.all.push(variable);
        match place_of(id) {
            Some(place) => {
                if self.short.len() <= place {
                    self.short.resize((place + 1).next_power_of_two().min(TABLE), NONE);
                }
                self.short[place] = number;
            }
            None => {
                self.long.insert(id.into(), number);
            }
        }
    }

    #[inline]
    fn get(&self, id: &[u8]) -> Option<Variable> {
        let number = match place_of(id) {
            Some(place) => *self.short.get(place)?,
            None => *self.long.get(id)?,
        };
        self.all.get(number as usize).copied()
    }
}

/// Duration of a time unit of the file, as a fraction of picoseconds.
#[derive(Clone, Copy, Debug)]
struct Scale {
    num: u64,
    den: u64,
}

impl Scale {
    /// Creates the scale of a unit set by the user.
    fn of_ps(ps: f64) -> Self {
        match ps {
            ps if ps < 1.0 => Self { num: (ps * 1000.0).round().max(1.0) as u64, den: 1000 },
            ps => Self { num: ps.round() as u64, den: 1 },
        }
    }

    /// Parses `10 ns`, `1us` or, as some tools write, any other number of units: `6666 ps`.
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let number: u64 = text[..digits].parse().ok().filter(|&number| number > 0)?;
        let ps = parse_time_unit_ps(&text[digits..])?;
        Some(if ps < 1.0 {
            Self { num: number, den: 1000 }
        } else {
            Self { num: number.checked_mul(ps as u64)?, den: 1 }
        })
    }

    #[inline]
    fn ps(self, time: u64) -> Option<i64> {
        let ps = time.checked_mul(self.num)? / self.den;
        i64::try_from(ps).ok()
    }

    /// Parses a time in units, `12` or, as some tools write, `12.5`; a part of a picosecond is left out.
    #[inline]
    fn stamp(self, text: &[u8]) -> Option<i64> {
        match number(text) {
            Some(time) => self.ps(time),
            None => self.stamp_with_part(text),
        }
    }

    #[cold]
    fn stamp_with_part(self, text: &[u8]) -> Option<i64> {
        let point = text.iter().position(|&byte| byte == b'.')?;
        let (whole, part) = (&text[..point], &text[point + 1..]);
        let digits = &part[..part.len().min(18)];
        let part = u128::from(number(digits)?) * u128::from(self.num);
        let below = part / 10u128.pow(digits.len() as u32) / u128::from(self.den);
        self.ps(number(whole)?)?.checked_add(i64::try_from(below).ok()?)
    }
}

/// Reads a dump; `unit_ps` overrides its time scale.
pub(crate) fn read<'a>(
    input: Input,
    lows: &mut Lows,
    unit_ps: Option<f64>,
    watch: &'a mut Watch<'a>,
) -> Result<()> {
    let first = lows.pins.len();
    let mut reader = Reader {
        words: Words::new(input, watch),
        variables: Variables::default(),
        scopes: Vec::new(),
        declared: Vec::new(),
        declared_bytes: 0,
        first,
        off_since_ps: None,
        off: (0, 0),
        scale: None,
        now_ps: None,
        scale_option: unit_ps.map(Scale::of_ps),
    };
    reader.declarations(lows)?;
    reader.changes(lows)?;
    reader.dump_on();
    let (times, off_ps) = reader.off;
    if times > 0 {
        lows.notes.push(format!(
            "the dump is off {times} times ($dumpoff), {:.6} s in all: a gap is no phase",
            off_ps as f64 / 1e12
        ));
    }
    lows.end(first);
    Ok(())
}

struct Reader<'a> {
    words: Words<'a>,
    variables: Variables,
    /// Nested scopes, each with its full path.
    scopes: Vec<String>,
    declared: Vec<Declared>,
    declared_bytes: usize,
    /// The first pin of this file.
    first: usize,
    /// The time of `$dumpoff`, while in force; how often it was, and for how long.
    off_since_ps: Option<i64>,
    off: (u64, u64),
    scale: Option<Scale>,
    now_ps: Option<i64>,
    /// The time scale set by the user.
    scale_option: Option<Scale>,
}

impl Reader<'_> {
    /// Returns the next word of a declaration as text.
    fn text(&mut self) -> Result<String> {
        match self.words.next_word()? {
            Some(word) => Ok(String::from_utf8_lossy(self.words.bytes(word)).into_owned()),
            None => {
                Err(self.words.fault("the file ends within its declarations", "expected $enddefinitions"))
            }
        }
    }

    /// Returns the words up to `$end`.
    fn section(&mut self) -> Result<Vec<String>> {
        let mut words = Vec::new();
        loop {
            let word = self.text()?;
            // Some tools leave out the blank before $end.
            let (word, is_last) = word.strip_suffix("$end").map_or((&word[..], false), |word| (word, true));
            if !word.is_empty() && words.len() < SECTION_WORDS_MAX {
                words.push(word.to_owned());
            }
            if is_last {
                return Ok(words);
            }
        }
    }

    /// Reads the header, up to `$enddefinitions`.
    fn declarations(&mut self, lows: &mut Lows) -> Result<()> {
        loop {
            match self.text()?.as_str() {
                "$enddefinitions" => {
                    self.section()?;
                    break;
                }
                "$timescale" => {
                    let text = self.section()?.concat();
                    let scale = Scale::parse(&text);
                    let what = || format!("{} is not a time scale", quote(text.as_bytes()));
                    self.scale = Some(scale.ok_or_else(|| {
                        self.words.fault(what(), "expected a number and s, ms, us, ns, ps or fs")
                    })?);
                }
                "$scope" => {
                    let words = self.section()?;
                    if self.scopes.len() >= SCOPES_MAX {
                        let what = format!("scopes nested deeper than {SCOPES_MAX}");
                        return Err(self.words.fault(what, "expected a $upscope for each"));
                    }
                    self.scopes.push(self.within(words.get(1).map_or("", String::as_str)));
                }
                "$upscope" => {
                    self.section()?;
                    self.scopes.pop();
                }
                "$var" => self.variable(lows)?,
                word if word.starts_with('$') => {
                    self.section()?;
                }
                // sigrok-cli writes the rate of raw samples first: META samplerate: 1000000.
                "META" if self.words.next_word()?.is_some() => {
                    self.text()?;
                }
                _ => {
                    let what = format!("{} among the declarations", self.words.quoted());
                    return Err(self.words.fault(what, "expected a keyword that begins with $"));
                }
            }
        }
        self.scale = self.scale_option.or(self.scale);
        if self.scale.is_none() {
            return Err(self.words.fault("the file has no $timescale", "pass it, as in --time-unit 1us"));
        }
        self.add_pins(lows)
    }

    /// Prefixes a name with its scopes; a very long one keeps its end.
    fn within(&self, name: &str) -> String {
        let mut path = self.scopes.last().map_or(String::new(), |scopes| format!("{scopes}."));
        path += name;
        let from = path.len().saturating_sub(NAME_MAX);
        path.split_off((from..=path.len()).find(|&at| path.is_char_boundary(at)).unwrap_or(0))
    }

    /// Reads `$var TYPE WIDTH ID NAME... $end`. What cannot be a pin must not spoil the others.
    fn variable(&mut self, lows: &Lows) -> Result<()> {
        let words = self.section()?;
        let Some((width, id, name)) = parts_of_variable(&words) else {
            if matches!(&words[..], [kind, ..] if NO_PINS.contains(&kind.as_str())) {
                return Ok(());
            }
            return Err(self.words.fault("an incomplete $var", "expected $var TYPE WIDTH ID NAME $end"));
        };
        let (name, range) = name_and_range(&name);
        let name = self.within(&name);
        let Some(width) = width.parse().ok().filter(|_| id.len() <= ID_MAX) else {
            if !lows.is_wanted(&name) {
                return Ok(());
            }
            return Err(match id.len() {
                len if len > ID_MAX => {
                    let what = format!("an identifier of {len} bytes");
                    self.words.fault(what, format!("expected at most {ID_MAX}"))
                }
                _ => {
                    let what = format!("{} is not a width", quote(width.as_bytes()));
                    self.words.fault(what, "expected a whole number from 1")
                }
            });
        };
        let is_pin = (1..=VECTOR_MAX as u32).contains(&width);
        self.declared_bytes += DECLARED_BYTES + name.len() + id.len();
        if is_pin && (self.declared_bytes < DECLARED_BYTES_MAX || lows.is_wanted(&name)) {
            self.declared.push(Declared { id, name, range, width });
        }
        Ok(())
    }

    /// Creates the pins; too many are narrowed down to those selected by name.
    fn add_pins(&mut self, lows: &mut Lows) -> Result<()> {
        let mut declared = std::mem::take(&mut self.declared);
        let mut ids = BTreeSet::new();
        declared.retain(|variable| ids.insert(variable.id.clone()));
        let all: usize = declared.iter().map(|variable| variable.width as usize).sum();
        let is_narrow = lows.pins.len() + all > PINS_MAX;
        let mut left = 0;
        for Declared { id, name, range, width } in declared {
            let first = lows.pins.len();
            let names: Vec<String> =
                (0..width).map(|from_high| bit_name(&name, range, width, from_high)).collect();
            if is_narrow && !names.iter().any(|name| lows.is_wanted(name)) {
                left += names.len();
                names.into_iter().for_each(|name| lows.pass_over(name));
                continue;
            }
            if first + names.len() > PINS_MAX {
                let what = format!("more than {PINS_MAX} signals");
                return Err(self.words.fault(what, "name the Ready/Busy signals with --signal"));
            }
            for name in names {
                lows.add_pin(name);
            }
            self.variables.insert(id.as_bytes(), Variable { first: first as u32, width });
        }
        if left > 0 && self.variables.all.is_empty() && !lows.has_selection() {
            let what = format!("more than {PINS_MAX} signals, none named like a Ready/Busy pin");
            return Err(self.words.fault(what, "name the Ready/Busy signals with --signal"));
        }
        if left > 0 {
            lows.notes.push(format!("{left} signals are left out by their names; --signal selects others"));
        }
        Ok(())
    }

    /// Reads times and changes to the end.
    fn changes(&mut self, lows: &mut Lows) -> Result<()> {
        let Some(scale) = self.scale else { return Ok(()) };
        while let Some(word) = self.words.next_word()? {
            let bytes = self.words.bytes(word);
            match bytes[0] {
                b'#' => {
                    let Some(time_ps) = scale.stamp(&bytes[1..]) else {
                        let what = format!("{} is not a time", self.words.quoted());
                        return Err(self
                            .words
                            .fault(what, "expected # and a number of time units, in all below 106 days"));
                    };
                    if self.now_ps.is_some_and(|now_ps| time_ps < now_ps) {
                        let what = format!("time goes back to {}", self.words.quoted());
                        return Err(self.words.fault(what, "expected times in ascending order"));
                    }
                    self.now_ps = Some(time_ps);
                    lows.reach(time_ps);
                }
                b'0'..=b'1'
                | b'x'
                | b'X'
                | b'z'
                | b'Z'
                | b'u'
                | b'U'
                | b'w'
                | b'W'
                | b'l'
                | b'L'
                | b'h'
                | b'H'
                | b'-' => {
                    let level = level_of(bytes[0]);
                    let variable = match bytes.len() {
                        1 => self.behind_a_blank()?,
                        _ => self.variables.get(&bytes[1..]),
                    };
                    if let Some(variable) = variable {
                        // A change before the first time holds from the beginning.
                        lows.change(
                            variable.first as usize + variable.width as usize - 1,
                            self.now_ps.unwrap_or(0),
                            level,
                        );
                    }
                }
                b'b' | b'B' => self.vector(lows)?,
                b'r' | b'R' | b's' | b'S' => {
                    self.words.next_word()?;
                }
                b'$' => self.keyword(lows)?,
                _ => {
                    let what = format!("{} is neither a time nor a change", self.words.quoted());
                    return Err(self.words.fault(what, "expected a value change dump"));
                }
            }
        }
        Ok(())
    }

    /// Reads an identifier that some tools write behind a blank, as behind the bits of a vector.
    #[cold]
    fn behind_a_blank(&mut self) -> Result<Option<Variable>> {
        let Some(id) = self.words.next_word()? else {
            return Err(self.no_identifier());
        };
        let id = self.words.bytes(id);
        let variable = self.variables.get(id);
        if variable.is_none() && id.starts_with(b"#") {
            let what = format!("{} is no identifier", self.words.quoted());
            return Err(self.words.fault(what, "expected that of the signal which changes"));
        }
        Ok(variable)
    }

    /// Describes a value at the end of the file, without the identifier of its signal.
    #[cold]
    fn no_identifier(&self) -> Box<Error> {
        self.words.fault("the file ends within a change", "expected the identifier of its signal")
    }

    /// Reads `b0101 ID`: missing leading bits are equal to the first one, or 0 if that is 1.
    fn vector(&mut self, lows: &mut Lows) -> Result<()> {
        let mut bits = [0u8; VECTOR_MAX];
        let digits = &self.words.last()[1..];
        let len = digits.len().min(VECTOR_MAX);
        bits[..len].copy_from_slice(&digits[digits.len() - len..]);
        let Some(id) = self.words.next_word()? else {
            return Err(self.no_identifier());
        };
        let Some(Variable { first, width }) = self.variables.get(self.words.bytes(id)) else { return Ok(()) };
        let fill = match bits.first() {
            Some(b'1') | None => b'0',
            Some(&bit) => bit,
        };
        let now_ps = self.now_ps.unwrap_or(0);
        for at in 0..width {
            // The lowest bit comes last.
            let from_low = (width - 1 - at) as usize;
            let bit = if from_low < len { bits[len - 1 - from_low] } else { fill };
            lows.change((first + at) as usize, now_ps, level_of(bit));
        }
        Ok(())
    }

    /// Handles a keyword. `$dumpvars` and its like only bracket changes, comments end with `$end`, and after `$dumpoff`
    /// no level is known.
    fn keyword(&mut self, lows: &mut Lows) -> Result<()> {
        match self.words.last() {
            b"$dumpoff" => {
                let now_ps = self.now_ps.unwrap_or(0);
                self.off_since_ps = self.off_since_ps.or(Some(now_ps));
                (self.first..lows.pins.len()).for_each(|pin| lows.change(pin, now_ps, Level::Unknown));
                // The values that follow, mostly x, are not those of the pins.
                self.skip_to_end()
            }
            b"$dumpon" => {
                self.dump_on();
                Ok(())
            }
            b"$comment" => self.skip_to_end(),
            _ => Ok(()),
        }
    }

    /// Ends a gap of `$dumpoff`, if there is one.
    fn dump_on(&mut self) {
        if let Some(since_ps) = self.off_since_ps.take() {
            self.off = (self.off.0 + 1, self.off.1 + self.now_ps.unwrap_or(0).abs_diff(since_ps));
        }
    }

    /// Skips the words up to `$end`.
    fn skip_to_end(&mut self) -> Result<()> {
        while let Some(word) = self.words.next_word()? {
            if self.words.bytes(word) == b"$end" {
                break;
            }
        }
        Ok(())
    }
}

/// Returns width, identifier and words of the name of a variable; none if it is incomplete or no level. Some tools
/// leave out the blank around the identifier, as in `wire 1 !rb`, or the name.
fn parts_of_variable(words: &[String]) -> Option<(String, String, Vec<String>)> {
    let [kind, rest @ ..] = words else { return None };
    if NO_PINS.contains(&kind.as_str()) {
        return None;
    }
    match rest {
        [width, id, name @ ..] if !name.is_empty() && !name[0].starts_with('[') => {
            Some((width.clone(), id.clone(), name.to_vec()))
        }
        [width, id, range @ ..] if width.bytes().all(|byte| byte.is_ascii_digit()) => {
            let at = id.find(|c: char| c.is_ascii_alphabetic() || c == '_').filter(|&at| at > 0);
            let (id, name) = at.map_or((&id[..], &id[..]), |at| id.split_at(at));
            let mut names = vec![name.to_owned()];
            names.extend_from_slice(range);
            Some((width.clone(), id.to_owned(), names))
        }
        [joined, name @ ..] if !name.is_empty() => {
            let at = joined.find(|c: char| !c.is_ascii_digit()).filter(|&at| at > 0)?;
            let (width, id) = joined.split_at(at);
            Some((width.to_owned(), id.to_owned(), name.to_vec()))
        }
        _ => None,
    }
}

/// Returns the name of a bit, counted from the highest.
fn bit_name(path: &str, range: Option<(i64, i64)>, width: u32, from_high: u32) -> String {
    match range {
        Some((high, low)) if high < low => format!("{path}[{}]", high + i64::from(from_high)),
        Some((high, _)) => format!("{path}[{}]", high - i64::from(from_high)),
        None if width == 1 => path.to_owned(),
        None => format!("{path}[{}]", width - 1 - from_high),
    }
}

/// Splits `bus [7:0]`, `bus[7:0]` or `bus [3]` into the name and the numbers of its bits, from the highest.
fn name_and_range(words: &[String]) -> (String, Option<(i64, i64)>) {
    let whole = words.concat();
    let numbers = |inner: &str| {
        let (high, low) = inner.split_once(':').unwrap_or((inner, inner));
        let number = |text: &str| text.parse::<i32>().ok().map(i64::from);
        Some((number(high)?, number(low)?))
    };
    let inner = whole.strip_suffix(']').and_then(|rest| rest.rsplit_once('['));
    match inner.and_then(|(name, inner)| Some((name, numbers(inner)?))) {
        Some((name, range)) if !name.is_empty() => (name.to_owned(), Some(range)),
        _ => (words.first().cloned().unwrap_or_default(), None),
    }
}

#[inline]
fn level_of(value: u8) -> Level {
    match value {
        b'0' | b'l' | b'L' => Level::Low,
        b'1' | b'h' | b'H' => Level::High,
        b'z' | b'Z' => Level::Released,
        _ => Level::Unknown,
    }
}

#[inline]
fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 19 {
        return None;
    }
    let mut value = 0;
    for &digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value * 10 + u64::from(digit - b'0');
    }
    Some(value)
}
