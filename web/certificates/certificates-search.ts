/** URL search of the Certificates page: the name of a certificate, by what is open. */
export interface CertificatesSearch {
  readonly open?: string
  readonly replace?: string
  readonly remove?: string
}

/** Parses the URL search and drops unknown or invalid parameters. */
export function readCertificatesSearch(search: Record<string, unknown>): CertificatesSearch {
  const text = (key: keyof CertificatesSearch) => {
    const value = search[key]
    return typeof value === 'string' && value !== '' ? { [key]: value } : {}
  }
  return { ...text('open'), ...text('replace'), ...text('remove') }
}
