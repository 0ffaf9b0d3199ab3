import * as z from 'zod/mini'
import type { Address, AddressPart } from './address.ts'

/** Body of `POST /_api/endpoint-check`. */
export const endpointCheckInput = z.object({
  endpoint: z.string().check(z.describe('the address to check, such as tcp://127.0.0.1:8530')),
})

/**
 * Response of `POST /_api/endpoint-check`: whether an endpoint could be opened there now. The
 * address is not reserved.
 */
export const endpointCheck = z.object({
  available: z.boolean(),
  node: z
    .string()
    .check(z.describe('the node that checked it; other nodes may give another result')),
  field: z
    .nullable(z.enum(['scheme', 'host', 'port', 'path']))
    .check(z.describe('the part of the address that is invalid or unavailable; null if available')),
  systemCode: z
    .nullable(z.string())
    .check(z.describe('the error code of the operating system, such as EADDRINUSE, or null')),
  message: z.nullable(z.string()).check(z.describe('the reason; null if available')),
  endpoint: z
    .nullable(z.string())
    .check(z.describe('the endpoint of this server that uses the address, or null')),
})

export type EndpointCheck = z.infer<typeof endpointCheck>

const partOfCode: Readonly<Record<string, 'host' | 'port'>> = {
  EADDRINUSE: 'port',
  EACCES: 'port',
  EPERM: 'port',
  EADDRNOTAVAIL: 'host',
  EAFNOSUPPORT: 'host',
  EINVAL: 'host',
  ENOTFOUND: 'host',
  EAI_AGAIN: 'host',
  ENODATA: 'host',
  ETIMEDOUT: 'host',
}

/** The part without a system error code: a missing certificate or an unsafe socket folder. */
const partWithoutCode = { tcp: 'host', ssl: 'scheme', unix: 'path' } as const

/** Returns the part of a rejected address that its system error code, if any, refers to. */
export function partOfSystemCode(
  scheme: Address['scheme'],
  code: string | undefined,
): AddressPart | undefined {
  if (code === undefined || scheme === 'unix') return partWithoutCode[scheme]
  return partOfCode[code]
}
