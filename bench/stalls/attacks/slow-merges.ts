import type { Attack, AttackedNode } from '../attack.ts'

/** Backtracks: each further letter doubles the time. Text that it does not match is valid here. */
const SCHEMA = { properties: { a: { not: { pattern: '^(a+)+$' } } } }
/** Approximate time of one check of the attack, ms; short enough not to be stopped. */
const SLOW = 50

export const attack: Attack = {
  name: '250 merges that a pattern makes slow',
  isLong: true,
  async prepare(node) {
    const documents = Array.from({ length: 250 }, (_, at) => ({ id: `d${at}` }))
    await node.send('POST', '/merges', documents)
    await node.send('PUT', '/_schema/merges', SCHEMA)
    const patch = await findSlowPatch(node)
    return () => node.send('PATCH', '/merges', patch)
  },
}

async function findSlowPatch({ send }: AttackedNode) {
  await send('PUT', '/_schema/trials', SCHEMA)
  for (let length = 16; ; length++) {
    const patch = { a: `${'a'.repeat(length)}!` }
    // The first request compiles the pattern.
    await send('POST', '/trials', patch)
    const begun = performance.now()
    await send('POST', '/trials', patch)
    if (performance.now() - begun > SLOW) return patch
  }
}
