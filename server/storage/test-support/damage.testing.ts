import { randomFillSync } from 'node:crypto'
import { closeSync, openSync, writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/** A page of a table or an index. `number` is its page number in the file, from 1. */
export interface StoredPage {
  readonly number: number
  readonly isLeaf: boolean
}

/** Returns the pages of a table or an index. No other process may have the SQLite file open. */
export function pagesOf(file: string, name: string): StoredPage[] {
  const db = new DatabaseSync(file)
  try {
    return db
      .prepare('select pageno, pagetype from dbstat where name = ? order by pageno')
      .all(name)
      .map((row) => ({ number: Number(row.pageno), isLeaf: row.pagetype === 'leaf' }))
  } finally {
    db.close()
  }
}

/** Overwrites pages with random bytes. No process may have the SQLite file open. */
export function damagePages(file: string, pages: readonly StoredPage[]): void {
  const size = 4_096
  const fd = openSync(file, 'r+')
  try {
    for (const { number } of pages) {
      writeSync(fd, randomFillSync(Buffer.alloc(size)), 0, size, (number - 1) * size)
    }
  } finally {
    closeSync(fd)
  }
}
