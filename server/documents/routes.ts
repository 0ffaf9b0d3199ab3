import { Hono } from 'hono'
import { COLLECTION_PARAMETER } from '../contract/document.ts'
import type { AppEnv } from '../http/env.ts'
import { createCollectionParam } from '../http/input/url.ts'
import { wholeCollectionRoutes } from './collections/whole-collection-routes.ts'
import { type CreationRoutesDeps, creationRoutes } from './creation-routes.ts'
import { type DocumentRoutesDeps, documentRoutes } from './document-routes.ts'
import { type ListingRoutesDeps, listingRoutes } from './listing-routes.ts'

export interface DataRoutesDeps extends DocumentRoutesDeps, ListingRoutesDeps, CreationRoutesDeps {}

/**
 * Returns the routes of `/<collection>` and `/<collection>/<id>` in every database
 * (docs/http-api.md, "Documents").
 */
export const dataRoutes = (deps: DataRoutesDeps) =>
  new Hono<AppEnv>()
    .route('/', documentRoutes(deps))
    .route('/', listingRoutes(deps))
    .route('/', creationRoutes(deps))
    .route(
      '/',
      wholeCollectionRoutes(`/${COLLECTION_PARAMETER}`, {
        collections: deps.wholeCollections,
        requireRole: deps.requireRole,
        collectionOf: createCollectionParam(deps.idOf),
      }),
    )
