/** The databases that a token or a role is limited to, as its form edits them. */
export interface ScopeDraft {
  /** Whether it reaches all databases or only the selected ones. */
  readonly reach: 'all' | 'only'
  readonly databases: readonly string[]
}

/** Returns the error of a draft. */
export const validateScope = ({ reach, databases }: ScopeDraft): string | undefined =>
  reach === 'only' && databases.length === 0
    ? 'Choose at least one database, or choose All databases.'
    : undefined

export const toScopeDraft = (databases: readonly string[] | null): ScopeDraft => ({
  reach: databases === null ? 'all' : 'only',
  databases: databases ?? [],
})

/** Returns the databases of a valid draft; null for all. */
export const toDatabases = ({ reach, databases }: ScopeDraft): string[] | null =>
  reach === 'all' ? null : [...databases]
