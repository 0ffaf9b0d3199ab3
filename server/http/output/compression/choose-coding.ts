import { parseAccept } from 'hono/utils/accept'
import { CODINGS, type Coding } from '../../../contract/content-coding.ts'

/**
 * Returns the content coding that an `Accept-Encoding` header prefers (RFC 9110 §12.5.3); undefined
 * for none.
 */
export function chooseCoding(header: string): Coding | undefined {
  const ranges = parseAccept(header)
  const qualityOf = (name: string) => ranges.find(({ type }) => type.toLowerCase() === name)?.q
  const other = qualityOf('*') ?? 0
  // Unless it is named, no coding is acceptable and the least preferred.
  let best: { readonly coding: Coding | undefined; readonly quality: number } = {
    coding: undefined,
    quality: qualityOf('identity') ?? 0,
  }
  for (const coding of CODINGS) {
    const quality = qualityOf(coding) ?? other
    const isBetter = best.coding === undefined ? quality >= best.quality : quality > best.quality
    if (quality > 0 && isBetter) best = { coding, quality }
  }
  return best.coding
}
