import { Failure } from '../../failure.ts'
import { PAGE } from '../document.ts'

/**
 * Parses the parameter `limit` of a page of documents.
 *
 * @throws Failure `bad-parameter`
 */
export function parsePageLimit(text: string | undefined): number {
  if (text === undefined) return PAGE.default
  const limit = /^[0-9]{1,4}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= PAGE.max) return limit
  throw new Failure('bad-parameter', `limit must be a whole number from 1 to ${PAGE.max}.`, {
    field: 'limit',
  })
}

/**
 * Parses the parameter `after` of a page of documents: returns its part before U+0000, which
 * PostgreSQL rejects. No id contains it, so the same ids are after the text and after this part.
 */
export const parseAfter = (text: string | undefined): string | undefined => text?.split('\0', 1)[0]
