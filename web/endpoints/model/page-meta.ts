// Values that the server embeds in the page as meta elements, available without a request.

const read = (name: string): string | undefined =>
  document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content

/** Returns the drain time of removed endpoints in seconds, or `undefined` if it is missing. */
export function readDrainSeconds(): number | undefined {
  const content = read('drain-seconds')
  const seconds = Number(content)
  return content !== undefined && content !== '' && Number.isFinite(seconds) ? seconds : undefined
}
