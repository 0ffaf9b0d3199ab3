import { expect } from 'vitest'
import { type ApiOperation, COMMON_HEADERS } from './api-description.testing.ts'

/** A response, with the names of its headers in lower case. */
export interface ReceivedResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

/** Returns the operation of a request to the data API; undefined for other paths and methods. */
export function operationOf(
  operations: readonly ApiOperation[],
  method: string,
  target: string,
): ApiOperation | undefined {
  const path = target.replace(/[?#].*$/s, '').replace(/^\/_db\/[^/]+/, '')
  const segments = path.split('/')
  const matches = (template: string) => {
    const names = template.split('/')
    return (
      names.length === segments.length &&
      names.every((name, at) => name.startsWith('{') || name === segments[at])
    )
  }
  const isLiteral = ({ path }: ApiOperation) => !path.startsWith('/{')
  const found = operations.filter((each) => !each.path.startsWith('/_api/') && matches(each.path))
  const candidates = path.startsWith('/_') ? found.filter(isLiteral) : found
  return candidates.find((each) => each.method === (method === 'HEAD' ? 'GET' : method))
}

/** Expects the status, headers, media type and JSON of a response to be described. */
export function expectDescribed(
  operation: ApiOperation,
  { status, headers, text }: ReceivedResponse,
): void {
  const name = `${operation.method} ${operation.path} ${status}`
  const described = operation.response(status)
  if (described === undefined) throw new Error(`The description lacks ${name}.`)
  const unknown = Object.keys(headers).filter(
    (header) => !COMMON_HEADERS.has(header) && !described.headers.has(header),
  )
  expect([name, unknown]).toEqual([name, []])
  if (text === '') return
  const type = String(headers['content-type']).split(';')[0] ?? ''
  expect([name, described.types]).toEqual([name, expect.arrayContaining([type])])
  if (type === 'application/json')
    expect([name, described.violations(JSON.parse(text))]).toEqual([name, undefined])
}
