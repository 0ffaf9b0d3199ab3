import { Failure } from '../failure.ts'
import { type Collection, fits, toDocument } from './documents.ts'
import { createEntityTag } from './entity-tag.ts'
import { mergePatch } from './merge-patch.ts'
import type { ValidatorOf } from './schemas.ts'
import { type Json, parseStrictly } from './strict-json.ts'

/**
 * What documents are, for work on many of them (`jobs/job.ts`).
 *
 * @param now tells ms since 1970.
 * @param validatorOf returns what checks documents before they are stored; by default nothing does.
 */
export const createDocumentRules = (
  now: () => number,
  validatorOf: ValidatorOf = async () => undefined,
) => ({
  /** What a merge patch makes of each body; a failure names the document. */
  async merger(where: Collection, text: string) {
    const patch = parseStrictly(text)
    const validate = await validatorOf(where)
    return async (id: string, body: string): Promise<string> => {
      try {
        const made = toDocument(mergePatch(JSON.parse(body) as Json, patch), id, now)
        await validate?.([made], false)
        return made.body
      } catch (error) {
        if (!(error instanceof Failure) || error.kind.status >= 500) throw error
        const { code, message, details } = error
        throw new Failure(code, `${JSON.stringify(id.slice(0, 64))}: ${message}`, { details })
      }
    }
  },

  fits: (body: string, filter: Parameters<typeof fits>[1]) => fits({ body }, filter),
  createTag: createEntityTag,
})
