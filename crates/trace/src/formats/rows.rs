//! The formats with described columns, one row each.

use super::described::{Column, Description, Row, info};
use super::{FormatInfo, Likeness};
use crate::options::{LbaUnit, TimeUnit};
use floatgate_base::Op;

/// MSR Cambridge: `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`.
///
/// Stamps are Windows FILETIME ticks of 100 ns, addresses and sizes bytes. Volumes are often joined with `cat`,
/// including header lines. Host and disk together name the device. The response time must be a number but is not used;
/// it may be missing.
pub(super) struct Msr;

impl Row for Msr {
    const INFO: FormatInfo = FormatInfo {
        name: "msr",
        summary: "MSR Cambridge CSV (SNIA IOTTA)",
        line: "expected Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime",
        units: "time in FILETIME ticks of 100 ns, address and size in bytes",
        extensions: &["csv", "msr"],
        recognise: recognise_msr,
        ..info::<Self>()
    };
    const LINE: Description = Description {
        separator: b',',
        blanks: false,
        header: "timestamp,",
        columns: &[
            Column::time(TimeUnit::Filetime),
            Column::text("is not a host name", "expected a host name").device(),
            Column::number("is not a disk number").device(),
            Column::words(
                "is not a type",
                "expected Read or Write",
                &[("Write", Op::Write), ("Read", Op::Read)],
            ),
            Column::offset("is not an offset", LbaUnit::Byte),
            Column::size("is not a size", LbaUnit::Byte),
            Column::figure("is not a response time", "expected ticks of 100 ns and the end of the line")
                .optional(),
        ],
        more: false,
    };
}

/// Stamp and type suffice: a damaged field elsewhere gets a message of this format. A header is recognised by two
/// names, since other formats also have headers that begin with a time stamp.
fn recognise_msr(line: &[u8]) -> Likeness {
    let fields: Vec<&[u8]> = line.split(|&b| b == b',').collect();
    let is = |field: usize, word: &[u8]| fields.get(field).is_some_and(|f| f.eq_ignore_ascii_case(word));
    let record = matches!(fields.len(), 6 | 7)
        && fields[0].iter().all(u8::is_ascii_digit)
        && (is(3, b"read") || is(3, b"write"));
    Likeness::sure(record || is(0, b"timestamp") && is(1, b"hostname"))
}

/// Alibaba block traces: `device_id,opcode,offset,length,timestamp`.
///
/// The schema of the README of github.com/alibaba/block-traces: bytes, microseconds since 1970, R or W. No sample was
/// at hand; those in the tests are constructed from the schema.
pub(super) struct Alibaba;

impl Row for Alibaba {
    const INFO: FormatInfo = FormatInfo {
        name: "alibaba",
        summary: "Alibaba cloud block traces",
        line: "expected device_id,opcode,offset,length,timestamp",
        units: "time in microseconds, address and size in bytes",
        extensions: &["alibaba"],
        ..info::<Self>()
    };
    const LINE: Description = Description {
        separator: b',',
        blanks: true,
        header: "device_id,",
        columns: &[
            Column::number("is not a device").device(),
            Column::letter(),
            Column::offset("is not an offset", LbaUnit::Byte),
            Column::size("is not a length", LbaUnit::Byte),
            Column::time(TimeUnit::Microseconds),
        ],
        more: false,
    };
}

/// Tencent cloud block storage: `Timestamp,Offset,Size,IOType,VolumeID`.
///
/// The schema of the README of the traces (SNIA IOTTA): seconds since 1970, sectors of 512 bytes, 0 = read and 1 =
/// write, the opposite of simulators. The volume is the device. No sample was at hand; those in the tests are
/// constructed from the schema.
pub(super) struct Tencent;

impl Row for Tencent {
    const INFO: FormatInfo = FormatInfo {
        name: "tencent",
        summary: "Tencent cloud block storage (SNIA IOTTA)",
        line: "expected Timestamp,Offset,Size,IOType,VolumeID",
        units: "time in seconds, address and size in sectors of 512 bytes, 0 = read",
        extensions: &["tencent"],
        ..info::<Self>()
    };
    const LINE: Description = Description {
        separator: b',',
        blanks: true,
        header: "timestamp,offset,",
        columns: &[
            Column::time(TimeUnit::Seconds),
            Column::offset("is not an offset", LbaUnit::Sector),
            Column::size("is not a size", LbaUnit::Sector),
            Column::words(
                "is not an operation",
                "expected 0 (read) or 1 (write)",
                &[("0", Op::Read), ("1", Op::Write)],
            ),
            Column::number("is not a volume").device(),
        ],
        more: false,
    };
}

/// SYSTOR '17 (virtual desktops): `Timestamp,Response,IOType,LUN,Offset,Size` after a header with these names.
///
/// Seconds since 1970, bytes, R or W; the response time may be empty. A record without a type (any other command) is
/// another record. The LUN is the device. No sample in this form was at hand; those in the tests are constructed from
/// the schema.
pub(super) struct Systor17;

impl Row for Systor17 {
    const INFO: FormatInfo = FormatInfo {
        name: "systor17",
        summary: "SYSTOR '17 virtual desktops (SNIA IOTTA)",
        line: "expected Timestamp,Response,IOType,LUN,Offset,Size",
        units: "time in seconds, address and size in bytes",
        extensions: &["systor17"],
        ..info::<Self>()
    };
    const LINE: Description = Description {
        separator: b',',
        blanks: true,
        header: "timestamp,response,",
        columns: &[
            Column::time(TimeUnit::Seconds),
            Column::latency("is not a response time", "expected seconds or nothing"),
            Column::letter().other_if_empty(),
            Column::number("is not a LUN").device(),
            Column::offset("is not an offset", LbaUnit::Byte),
            Column::size("is not a size", LbaUnit::Byte),
        ],
        more: false,
    };
    const DEVICE_PREFIX: &str = "LUN";
}

/// Fujitsu K5 cloud: `ID,Timestamp,Type,Offset,Length`.
///
/// The schema of the README of the traces (SNIA IOTTA): seconds since the first request of all volumes, R or W, bytes.
/// The virtual storage volume is the device; further columns are legal and ignored. No sample was at hand; those in the
/// tests are constructed from the schema.
pub(super) struct K5Cloud;

impl Row for K5Cloud {
    const INFO: FormatInfo = FormatInfo {
        name: "k5cloud",
        summary: "Fujitsu K5 cloud (SNIA IOTTA)",
        line: "expected ID,Timestamp,Type,Offset,Length",
        units: "time in seconds, address and size in bytes",
        extensions: &["k5cloud"],
        ..info::<Self>()
    };
    const LINE: Description = Description {
        separator: b',',
        blanks: true,
        header: "id,timestamp,",
        columns: &[
            Column::number("is not a volume").device(),
            Column::time(TimeUnit::Seconds),
            Column::letter(),
            Column::offset("is not an offset", LbaUnit::Byte),
            Column::size("is not a length", LbaUnit::Byte),
        ],
        more: true,
    };
}

/// CloudPhysics as CSV, as distributed with libCacheSim: `version,time,op,size,lbn` after a header with these names.
///
/// Microseconds (seconds in libCacheSim's sample), the SCSI operation code in hexadecimal, bytes, sectors of 512 bytes. Operation codes that neither read
/// nor write are other records. There is one device.
pub(super) struct CloudPhysics;

impl Row for CloudPhysics {
    const INFO: FormatInfo = FormatInfo {
        name: "cloudphysics",
        summary: "CloudPhysics virtual disks as CSV",
        line: "expected version,time,op,size,lbn",
        units: "time in microseconds, address in sectors of 512 bytes, size in bytes",
        other_time_units: &[TimeUnit::Seconds],
        extensions: &["cloudphysics"],
        ..info::<Self>()
    };
    const LINE: Description = Description {
        separator: b',',
        blanks: true,
        header: "version,",
        columns: &[
            Column::number("is not a version").typical(&["1", "2"]),
            Column::time(TimeUnit::Microseconds),
            Column::scsi_code(),
            Column::size("is not a size", LbaUnit::Byte),
            Column::offset("is not an lbn", LbaUnit::Sector),
        ],
        more: false,
    };
}
