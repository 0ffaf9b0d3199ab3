import type { CertificateSource, ServedCertificate } from './certificates.ts'

/** A source of certificates for tests of listeners. */
export interface TestCertificates extends CertificateSource {
  /** The certificates by name. */
  readonly all: Map<string, Omit<ServedCertificate, 'name'>>
  /** Stores a certificate and tells the subscribers. */
  set(name: string, context: ServedCertificate['context'], hosts?: readonly string[]): void
  /** Number of subscribers. */
  readonly subscribers: number
}

/** Returns a {@link TestCertificates}, which is empty. */
export function createTestCertificates(): TestCertificates {
  const all: TestCertificates['all'] = new Map()
  const callbacks = new Set<(names: ReadonlySet<string>) => void>()
  return {
    all,
    set(name, context, hosts = []) {
      all.set(name, { context, hosts })
      for (const callback of callbacks) callback(new Set([name]))
    },
    get subscribers() {
      return callbacks.size
    },
    find: (names = ['default']) =>
      names.map((name) => {
        const found = all.get(name)
        if (found === undefined) throw new Error(`no certificate ${name}`)
        return { name, ...found }
      }),
    load: async () => {},
    has: (which) => (which === 'any' ? all.size > 0 : all.has('default')),
    requireStored: async () => {},
    onChange(callback) {
      callbacks.add(callback)
      return () => callbacks.delete(callback)
    },
  }
}
