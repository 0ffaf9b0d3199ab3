import { hash, randomFillSync } from 'node:crypto'

const pool = Buffer.alloc(4096)
let used = pool.length

/** Returns a unique tag for a new state of a document: 72 random bits. */
export function createEntityTag(): string {
  if (used + 9 > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const tag = pool.toString('base64url', used, used + 9)
  used += 9
  return tag
}

/** Returns a tag of several documents. @param tags their tags, one per line. */
export const tagOfAll = (tags: string): string => hash('sha256', tags, 'base64url').slice(0, 22)
