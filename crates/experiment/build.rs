//! Passes the build settings that affect speed to the code: cargo gives profile and optimization to build scripts, but
//! link-time optimization is only in the environment and the manifest.

use std::path::Path;

/// Returns the value of `lto` in `[profile.release]` of the workspace's manifest.
fn lto_of(manifest: &str) -> Option<String> {
    let release = manifest.split("[profile.release]").nth(1)?;
    let table = release.split("\n[").next()?;
    let value = table.lines().find_map(|line| line.strip_prefix("lto = "))?;
    Some(value.trim().trim_matches('"').to_owned())
}

fn main() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", manifest.display());
    println!("cargo::rerun-if-env-changed=CARGO_PROFILE_RELEASE_LTO");
    let profile = std::env::var("PROFILE").unwrap_or_default();
    let lto = match std::env::var("CARGO_PROFILE_RELEASE_LTO") {
        _ if profile != "release" => "off".to_owned(),
        Ok(lto) => lto,
        Err(_) => {
            std::fs::read_to_string(&manifest).ok().and_then(|text| lto_of(&text)).unwrap_or("off".into())
        }
    };
    println!("cargo::rustc-env=FLOATGATE_BUILD_PROFILE={profile}");
    println!("cargo::rustc-env=FLOATGATE_BUILD_LTO={lto}");
}
