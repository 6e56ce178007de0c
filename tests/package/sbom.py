#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is the bill of materials of the package weft whole and true? sbom.py ROOT PACKAGE BUILD, ROOT with the unpacked package.

Whole: each package that the package depends on is in it as linked, each whose headers went into the build's objects as contained, and the
file copyright names those. True: versions are those that are installed. It reads as SPDX 2.3, and is made again octet by octet."""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT, PACKAGE, BUILD = (Path(word).resolve() for word in sys.argv[1:4])
SOURCE = Path(__file__).resolve().parents[2]
DOCUMENTS = ROOT / "usr/share/doc/weft"
sys.path.insert(0, str(SOURCE / "tests/lint"))
from rooms import MAY_INCLUDE  # noqa: E402

# What the compiler brings with it. Of its library's headers the SBOM has the package all the same.
TOOLCHAIN = re.compile(r"(glibc|linux|gcc-\d+|llvm-toolchain-\d+)\Z")
SHIPPED = tuple(f"{room}/" for room in MAY_INCLUDE if room != "bench")
MEMBERS = {"SPDXID", "name", "versionInfo", "supplier", "downloadLocation", "filesAnalyzed", "licenseConcluded", "licenseDeclared", "copyrightText"}
LICENCES = {"Apache-2.0", "BSL-1.0", "BSD-2-Clause", "BSD-3-Clause", "MIT", "Zlib", "Linux-OpenIB", "GPL-2.0-only", "GPL-3.0-or-later",
            "LGPL-2.1-or-later", "GCC-exception-3.1", "LLVM-exception", "CC0-1.0"}
FAULTS = []


def check(right, what):
    if not right:
        FAULTS.append(what)


def said(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def query(words, *names):
    return said("dpkg-query", "-W", "-f", words + "\n", *names).splitlines()


def well_formed(document):
    """As far as SPDX 2.3 asks for something here."""
    check(document["spdxVersion"] == "SPDX-2.3" and document["dataLicense"] == "CC0-1.0", "it is not SPDX 2.3")
    check(re.fullmatch(r"https://[^#\s]+", document["documentNamespace"]), "the namespace is no URI")
    check(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", document["creationInfo"]["created"]), "its time")
    check(all(re.match(r"(Tool|Organization|Person): \S", creator) for creator in document["creationInfo"]["creators"]), "its creators")
    ids = [document["SPDXID"], *(package["SPDXID"] for package in document["packages"])]
    check(len(set(ids)) == len(ids) and all(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", one) for one in ids), f"ids: {ids}")
    own = {one["licenseId"] for one in document["hasExtractedLicensingInfos"]}
    for package in document["packages"]:
        check(MEMBERS <= package.keys() and all(package[name] != "" for name in MEMBERS), f"{package['name']} lacks something")
        words = set(re.split(r" (?:OR|AND|WITH) ", package["licenseDeclared"]))
        check(words <= LICENCES | own, f"{package['name']}: no licence of SPDX's list is {words - LICENCES - own}")
    for relation in document["relationships"]:
        check({relation["spdxElementId"], relation["relatedSpdxElement"]} <= set(ids), f"{relation} leads nowhere")


def related(document, kind):
    names = {package["SPDXID"]: package["name"] for package in document["packages"]}
    return {names[one["relatedSpdxElement"]] for one in document["relationships"] if one["relationshipType"] == kind}


def names_in(relations):
    """The packages of a Depends or Provides."""
    return re.findall(r"(?:^|, )([a-z0-9.+-]+)", relations)


def providers():
    """Of each name that is no package of its own, as libspdlog1.10-fmt9 is none: the package that provides it."""
    found = {}
    for line in said("dpkg-query", "-W", "-f", "${Package}: ${Provides}\\n").splitlines():
        package, provides = line.split(": ", 1)
        found |= {name: package for name in names_in(provides)}
    return found


def linked(document):
    """dpkg-shlibdeps has found out the same in its own way, but for what depends on what it names."""
    asked_for = set(names_in(said("dpkg-deb", "-f", PACKAGE, "Depends").strip()))
    packages, provided = related(document, "DYNAMIC_LINK"), providers()
    asked_for = {name if name in packages else provided.get(name, name) for name in asked_for}
    check(packages == asked_for, f"linked: {sorted(packages)}; Depends: {sorted(asked_for)}")


def versions(document):
    for package in document["packages"][1:]:
        check(package["versionInfo"] in query("${Version}", package["name"]), f"{package['name']} is not of version {package['versionInfo']}")


def headers_compiled_in():
    """Those of other packages that went into objects of what is shipped, as ninja keeps account of it."""
    found, shipped = set(), False
    for line in said("ninja", "-C", str(BUILD), "-t", "deps").splitlines():
        if line and not line.startswith((" ", "ninja:")):
            shipped = line.startswith(SHIPPED)
        elif shipped and line.startswith("    /usr/"):
            found.add(line.strip())
    # Of the objects of the laboratory's WebAssembly module the compiler's own lists tell. Their folder is a link into libc++'s.
    for listed in (BUILD / "explain/laboratory/wasm").glob("*.o.d"):
        found |= {str(Path(name).resolve()) for name in re.findall(r"/usr/[^\s\\]+", listed.read_text())}
    return sorted(found)


def contained(document):
    headers = headers_compiled_in()
    check(len(headers) > 100, f"only {len(headers)} headers are known to ninja")
    owners = {name.split(":")[0] for line in said("dpkg-query", "-S", *headers).splitlines() for name in line.split(": /")[0].split(", ")}
    for name in sorted(owners):
        toolchain = TOOLCHAIN.match(query("${source:Package}", name)[0])
        check(toolchain or name in related(document, "CONTAINS"), f"headers of {name} are compiled in, and not told")
    for name in related(document, "CONTAINS"):
        check(name in owners, f"no header of {name} is compiled in")


def licences(document):
    """The notices that most licences want with a program."""
    text = (DOCUMENTS / "copyright").read_text()
    for package in document["packages"]:
        if package["name"] not in related(document, "CONTAINS"):
            continue
        source = package["sourceInfo"].split()[0]
        stanza = re.search(rf"^{re.escape(source)}\b.*\n  Copyright: (.*)\n  License: (.*)", text, re.M)
        check(stanza and stanza[1] == package["copyrightText"] and stanza[2].startswith(package["licenseDeclared"]),
              f"copyright does not name {source}, {package['copyrightText']}, {package['licenseDeclared']}")
        some = re.split(r" (?:OR|AND|WITH) ", package["licenseDeclared"])
        check(any(f"\nLicense {one}:" in text for one in some) or "GCC-exception-3.1" in some, f"copyright lacks the text of {some}")


def again(document):
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "sbom.json"
        version = document["packages"][0]["versionInfo"]
        said("cmake", "-D", f"WEFT_SBOM_TREE={ROOT}", "-D", f"WEFT_SBOM_FILE={made}", "-D", f"WEFT_SBOM_VERSION={version}", "-P",
             str(SOURCE / "cmake/WeftSbom.cmake"))
        check(made.read_bytes() == (DOCUMENTS / "sbom.spdx.json").read_bytes(), "made again, it is another")


def main():
    document = json.loads((DOCUMENTS / "sbom.spdx.json").read_text())
    for part in (well_formed, linked, versions, contained, licences, again):
        part(document)
    print("\n".join(FAULTS) or f"{len(document['packages']) - 1} packages of others, with their licences: whole and true")
    return 1 if FAULTS else 0


sys.exit(main())
