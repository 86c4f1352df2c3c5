"""The bundle: a terminal task in memory, read from and written to Harbor task directories."""

from envs_forge.bundle.check import check_bundle
from envs_forge.bundle.finding import BundleError, Finding, Severity
from envs_forge.bundle.hashing import content_hash
from envs_forge.bundle.model import Bundle, BundleFile
from envs_forge.bundle.pool import find_bundles
from envs_forge.bundle.provenance import set_provenance
from envs_forge.bundle.reading import make_bundle, read_bundle
from envs_forge.bundle.writing import write_bundle

__all__ = [
    "Bundle",
    "BundleError",
    "BundleFile",
    "Finding",
    "Severity",
    "check_bundle",
    "content_hash",
    "find_bundles",
    "make_bundle",
    "read_bundle",
    "set_provenance",
    "write_bundle",
]
