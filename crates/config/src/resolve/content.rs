//! What a workload writes: content that is made up, and content of later passes.

use crate::layers::Layers;
use crate::settings::{self, REPEATS};
use crate::tables::choice;
use floatgate_base::{Place, Result};
use floatgate_sim::plan;
use floatgate_trace::{ContentModel, GeneratorConfig};

/// The keys of `[workload]` about content.
pub(crate) struct ContentKeys {
    duplicate_share: Option<f64>,
    compressed_share: Option<f64>,
    incompressible_share: Option<f64>,
    content_seed: Option<u64>,
    repeat_content: Option<String>,
}

impl ContentKeys {
    pub fn take(table: &mut settings::Workload) -> Self {
        Self {
            duplicate_share: table.duplicate_share.take(),
            compressed_share: table.compressed_share.take(),
            incompressible_share: table.incompressible_share.take(),
            content_seed: table.content_seed.take(),
            repeat_content: table.repeat_content.take(),
        }
    }

    /// Returns the model; none without a share.
    fn model(&self) -> Option<ContentModel> {
        let shares = [self.duplicate_share, self.compressed_share, self.incompressible_share];
        shares.iter().any(Option::is_some).then(|| ContentModel {
            duplicate_share: self.duplicate_share.unwrap_or(0.0),
            compressed_share: self.compressed_share.unwrap_or(1.0),
            incompressible_share: self.incompressible_share.unwrap_or(0.0),
            seed: self.content_seed.unwrap_or(1),
        })
    }
}

/// Resolves the content model and whether each pass writes new content. A twin with known content has its own
/// model.
pub(crate) fn resolve(
    layers: &Layers,
    keys: &ContentKeys,
    source: &plan::Workload,
    raw: &mut settings::Workload,
) -> Result<(Option<ContentModel>, bool)> {
    let of_twin = match source {
        plan::Workload::Synthetic(GeneratorConfig { twin: Some(twin), .. }) => {
            let known = twin.content;
            (known != Default::default()).then(|| ContentModel {
                duplicate_share: known.duplicate_share,
                compressed_share: known.compressed_share,
                incompressible_share: known.incompressible_share,
                seed: keys.content_seed.unwrap_or(1),
            })
        }
        _ => None,
    };
    let model = keys.model().or(of_twin);
    let Some(model) = model else {
        if keys.content_seed.is_some() {
            let what = "a seed without synthetic content has no effect";
            let expected = "expected workload.duplicate_share or workload.compressed_share beside it";
            return Err(layers.error("workload.content_seed", what, expected));
        }
        return Ok((None, repeats(layers, keys, source, raw)?));
    };
    model.validate().map_err(|e| match &e.place {
        Place::Setting(option) => {
            let key = option.trim_start_matches("--").replace('-', "_");
            layers.error(&format!("workload.{key}"), e.what.clone(), e.expected.clone())
        }
        _ => e,
    })?;
    if keys.model().is_some() {
        raw.duplicate_share = Some(model.duplicate_share);
        raw.compressed_share = Some(model.compressed_share);
        raw.incompressible_share = Some(model.incompressible_share);
    }
    raw.content_seed = Some(model.seed);
    Ok((Some(model), repeats(layers, keys, source, raw)?))
}

/// Checks whether each pass over a trace writes new content.
fn repeats(
    layers: &Layers,
    keys: &ContentKeys,
    source: &plan::Workload,
    raw: &mut settings::Workload,
) -> Result<bool> {
    if !matches!(source, plan::Workload::Trace { .. }) {
        return Ok(false);
    }
    let name = keys.repeat_content.as_deref().unwrap_or(REPEATS[0].0);
    let row = choice(layers, "workload.repeat_content", "repeat_content", name, REPEATS)?;
    raw.repeat_content = Some(name.into());
    Ok(row == 0)
}
