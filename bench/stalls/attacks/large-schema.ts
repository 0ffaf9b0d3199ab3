import type { Attack } from '../attack.ts'

export const attack: Attack = {
  name: 'schemas of 56 KB with allOf, 3 times',
  async prepare({ send }) {
    const allOf = Array.from({ length: 2_200 }, (_, n) => ({ required: [`p${n}`] }))
    return async () => {
      for (let n = 0; n < 3; n++) await send('PUT', `/_schema/large${n}`, { allOf })
    }
  },
}
