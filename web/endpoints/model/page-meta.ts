// Values that the server embeds in the page as meta elements, available without a request.

const read = (name: string): string | undefined =>
  document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content

/** Returns the drain time of removed endpoints in seconds, or `undefined` if it is missing. */
export function readDrainSeconds(): number | undefined {
  const told = read('drain-seconds')
  const seconds = Number(told)
  return told !== undefined && told !== '' && Number.isFinite(seconds) ? seconds : undefined
}

/**
 * Returns whether the server has a certificate for `ssl` endpoints; `undefined` if it is missing.
 */
export function hasCertificate(): boolean | undefined {
  const told = read('certificate')
  return told === 'yes' ? true : told === 'no' ? false : undefined
}
