/** The packages that contain a library which Node.js links: Debian and Ubuntu, Fedora, Alpine. */
const packages = new Map([
  ['libatomic.so.1', ['libatomic1', 'libatomic', 'libatomic']],
  ['libgcc_s.so.1', ['libgcc-s1', 'libgcc', 'libgcc']],
  ['libstdc++.so.6', ['libstdc++6', 'libstdc++', 'libstdc++']],
])

/** @param {string} library */
function explainLibrary(library) {
  const [debian, fedora, alpine] = packages.get(library) ?? []
  const commands =
    debian === undefined
      ? `find its package with apt-file search ${library} (Debian, Ubuntu), dnf provides '*/${library}' (Fedora) or apk search so:${library} (Alpine)`
      : `install it with apt-get install ${debian} (Debian, Ubuntu), dnf install ${fedora} (Fedora) or apk add ${alpine} (Alpine)`
  return `the library ${library} is missing; ${commands}.`
}

/**
 * Explains why an executable that exists does not start, and what to install.
 *
 * @param {string} stderr what the dynamic loader printed
 * @param {string} reason the error of the system call or the exit code
 * @returns {string} one sentence
 */
export function explainStartFailure(stderr, reason) {
  // glibc: "error while loading shared libraries: X: cannot open…"; musl: "Error loading shared library X: No such…"
  const library = /(?:loading shared libraries|loading shared library):? ([^\s:]+)/i.exec(stderr)
  if (library?.[1] !== undefined) return explainLibrary(library[1])
  const symbol = /version `(GLIBC(?:XX)?_[\d.]+)' not found/.exec(stderr)
  if (symbol?.[1] !== undefined) {
    return `it needs ${symbol[1]} or newer, and this system's C library is older; install Node.js from the system's packages.`
  }
  // The kernel reports a missing loader as a missing file.
  if (reason.endsWith('ENOENT')) {
    return "it needs the C library glibc, which this system does not have; install Node.js from the system's packages, apk add nodejs on Alpine."
  }
  return `${stderr.trim().split('\n', 1)[0] || reason}.`
}
