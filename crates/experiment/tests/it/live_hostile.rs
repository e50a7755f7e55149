//! Clients of a live drive that send anything: nothing breaks, and nothing changes for others.

use crate::common::{Folder, seeds_or_one};
use floatgate_base::Rng;
use floatgate_experiment::live::{load_live, open};
use floatgate_live::journal::Limits;
use floatgate_live::nbd::Settings;
use floatgate_live::{Export, Onlookers, Places, Served, Server, Store};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Conversations; `FLOATGATE_CASES` sets them for long runs.
const CASES: u64 = 400;
const SHARE: u64 = 1 << 20;

const TOML: &str = "[drive.geometry]\nblocks_per_plane = 48\npages_per_block = 16\npage_bytes = 4096\nchannels = 1\n\
                    [drive.endurance]\npe_cycles = 1000000000\n[ftl]\nspare_factor = 0.25\n";

/// A server of two exports: `open` for hostile clients, `mine` for another one.
fn server(folder: &Path) -> Arc<Server> {
    let resolved = load_live(Some(TOML), "test.toml", &[], folder).unwrap();
    let drive = open(&resolved, folder, Limits::default(), Onlookers::default()).unwrap();
    let store = Store::open(&folder.join("data.img"), drive.logical_bytes(), None).unwrap();
    let export = |name: &str, offset| Export { name: name.into(), offset, bytes: SHARE, stream: 0 };
    let exports = vec![export("open", 0), export("mine", SHARE)];
    let places = Places { socket: folder.join("socket"), listen: None };
    let served = Served { drive, store, exports, completions: None };
    Server::listen(served, &places, Settings::default()).unwrap().0
}

fn option(number: u32, data: &[u8]) -> Vec<u8> {
    [b"IHAVEOPT", &number.to_be_bytes()[..], &(data.len() as u32).to_be_bytes(), data].concat()
}

fn named(name: &[u8]) -> Vec<u8> {
    [&(name.len() as u32).to_be_bytes()[..], name, &[0, 0]].concat()
}

fn request(kind: u16, flags: u16, offset: u64, bytes: u32, data: &[u8]) -> Vec<u8> {
    let head = [&0x2560_9513_u32.to_be_bytes()[..], &flags.to_be_bytes(), &kind.to_be_bytes()].concat();
    [&head[..], &[7; 8], &offset.to_be_bytes(), &bytes.to_be_bytes(), data].concat()
}

/// Draws the opening of a conversation: some options, then most often an export.
fn opening(rng: &mut Rng) -> Vec<u8> {
    let flags = if rng.below(10) == 0 { rng.below(5) as u32 } else { 3 };
    let mut sent = flags.to_be_bytes().to_vec();
    for _ in 0..rng.below(3) {
        let name = [&b"open"[..], b"", b"nothing"][rng.below(3) as usize];
        let data = if rng.below(2) == 0 { named(name) } else { vec![3; rng.below(40) as usize] };
        sent.extend(option([3, 6, 8, 99][rng.below(4) as usize], &data));
    }
    match rng.below(16) {
        0..4 => sent.extend(option(1, b"open")),
        4 => sent.extend(option(2, b"")),
        _ => sent.extend(option(7, &named(b"open"))),
    }
    sent
}

/// Draws requests, some of them beyond what a client may send.
fn requests(rng: &mut Rng) -> Vec<u8> {
    let mut sent = Vec::new();
    for _ in 0..rng.below(12) {
        if rng.below(5) < 3 {
            let kind = [0, 1, 3, 4, 6][rng.below(5) as usize];
            let bytes = 512 * (1 + rng.below(16)) as u32;
            let offset = rng.below((SHARE - u64::from(bytes)) / 512) * 512;
            let data = if kind == 1 { vec![8; bytes as usize] } else { Vec::new() };
            sent.extend(request(kind, rng.below(2) as u16, offset, bytes, &data));
            continue;
        }
        let offset = [0, 4096, 12_345, SHARE - 512, SHARE, u64::MAX - 100][rng.below(6) as usize];
        let bytes = [0, 1, 512, 4096, 70_000, u32::MAX][rng.below(6) as usize];
        let kind = rng.below(9) as u16;
        let flags = [0, 0, 0, 1, 2, 3, 255][rng.below(7) as usize];
        let data = if kind == 1 { vec![9; bytes.min(1 << 17) as usize] } else { Vec::new() };
        sent.extend(request(kind, flags, offset, bytes, &data));
    }
    sent
}

fn damage(rng: &mut Rng, sent: &mut Vec<u8>) {
    for _ in 0..rng.below(4) {
        if sent.is_empty() {
            return;
        }
        let at = rng.below(sent.len() as u64) as usize;
        match rng.below(4) {
            0 => sent[at] ^= 1 << rng.below(8),
            1 => sent.truncate(at),
            2 => drop(sent.drain(at..(at + 1 + rng.below(9) as usize).min(sent.len()))),
            _ => sent.insert(at, rng.below(256) as u8),
        }
    }
}

/// Reads the whole of the other export.
fn mine(server: &Server) -> Vec<u8> {
    let sent = [&3_u32.to_be_bytes()[..], &option(7, &named(b"mine")), &request(0, 0, 0, SHARE as u32, &[])]
        .concat();
    let mut heard = Vec::new();
    server.converse(&sent[..], &mut heard).unwrap();
    heard.split_off(heard.len() - SHARE as usize)
}

#[test]
fn hostile_clients_change_nothing_for_others() {
    let temporary = Folder::new("hostile");
    let server = server(&PathBuf::from(temporary.path()));
    let text: Vec<u8> = (0..SHARE).map(|i| (i % 251) as u8).collect();
    let write = request(1, 0, 0, SHARE as u32, &text);
    let sent = [&3_u32.to_be_bytes()[..], &option(7, &named(b"mine")), &write].concat();
    server.converse(&sent[..], &mut Vec::new()).unwrap();
    for seed in seeds_or_one(CASES) {
        let mut rng = Rng::new(seed, "hostile");
        let mut sent = opening(&mut rng);
        if rng.below(2) == 0 {
            damage(&mut rng, &mut sent);
        }
        let mut then = requests(&mut rng);
        if rng.below(2) == 0 {
            damage(&mut rng, &mut then);
        }
        sent.extend(then);
        let mut heard = Vec::new();
        // Whether it ends in an error is the client's matter.
        drop(server.converse(&sent[..], &mut heard));
        assert!(heard.len() < 16 << 20, "seed {seed}: {} bytes were sent", heard.len());
        if seed % 64 == 0 {
            assert_eq!(mine(&server), text, "seed {seed}");
        }
    }
    assert_eq!(mine(&server), text);
    // Many conversations come as far as requests that the drive takes.
    let served = server.look(|drive| drive.glance().requests).unwrap();
    println!("{served} requests were served");
    assert!(served > 50, "{served} requests were served");
    server.stop().unwrap();
}
