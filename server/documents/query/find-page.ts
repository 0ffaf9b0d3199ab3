import { Failure } from '../../failure.ts'
import type { NextTurn } from '../../storage/changes/turns.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import { withAdvice } from '../indexes/advise.ts'
import { planQuery } from '../indexes/plan.ts'
import { readByIndex } from '../indexes/read-by-index.ts'
import type { DocumentRepository } from '../repository/stored-documents.ts'
import type { Filter } from './filter.ts'
import { type Page, type PageQuery, readPage } from './read-page.ts'
import type { ScanLimit } from './scan-limit.ts'

interface FindPageDeps {
  readonly repository: DocumentRepository
  readonly nextTurn: NextTurn
  readonly scans: ScanLimit
}

/** Reads a page by an index if one serves the query, and otherwise by a scan. */
export const createFindPage =
  ({ repository, nextTurn, scans }: FindPageDeps) =>
  async (
    where: CollectionRef,
    query: PageQuery,
    filter: Filter,
    reserve: (bytes: number) => Promise<void>,
    signal: AbortSignal,
  ): Promise<Page> => {
    const deps = { repository, nextTurn }
    const { matches, sort, fields, count } = query
    const isFiltered = matches !== undefined || sort.length > 0
    // The limit of a page counts selected fields, so it does not bound the documents that are read.
    if (!isFiltered && fields === undefined && !count) {
      return readPage(deps, where, query, { reserve })
    }
    const { indexes: reader } = repository
    const indexes = isFiltered ? await reader.ready(where) : []
    const plan = planQuery(indexes, { filter, sort, count })
    try {
      const found =
        plan &&
        (await scans.runIndexed(signal, (check) =>
          readByIndex({ reader, nextTurn }, where, plan, query, { reserve, check }),
        ))
      if (found !== undefined) return found
      return await scans.run(signal, (check) => readPage(deps, where, query, { reserve, check }))
    } catch (error) {
      throw error instanceof Failure ? withAdvice(error, { filter, sort }) : error
    }
  }
