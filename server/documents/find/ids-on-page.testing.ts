import type { Page } from './read-page.ts'

/** Returns the ids of the documents on a page. */
export function idsOn({ json }: Page): string[] {
  const text = typeof json === 'string' ? json : Buffer.concat(json).toString()
  return (JSON.parse(text) as { readonly id: string }[]).map(({ id }) => id)
}
