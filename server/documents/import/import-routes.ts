import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import {
  CSV_SEPARATORS,
  CSV_TYPES,
  type CsvSeparator,
  type ImportResponse,
  ON_CONFLICT,
  type OnConflict,
} from '../../contract/import.ts'
import { singleValue } from '../../contract/query/query-parameter.ts'
import type { ImportFormat } from '../../contract/records/import-record.ts'
import { Failure } from '../../failure.ts'
import type { AppEnv } from '../../http/env.ts'
import { callerIdOf } from '../../http/guards/require-role.ts'
import { requireUtf8 } from '../../http/input/body/json-body.ts'
import { bodyChunks } from '../../http/input/body/request-body.ts'
import { conditionsOf, requireNoConditions } from '../../http/input/headers.ts'
import { prefersAsync, prefersRepresentation, REPRESENTATION } from '../../http/input/prefer.ts'
import { searchParameters } from '../../http/input/url.ts'
import { jsonHeaders } from '../../http/output/content-negotiation.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import { acceptedResponse, auditOf } from '../collections/whole-collection-routes.ts'
import type { RecordEnd } from '../record-end.ts'
import { ImportTally } from './import-tally.ts'
import type { Importer } from './importer.ts'
import { pacedRecords, readRecords } from './read-records.ts'
import { type BeginImport, storedParts } from './stored-part.ts'

export interface ImportHandlerDeps {
  readonly importer: Pick<Importer, 'run'>
  readonly beginImport: BeginImport
  readonly recordEnd: Pick<RecordEnd, 'of'>
  readonly collectionOf: (c: Context<AppEnv>) => CollectionRef
}

/** Returns the handler of `POST /<collection>` for NDJSON and CSV. Other bodies are passed on. */
export function importHandler(deps: ImportHandlerDeps) {
  const { importer, beginImport, recordEnd, collectionOf } = deps
  return createMiddleware<AppEnv>(async (c, next) => {
    const format = formatOf(c.req.header('Content-Type'))
    const parameters = searchParameters(c)
    if (format === undefined) {
      const name = parameters.keys().find((each) => each !== 'on-conflict')
      if (name === undefined) return next()
      throw badParameter(
        name,
        PARAMETERS.csv.includes(name)
          ? `${name} applies to imports, whose body is NDJSON or CSV.`
          : `A request that creates documents from JSON has no parameter ${JSON.stringify(name.slice(0, 64))}, only on-conflict.`,
      )
    }
    const headers = jsonHeaders(c)
    const where = collectionOf(c)
    requireKnown(parameters, PARAMETERS[format])
    const onConflict = parseOnConflict(parameters)
    const separator = parseSeparator(parameters)
    const types = parseChoice(parameters, 'csv-types', CSV_TYPES) ?? 'auto'
    requireNoConditions(conditionsOf(c), 'imports')
    const records = pacedRecords(readRecords(bodyChunks(c), format, { separator, types }))
    const audit = auditOf(c, 'collection.import')
    if (prefersAsync(c)) {
      const parts = storedParts(records)
      const caller = callerIdOf(c)
      return acceptedResponse(c, await beginImport(where, { onConflict, audit }, parts, caller))
    }
    const lists = prefersRepresentation(c)
    const tally = new ImportTally(undefined, lists)
    const result = await recordEnd.of(
      audit,
      () => tally.result,
      () => importer.run(where, records, onConflict, c.req.raw.signal, tally),
    )
    const { documents } = tally
    return c.json(
      { ...result, ...(documents !== undefined && { documents }) } satisfies ImportResponse,
      200,
      { ...headers, ...(lists && REPRESENTATION) },
    )
  })
}

/** Matches the media types of imports. */
const TYPE = /^(application\/x-ndjson|text\/csv)\s*(?:;|$)/i

/** Matches other names of these formats. They would be rejected as types other than JSON. */
const OTHER_NAME =
  /^(?:application|text)\/(?:x-)?(?:(ndjson|jsonl|json-?lines)|csv|comma-separated-values)\s*(?:;|$)/i

/**
 * @throws Failure `unsupported-media-type` for a charset other than UTF-8, or another name of a
 * format.
 */
function formatOf(type = ''): ImportFormat | undefined {
  const [, name] = TYPE.exec(type) ?? []
  if (name === undefined) {
    const [other, ndjson] = OTHER_NAME.exec(type) ?? []
    if (other === undefined) return undefined
    throw new Failure(
      'unsupported-media-type',
      ndjson === undefined
        ? 'To import CSV, send Content-Type: text/csv.'
        : 'To import NDJSON, send Content-Type: application/x-ndjson.',
      { field: 'Content-Type' },
    )
  }
  requireUtf8(type)
  return name.toLowerCase() === 'text/csv' ? 'csv' : 'ndjson'
}

const PARAMETERS: Readonly<Record<ImportFormat, readonly string[]>> = {
  ndjson: ['on-conflict'],
  csv: ['on-conflict', 'csv-separator', 'csv-types'],
}

/** @throws Failure `bad-parameter` for other parameters, which are probably a mistake. */
export function requireKnown(parameters: URLSearchParams, known: readonly string[]): void {
  const name = parameters.keys().find((each) => !known.includes(each))
  if (name === undefined) return
  throw badParameter(
    name,
    `This import has no parameter ${JSON.stringify(name.slice(0, 64))}, only ${known.join(' and ')}.`,
  )
}

/** @throws Failure `bad-parameter` */
export const parseOnConflict = (parameters: URLSearchParams): OnConflict =>
  parseChoice(parameters, 'on-conflict', ON_CONFLICT) ?? 'fail'

const parseSeparator = (parameters: URLSearchParams): CsvSeparator =>
  parseChoice(parameters, 'csv-separator', SEPARATORS) ?? 'comma'

const SEPARATORS = Object.keys(CSV_SEPARATORS) as CsvSeparator[]

function parseChoice<Choice extends string>(
  parameters: URLSearchParams,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  const value = singleValue(name, parameters.getAll(name))
  if (value === undefined) return undefined
  const found = choices.find((choice) => choice === value)
  if (found !== undefined) return found
  throw badParameter(name, `${name} must be one of ${choices.join(', ')}.`)
}

const badParameter = (field: string, message: string) =>
  new Failure('bad-parameter', message, { field })
