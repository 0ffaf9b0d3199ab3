import type { Rolldown } from 'vite'

/** Returns a function that names the chunk of modules that all of these files import statically. */
export const nameIfUsedBy =
  (name: string, ...files: readonly string[]): Rolldown.CodeSplittingNameFunction =>
  (id, context) => {
    const isUsedBy = (file: string) => {
      const seen = new Set<string>()
      const leadsTo = (module: string): boolean => {
        if (seen.has(module)) return false
        seen.add(module)
        if (module.endsWith(`/${file}`)) return true
        return context.getModuleInfo(module)?.importers.some(leadsTo) ?? false
      }
      return leadsTo(id)
    }
    return files.every(isUsedBy) ? name : null
  }
