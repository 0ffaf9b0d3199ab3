// What the server writes into the page itself: it is known at once, and without a request.

const read = (name: string): string | undefined =>
  document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content

/** How long the server lets a removed endpoint drain, in seconds; `undefined` where not told. */
export function readDrainSeconds(): number | undefined {
  const told = read('drain-seconds')
  const seconds = Number(told)
  return told !== undefined && told !== '' && Number.isFinite(seconds) ? seconds : undefined
}

/** Whether the server has a certificate for `ssl` endpoints; `undefined` where not told. */
export function hasCertificate(): boolean | undefined {
  const told = read('certificate')
  return told === 'yes' ? true : told === 'no' ? false : undefined
}
