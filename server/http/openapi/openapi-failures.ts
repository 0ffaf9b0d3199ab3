import type { Described, Operation } from './openapi-objects.ts'

const apiFailure = (description: string): Described => ({
  description,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
})

/** The failures of operations under `/_api`. Those of documents have the same names without `Api`. */
export const API_FAILURES = {
  ApiBadRequest: apiFailure('The request is malformed, or this is not the database _system.'),
  ApiUnauthorized: apiFailure('The request has no valid credentials.'),
  ApiForbidden: apiFailure('The role or the scope of the credentials does not permit this.'),
  ApiRequestTimeout: apiFailure('The body arrived too slowly.'),
  ApiMisdirected: apiFailure('A session cookie was sent to a host name of another server.'),
  ApiTooLarge: apiFailure('The body is larger than 1 MiB.'),
  ApiUnsupportedMediaType: apiFailure('The body is not JSON, or has an unsupported coding.'),
  ApiInvalid: apiFailure(
    'The JSON of the body is nested too deeply, has too many objects and arrays, or is not representable.',
  ),
  ApiTooManyRequests: apiFailure('A rate limit is exceeded.'),
  ApiUnavailable: apiFailure('The database is unavailable.'),
  ApiStorageFull: apiFailure('The disk is full.'),
}

const EVERYWHERE = { '400': 'BadRequest', '503': 'Unavailable' }
const WITH_CREDENTIALS = {
  '401': 'Unauthorized',
  '403': 'Forbidden',
  '421': 'Misdirected',
  '429': 'TooManyRequests',
}
const OF_DATABASE = { '404': 'NotFound' }
const WITH_BODY = {
  '408': 'RequestTimeout',
  '413': 'TooLarge',
  '415': 'UnsupportedMediaType',
  '422': 'Invalid',
}
const OF_CHANGE = { '507': 'StorageFull' }

/** Returns the failures that the path, method, body and permission of an operation imply. */
export function failuresOf(
  path: string,
  method: string,
  { requestBody }: Operation,
  permission: string,
): Record<string, Described> {
  const prefix = path.startsWith('/_api/') ? 'Api' : ''
  const failures = {
    ...EVERYWHERE,
    ...(permission === 'public' ? {} : WITH_CREDENTIALS),
    ...(prefix === '' ? OF_DATABASE : {}),
    ...(requestBody === undefined ? {} : WITH_BODY),
    ...(method === 'get' ? {} : OF_CHANGE),
  }
  return Object.fromEntries(
    Object.entries(failures).map(([status, name]) => [
      status,
      { $ref: `#/components/responses/${prefix}${name}` },
    ]),
  )
}
