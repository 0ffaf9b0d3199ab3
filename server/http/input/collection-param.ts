import type { Context } from 'hono'
import { isCollectionName } from '../../contract/document.ts'
import type { AppEnv } from '../env.ts'
import { notCollectionName } from '../output/no-route.ts'
import { pathParam } from './path-param.ts'

/**
 * Creates a reader of the collection in a request's path.
 *
 * @param idOf returns the id of an existing database.
 * @throws Failure `not-found`
 */
export const createCollectionParam =
  (idOf: (database: string) => string) =>
  (c: Context<AppEnv>): { readonly database: string; readonly collection: string } => {
    const collection = pathParam(c, 'collection')
    if (!isCollectionName(collection)) throw notCollectionName(collection)
    return { database: idOf(c.get('database')), collection }
  }
