import type { Attack } from '../attack.ts'

const DOCUMENTS = 20_000
const COLUMNS = 999

export const attack: Attack = {
  name: 'a viewer exports small documents with 1,000 columns',
  isLong: true,
  async prepare({ send, createToken }) {
    const lines = Array.from({ length: DOCUMENTS }, (_, n) => `{"f${n % COLUMNS}":1}\n`)
    const ndjson = { headers: { 'Content-Type': 'application/x-ndjson' } }
    await send('POST', '/wide', lines.join(''), ndjson)
    const token = await createToken('viewer')
    const headers = { Authorization: `Bearer ${token}`, Accept: 'text/csv' }
    return () => Promise.all([1, 2].map(() => send('GET', '/wide', undefined, { headers })))
  },
}
