//! A row of the table of metrics.

/// What a figure of a result is.
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
    /// A list of numbers: bins, edges, a figure by number of something.
    Numbers,
    /// A list of numbers, null where one is not known.
    Gaps,
    /// A list of pairs of numbers.
    Pairs,
    /// A list of texts.
    Texts,
    /// Counts in bins of equal width.
    Histogram,
}

impl Kind {
    /// How a row says it.
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

/// How a figure is written for people.
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
    /// How a row says it.
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

/// Which of two values is the better one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// The lower one.
    Lower,
    /// The higher one.
    Higher,
}

impl Better {
    /// How a row says it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Lower => "lower",
            Self::Higher => "higher",
        }
    }
}

/// A figure along an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    /// The title of the axis.
    pub title: &'static str,
    /// How many of the metric's units are one of the axis.
    pub per: f64,
    /// Whether the axis may be logarithmic: a tail, whose values differ by powers of ten.
    pub tail: bool,
}

/// One figure of a result, or several that differ by a name in braces.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its key below that of its group; `{cause}` and the like stand for each of several names, `[]` for the rows of a list,
    /// and `*` for any name.
    pub key: &'static str,
    /// What it is.
    pub kind: Kind,
    /// Its unit; empty where it has none.
    pub unit: &'static str,
    /// What it means, and how it is computed.
    pub meaning: &'static str,
    /// Whether it may be null where its table is known.
    pub nullable: bool,
    /// How it is called over a chart; `{kind}` is filled in.
    pub label: &'static str,
    /// How it is called in a table.
    pub short: &'static str,
    /// How the best setting by this figure is called; empty where no one looks for it.
    pub best: &'static str,
    /// How it is written.
    pub format: Format,
    /// Which of two values is better, where that can be said.
    pub better: Option<Better>,
    /// Its axis, where it is drawn against what varies.
    pub axis: Option<Axis>,
    /// Whether people look for it first: it leads the columns of a flat table.
    pub leads: bool,
    /// Whether every flat table has it, null where it is not known.
    pub everywhere: bool,
    /// Whether two settings are compared by it.
    pub compared: bool,
    /// How many of its units are one in the table of settings on a page, where it is a column there.
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

/// A whole number.
pub const fn count(key: &'static str, unit: &'static str, meaning: &'static str) -> Metric {
    metric(key, Kind::Count, unit, meaning)
}

/// A number.
pub const fn number(key: &'static str, unit: &'static str, meaning: &'static str) -> Metric {
    metric(key, Kind::Number, unit, meaning)
}

/// Yes or no.
pub const fn flag(key: &'static str, meaning: &'static str) -> Metric {
    metric(key, Kind::Flag, "", meaning)
}

/// A text.
pub const fn text(key: &'static str, meaning: &'static str) -> Metric {
    metric(key, Kind::Text, "", meaning)
}

/// Both ends of an interval.
pub const fn interval(key: &'static str, unit: &'static str, meaning: &'static str) -> Metric {
    metric(key, Kind::Interval, unit, meaning)
}

/// A list of numbers.
pub const fn numbers(key: &'static str, unit: &'static str, meaning: &'static str) -> Metric {
    metric(key, Kind::Numbers, unit, meaning)
}

/// A list of numbers, null where one is not known.
pub const fn gaps(key: &'static str, unit: &'static str, meaning: &'static str) -> Metric {
    metric(key, Kind::Gaps, unit, meaning)
}

/// A list of pairs of numbers.
pub const fn pairs(key: &'static str, unit: &'static str, meaning: &'static str) -> Metric {
    metric(key, Kind::Pairs, unit, meaning)
}

/// A list of texts.
pub const fn texts(key: &'static str, meaning: &'static str) -> Metric {
    metric(key, Kind::Texts, "", meaning)
}

/// Counts in bins.
pub const fn histogram(key: &'static str, unit: &'static str, meaning: &'static str) -> Metric {
    metric(key, Kind::Histogram, unit, meaning)
}

impl Metric {
    /// It may be null where its table is known.
    pub const fn or_null(self) -> Self {
        Self { nullable: true, ..self }
    }

    /// It leads the columns of every flat table.
    pub const fn leads(self) -> Self {
        Self { leads: true, everywhere: true, ..self }
    }

    /// Every flat table has it.
    pub const fn everywhere(self) -> Self {
        Self { everywhere: true, ..self }
    }

    /// Two settings are compared by it, and it leads.
    pub const fn compared(self) -> Self {
        Self { compared: true, ..self.leads() }
    }

    /// Whether something chooses it by itself: a table, a picture, a comparison.
    #[must_use]
    pub fn is_chosen(&self) -> bool {
        self.everywhere || self.compared || self.axis.is_some() || self.column.is_some()
    }

    /// Which value is better.
    pub const fn better(self, better: Better) -> Self {
        Self { better: Some(better), ..self }
    }

    /// Drawn against what varies: its label, the title of the axis, and how many units are one there.
    pub const fn drawn(self, label: &'static str, title: &'static str, per: f64) -> Self {
        Self { label, axis: Some(Axis { title, per, tail: false }), ..self }
    }

    /// Drawn likewise, on an axis that may be logarithmic.
    pub const fn tail(self, label: &'static str, title: &'static str, per: f64) -> Self {
        Self { label, axis: Some(Axis { title, per, tail: true }), ..self }
    }

    /// A column of the table of settings: its header, and how many units are one there.
    pub const fn column(self, short: &'static str, per: f64) -> Self {
        Self { short, column: Some(per), ..self }
    }

    /// Pages name the best setting by this figure: what they call it, and how they write the figure.
    pub const fn best(self, best: &'static str, format: Format) -> Self {
        Self { best, format, ..self }
    }
}

/// Figures of one table of a result.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// The key of the table; empty for figures at the top.
    pub key: &'static str,
    /// What its figures tell.
    pub about: &'static str,
    /// When there are any, as `in timed mode`; empty for always.
    pub when: &'static str,
    /// Its rows.
    pub rows: &'static [Metric],
}
