const KEYS = [
  'give',
  'deny',
  'invite',
  'uninvite',
  'revoke',
  'add',
  'edit',
  'remove',
  'test',
  'id',
] as const

/**
 * URL search of the pages of people, tokens and providers: the dialog that is open, with the id of
 * the person, invitation or token, or the name of the provider. `id` is that of a test.
 */
export type AccessSearch = { readonly [key in (typeof KEYS)[number]]?: string }

/** Parses the URL search and drops unknown or invalid parameters. */
export const readAccessSearch = (search: Record<string, unknown>): AccessSearch =>
  Object.fromEntries(
    KEYS.flatMap((key) => {
      const value = search[key]
      return typeof value === 'string' && value !== '' ? [[key, value]] : []
    }),
  )
