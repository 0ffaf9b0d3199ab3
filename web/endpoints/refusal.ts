import { ApiFailure } from '../api.ts'
import type { Faults, Field } from './endpoint-draft.ts'

// Messages end in the system's own code where there is one: "… (EADDRINUSE)".
const byCode: Readonly<Record<string, Field>> = {
  EADDRINUSE: 'port',
  EACCES: 'port',
  EPERM: 'port',
  EADDRNOTAVAIL: 'host',
  ENOTFOUND: 'host',
  EAI_AGAIN: 'host',
  ENODATA: 'host',
  EAFNOSUPPORT: 'host',
}

const CONFLICT = 1200
const MOVED_ON = 412
const DATABASE_NAME = 1229

/** Where in the form a refusal of the server belongs, and its sentence. */
export function placeRefusal(
  error: Error,
  { scheme, adding }: { scheme: 'tcp' | 'ssl' | 'unix'; adding: boolean },
): Faults {
  return { [fieldOf(error, scheme, adding)]: error.message }
}

function fieldOf(error: Error, scheme: 'tcp' | 'ssl' | 'unix', adding: boolean): Field {
  if (!(error instanceof ApiFailure)) return 'form'
  if (error.errorNum === DATABASE_NAME) return 'databases'
  // The address of an endpoint is never edited: whatever is refused then is the mapping.
  if (!adding) return error.errorNum === CONFLICT ? 'databases' : 'form'
  // Asked for as a new one, and it is there already.
  if (error.status === MOVED_ON) return scheme === 'unix' ? 'path' : 'port'
  const code = /\(([A-Z_]+)\)$/.exec(error.message)?.[1]
  const field = code === undefined ? undefined : byCode[code]
  if (scheme === 'unix') return code === undefined && error.errorNum !== CONFLICT ? 'form' : 'path'
  if (field !== undefined) return field
  // What the server says of an address that is well formed, without a code of the system: for ssl
  // that there is no certificate.
  return scheme === 'ssl' && code === undefined && error.status === 400 ? 'scheme' : 'form'
}
