//! How a policy describes itself. One table a slot feeds the configuration, its schema, `floatgate policies` and the
//! docs.

/// A parameter of a policy.
#[derive(Clone, Copy, Debug)]
pub struct ParamInfo {
    /// Key beside `policy` in the slot's table.
    pub name: &'static str,
    /// What it means, its unit and its default.
    pub summary: &'static str,
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
