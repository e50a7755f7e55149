//! A row of the table of metrics.

/// The type of a metric of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number.
    Count,
    /// A number.
    Number,
    /// Yes or no.
    Flag,
    /// A text.
    Text,
    /// The ends of a 95 % interval, or of a range.
    Interval,
    /// A list of numbers: bins, edges, values by an index.
    Numbers,
    /// A list of numbers, null where unknown.
    Gaps,
    /// A list of pairs of numbers.
    Pairs,
    /// A list of texts.
    Texts,
    /// Counts in bins of equal width.
    Histogram,
}

impl Kind {
    /// Returns its name in a row.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Number => "number",
            Self::Flag => "flag",
            Self::Text => "text",
            Self::Interval => "interval",
            Self::Numbers => "numbers",
            Self::Gaps => "numbers or null",
            Self::Pairs => "pairs",
            Self::Texts => "texts",
            Self::Histogram => "histogram",
        }
    }
}

/// How a metric is formatted for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// To four digits.
    Figure,
    /// With two decimals.
    Ratio,
    /// As a duration in years, or days.
    Years,
    /// With a prefix: 12.3 k.
    Prefixed,
    /// As a span of time, from microseconds.
    SpanUs,
}

impl Format {
    /// Returns its name in a row.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Figure => "figure",
            Self::Ratio => "ratio",
            Self::Years => "years",
            Self::Prefixed => "prefixed",
            Self::SpanUs => "span_us",
        }
    }
}

/// The better of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// The lower one.
    Lower,
    /// The higher one.
    Higher,
}

impl Better {
    /// Returns its name in a row.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Lower => "lower",
            Self::Higher => "higher",
        }
    }
}

/// The axis of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    /// The title of the axis.
    pub title: &'static str,
    /// Units of the metric per unit of the axis.
    pub per: f64,
    /// Whether the axis may be logarithmic: a tail, whose values differ by powers of ten.
    pub tail: bool,
}

/// One metric of a result, or several that differ by a name in braces.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its key below that of its group; `{cause}` and other braces mean each of several names, `[]` the rows of a list,
    /// `*` any name.
    pub key: &'static str,
    /// Its type.
    pub kind: Kind,
    /// Its unit; empty where it has none.
    pub unit: &'static str,
    /// Its meaning, and how it is computed.
    pub meaning: &'static str,
    /// Whether it may be null where its table is present.
    pub nullable: bool,
    /// Its title over a chart; `{kind}` is filled in.
    pub label: &'static str,
    /// Its name in a table.
    pub short: &'static str,
    /// Name of the best setting by this metric; empty where none is named.
    pub best: &'static str,
    /// Its format for people.
    pub format: Format,
    /// Which of two values is better, if either.
    pub better: Option<Better>,
    /// Its axis, where a chart draws it against a varied setting.
    pub axis: Option<Axis>,
    /// Whether it is among the first that people look for; it leads the columns of a flat table.
    pub leads: bool,
    /// Whether every flat table has it, null where unknown.
    pub everywhere: bool,
    /// Whether two settings are compared by it.
    pub compared: bool,
    /// Units of the metric per unit of its column in a table of settings, where it has one.
    pub column: Option<f64>,
}

const fn metric(key: &'static str, kind: Kind, unit: &'static str, meaning: &'static str) -> Metric {
    Metric {
        key,
        kind,
        unit,
        meaning,
        nullable: false,
        label: "",
        short: "",
        best: "",
        format: Format::Figure,
        better: None,
        axis: None,
        leads: false,
        everywhere: false,
        compared: false,
        column: None,
    }
}

/// Builds a whole number.
pub const fn count(key: &'static str, unit: &'static str, meaning: &'static str) -> Metric {
    metric(key, Kind::Count, unit, meaning)
}

/// Builds a number.
pub const fn number(key: &'static str, unit: &'static str, meaning: &'static str) -> Metric {
    metric(key, Kind::Number, unit, meaning)
}

/// Builds a flag.
pub const fn flag(key: &'static str, meaning: &'static str) -> Metric {
    metric(key, Kind::Flag, "", meaning)
}

/// Builds a text.
pub const fn text(key: &'static str, meaning: &'static str) -> Metric {
    metric(key, Kind::Text, "", meaning)
}

/// Builds an interval with both ends.
pub const fn interval(key: &'static str, unit: &'static str, meaning: &'static str) -> Metric {
    metric(key, Kind::Interval, unit, meaning)
}

/// Builds a list of numbers.
pub const fn numbers(key: &'static str, unit: &'static str, meaning: &'static str) -> Metric {
    metric(key, Kind::Numbers, unit, meaning)
}

/// Builds a list of numbers, null where unknown.
pub const fn gaps(key: &'static str, unit: &'static str, meaning: &'static str) -> Metric {
    metric(key, Kind::Gaps, unit, meaning)
}

/// Builds a list of pairs of numbers.
pub const fn pairs(key: &'static str, unit: &'static str, meaning: &'static str) -> Metric {
    metric(key, Kind::Pairs, unit, meaning)
}

/// Builds a list of texts.
pub const fn texts(key: &'static str, meaning: &'static str) -> Metric {
    metric(key, Kind::Texts, "", meaning)
}

/// Builds counts in bins.
pub const fn histogram(key: &'static str, unit: &'static str, meaning: &'static str) -> Metric {
    metric(key, Kind::Histogram, unit, meaning)
}

impl Metric {
    /// Allows null where its table is present.
    pub const fn or_null(self) -> Self {
        Self { nullable: true, ..self }
    }

    /// Lets it lead the columns of every flat table.
    pub const fn leads(self) -> Self {
        Self { leads: true, everywhere: true, ..self }
    }

    /// Adds it to every flat table.
    pub const fn everywhere(self) -> Self {
        Self { everywhere: true, ..self }
    }

    /// Compares two settings by it, and lets it lead.
    pub const fn compared(self) -> Self {
        Self { compared: true, ..self.leads() }
    }

    /// Returns whether tables, charts or comparisons show it by default.
    #[must_use]
    pub fn is_chosen(&self) -> bool {
        self.everywhere || self.compared || self.axis.is_some() || self.column.is_some()
    }

    /// Sets the better of two values.
    pub const fn better(self, better: Better) -> Self {
        Self { better: Some(better), ..self }
    }

    /// Lets charts draw it against a varied setting: its label, the title of the axis, and its units per unit of the
    /// axis.
    pub const fn drawn(self, label: &'static str, title: &'static str, per: f64) -> Self {
        Self { label, axis: Some(Axis { title, per, tail: false }), ..self }
    }

    /// Lets charts draw it likewise, on an axis that may be logarithmic.
    pub const fn tail(self, label: &'static str, title: &'static str, per: f64) -> Self {
        Self { label, axis: Some(Axis { title, per, tail: true }), ..self }
    }

    /// Adds a column to the table of settings: its header, and its units per unit of the column.
    pub const fn column(self, short: &'static str, per: f64) -> Self {
        Self { short, column: Some(per), ..self }
    }

    /// Names the best setting by this metric on pages, with the format of its value.
    pub const fn best(self, best: &'static str, format: Format) -> Self {
        Self { best, format, ..self }
    }
}

/// The metrics of one table of a result.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// The key of the table; empty for metrics at the top.
    pub key: &'static str,
    /// Summary of its metrics.
    pub about: &'static str,
    /// When it is known, as `in timed mode`; empty for always.
    pub when: &'static str,
    /// Its rows.
    pub rows: &'static [Metric],
}
