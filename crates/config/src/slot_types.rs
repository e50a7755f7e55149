//! The slots of an experiment, each as a type, which tells the tables of raw settings apart. Their rows are
//! with their policies.

use floatgate_base::Slot;

/// A slot as a type.
pub trait Table: Default + 'static {
    /// Its table.
    const SLOT: &'static Slot;
    /// What the JSON schema calls it.
    const NAME: &'static str;
}

macro_rules! slots {
    ($($name:ident: $slot:path,)*) => {
        $(
            #[doc = concat!("See [`", stringify!($slot), "`].")]
            #[derive(Clone, Copy, Debug, Default, PartialEq)]
            pub struct $name;

            impl Table for $name {
                const SLOT: &'static Slot = &$slot;
                const NAME: &'static str = stringify!($name);
            }
        )*

        /// All slots.
        pub const SLOTS: &[&Slot] = &[$($name::SLOT,)*];
    };
}

slots! {
    Map: floatgate_ftl::single_policy_slots::MAP,
    Metadata: floatgate_ftl::metadata::SLOT,
    Collect: floatgate_ftl::collect::SLOT,
    Separate: floatgate_ftl::separate::SLOT,
    Level: floatgate_ftl::level::SLOT,
    Reclaim: floatgate_ftl::reclaim::SLOT,
    Dpes: floatgate_ftl::dpes::SLOT,
    Dispatch: floatgate_host::dispatch::SLOT,
    Background: floatgate_sim::background::SLOT,
    Throttle: floatgate_lifetime::throttle::SLOT,
    Reduce: floatgate_lifetime::reduce::SLOT,
    Endurance: floatgate_nand::endurance::SLOT,
    Disturb: floatgate_nand::disturb::SLOT,
    Buffer: floatgate_host::buffer::SLOT,
    Scheduling: floatgate_flash::timed::scheduling::SLOT,
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_base::policy::{Facts, Fallback, ParamKind};
    use std::collections::BTreeSet;

    /// The reader of experiments relies on these properties.
    #[test]
    fn the_tables_are_sound() {
        for slot in SLOTS {
            let names: BTreeSet<_> = slot.policies.iter().map(|info| info.name).collect();
            assert_eq!(names.len(), slot.policies.len(), "{}: a name stands twice", slot.key);
            for info in slot.policies {
                let keys: BTreeSet<_> = slot.params_of(info).map(|param| param.name).collect();
                assert_eq!(
                    keys.len(),
                    slot.params_of(info).count(),
                    "{}: a parameter stands twice",
                    info.name
                );
                assert!(!keys.contains(slot.selector), "{}", info.name);
                // The defaults are in their ranges.
                slot.fill(info, &[], &Facts { pe_cycles: 1, ..Facts::default() }).unwrap();
                for param in slot.params_of(info) {
                    let least = match param.kind {
                        ParamKind::Whole { least, most } => least < most,
                        ParamKind::Number(range) => range.least < range.most,
                        ParamKind::Flag => true,
                        ParamKind::Name(names) => names.len() > 1,
                        ParamKind::Numbers { range, most } => range.least < range.most && most > 0,
                        ParamKind::Rows { columns, most } => !columns.is_empty() && most > 0,
                        ParamKind::Order(names) => names.len() > 1,
                        ParamKind::Text(words) => !words.is_empty(),
                        // The table of a slot is read by the kinds of its parameters.
                        ParamKind::Listed(_) | ParamKind::Other(_) => false,
                    };
                    assert!(least, "{}.{}: it has no choice", info.name, param.name);
                    if let Fallback::Value(_) | Fallback::Numbers(_) | Fallback::Rows(_) = param.default {
                        let policy = slot.fill(info, &[], &Facts::default()).unwrap();
                        let (_, value) = policy.values().iter().find(|(key, _)| *key == param.name).unwrap();
                        assert!(param.takes(value), "{}.{}: {value:?}", info.name, param.name);
                    }
                    // Keys are read before the policy is known.
                    let (first, _) =
                        slot.params().into_iter().find(|(other, _)| other.name == param.name).unwrap();
                    let kinds = [first.kind, param.kind].map(|kind| std::mem::discriminant(&kind));
                    assert_eq!(kinds[0], kinds[1], "{}: two kinds of {}", slot.key, param.name);
                }
            }
        }
    }
}
