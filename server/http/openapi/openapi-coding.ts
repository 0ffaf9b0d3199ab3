// The content codings in the OpenAPI description, which apply to every operation.

import { CODINGS } from '../../contract/content-coding.ts'
import type { Described, Operation } from './openapi-objects.ts'

export const CODING_COMPONENTS = {
  parameters: {
    AcceptEncoding: {
      name: 'Accept-Encoding',
      in: 'header',
      description: 'The codings that the client accepts for a response of at least 1 KiB.',
      schema: { type: 'string' },
      example: 'zstd, br, gzip',
    },
    ContentEncoding: {
      name: 'Content-Encoding',
      in: 'header',
      description: 'gzip, if the body is compressed.',
      schema: { type: 'string', enum: ['gzip', 'identity'] },
    },
  },
  headers: {
    ContentEncoding: {
      description: 'The coding of a compressed body. ETag then ends with its name.',
      schema: { type: 'string', enum: [...CODINGS] },
    },
    Vary: {
      description:
        'Accept, if the response depends on it, and Accept-Encoding, if the body could be compressed.',
      schema: { type: 'string' },
    },
  },
} as const

const parameter = (name: keyof typeof CODING_COMPONENTS.parameters) => ({
  $ref: `#/components/parameters/${name}`,
})
const header = (name: keyof typeof CODING_COMPONENTS.headers) => ({
  $ref: `#/components/headers/${name}`,
})

/** Returns the parameters for the codings of an operation's bodies. */
export const codingParameters = ({ requestBody }: Operation): Described[] => [
  parameter('AcceptEncoding'),
  ...(requestBody === undefined ? [] : [parameter('ContentEncoding')]),
]

/** Adds the headers of compressed responses, and `Vary` to 304 responses. */
export const withCodingHeaders = (
  responses: Readonly<Record<string, Described>>,
): Record<string, Described> =>
  Object.fromEntries(
    Object.entries(responses).map(([key, response]) => {
      const { content } = response as { content?: Described }
      // Event streams are never compressed.
      const coding = content !== undefined &&
        !Object.hasOwn(content, 'text/event-stream') && {
          'Content-Encoding': header('ContentEncoding'),
          Vary: header('Vary'),
        }
      const unchanged = key === '304' && { Vary: header('Vary') }
      if (!coding && !unchanged) return [key, response]
      const headers = { ...coding, ...unchanged, ...(response.headers as Described | undefined) }
      return [key, { ...response, headers }]
    }),
  )
