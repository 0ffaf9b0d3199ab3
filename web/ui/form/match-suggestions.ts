/** Returns the suggestions that contain a text: equal ones, then prefixes, then the others. */
export function matchSuggestions(all: readonly string[], typed: string): readonly string[] {
  const text = typed.trim()
  const folded = text.toLowerCase()
  const found = all.flatMap((suggestion) => {
    const at = suggestion.toLowerCase().indexOf(folded)
    if (at < 0) return []
    if (suggestion === text) return { suggestion, order: 0 }
    return { suggestion, order: at > 0 ? 3 : suggestion.length === text.length ? 1 : 2 }
  })
  return found.sort((a, b) => a.order - b.order).map(({ suggestion }) => suggestion)
}
