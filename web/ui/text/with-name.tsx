/** A sentence in which an address, name or id is in monospace. */
export function WithName({ text, name = '' }: { text: string; name?: string | undefined }) {
  const at = name === '' ? -1 : text.lastIndexOf(name)
  if (at < 0) return text
  return (
    <>
      {text.slice(0, at)}
      <bdi className="mono">{name}</bdi>
      {text.slice(at + name.length)}
    </>
  )
}

/**
 * Returns text between the characters FSI and PDI, so that its direction does not change the order
 * of the text around it. For text without elements; elsewhere, use `<bdi>`.
 */
export const isolate = (text: string): string => `\u2068${text}\u2069`
