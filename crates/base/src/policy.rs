//! How a policy describes itself. One table a slot feeds the configuration, its schema, `floatgate policies` and the
//! docs.

/// A parameter of a policy.
#[derive(Clone, Copy, Debug)]
pub struct ParamInfo {
    /// Key beside `policy` in the slot's table.
    pub name: &'static str,
    /// What it means, its unit and its default.
    pub summary: &'static str,
    /// Of a parameter that is a number without more meaning to the configuration than its range: that range.
    pub number: Option<Number>,
}

/// What a parameter that is a number may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number {
    /// Its value where it is not given.
    pub default: f64,
    /// The least value.
    pub least: f64,
    /// The largest value.
    pub most: f64,
    /// Whether it is a whole number.
    pub whole: bool,
}

impl ParamInfo {
    /// A parameter whose range the configuration takes from elsewhere.
    #[must_use]
    pub const fn new(name: &'static str, summary: &'static str) -> Self {
        Self { name, summary, number: None }
    }

    /// A whole number from `least` to `most`.
    #[must_use]
    pub const fn whole(
        name: &'static str,
        summary: &'static str,
        default: u32,
        (least, most): (u32, u32),
    ) -> Self {
        let number = Number { default: default as f64, least: least as f64, most: most as f64, whole: true };
        Self { name, summary, number: Some(number) }
    }

    /// A number from `least` to `most`.
    #[must_use]
    pub const fn real(
        name: &'static str,
        summary: &'static str,
        default: f64,
        (least, most): (f64, f64),
    ) -> Self {
        Self { name, summary, number: Some(Number { default, least, most, whole: false }) }
    }
}

/// A policy of a slot.
#[derive(Clone, Copy, Debug)]
pub struct PolicyInfo {
    /// Value of `policy`.
    pub name: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Parameters of this policy alone.
    pub params: &'static [ParamInfo],
    /// Cost of a decision.
    pub cost: &'static str,
    /// Memory that it needs, per page or per block.
    pub memory: &'static str,
}
