import type { Attack } from '../attack.ts'

const JOBS = 50

export const attack: Attack = {
  name: 'a viewer lists 100,000 documents by 50 jobs',
  async prepare({ send, createToken }) {
    const array = JSON.stringify(Array.from({ length: 100_000 }, (_, n) => ({ n })))
    const { headers } = await send('POST', '/many', array)
    while ((await send('GET', String(headers.location))).status === 206) {
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    const token = await createToken('viewer')
    const Authorization = `Bearer ${token}`
    return async () => {
      const begun = await Promise.all(
        Array.from({ length: JOBS }, () =>
          send('GET', '/many?n=7', undefined, {
            headers: { Authorization, Prefer: 'respond-async' },
          }),
        ),
      )
      for (const { status, headers } of begun) {
        if (status !== 202) continue
        const path = String(headers.location)
        while (
          (await send('GET', path, undefined, { headers: { Authorization } })).status === 206
        ) {
          await new Promise((resolve) => setTimeout(resolve, 100))
        }
      }
    }
  },
}
