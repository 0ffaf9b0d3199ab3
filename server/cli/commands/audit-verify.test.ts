import { describe, expect, test } from 'vitest'
import { entry, recordAll } from '../../audit/audit.testing.ts'
import { forEngine } from '../../storage/test-support/each-engine.testing.ts'
import { verifyAuditLog } from './audit-verify.ts'

forEngine('sqlite', (engine) => {
  describe('gatehouse audit verify', () => {
    test('returns the value for --last, and accepts the hash alone', async () => {
      const store = await engine.open()
      expect(await verifyAuditLog(store, undefined)).toBe('0:')
      await recordAll(store, [entry(), entry()])
      expect(await verifyAuditLog(store, '0:')).toMatch(/^2:[0-9a-f]{64}$/)
      const known = await verifyAuditLog(store, undefined)
      await recordAll(store, [entry()])
      expect(await verifyAuditLog(store, known)).toMatch(/^3:/)
      expect(await verifyAuditLog(store, known.slice(2))).toMatch(/^3:/)
    })

    test('names the first invalid row', async () => {
      const store = await engine.open()
      await recordAll(store, [entry(), entry(), entry()])
      const known = await verifyAuditLog(store, undefined)
      await expect(verifyAuditLog(store, `2:${known.slice(2)}`)).rejects.toMatchObject({
        code: 'conflict',
        message: 'Row 2 does not have the given hash: the log was rewritten.',
      })
      await store.db.deleteFrom('audit').where('seq', '=', 3).execute()
      await expect(verifyAuditLog(store, undefined)).rejects.toMatchObject({
        code: 'conflict',
        message: 'Row 3 is missing: the log was truncated; 3 rows were written.',
      })
    })

    test.each(['', '3', '3:', 'x', `${'a'.repeat(64)} `, `-1:${'a'.repeat(64)}`])(
      'rejects --last %j',
      async (last) => {
        const store = await engine.open()
        const refused = verifyAuditLog(store, last)
        await expect(refused).rejects.toMatchObject({ code: 'bad-parameter' })
      },
    )
  })
})
