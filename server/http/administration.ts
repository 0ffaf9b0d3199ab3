import { createMiddleware } from 'hono/factory'
import type { Actor } from '../contract/audit.ts'
import { Failure } from '../failure.ts'
import type { AppEnv } from './env.ts'
import { guardOrigin } from './guard-origin.ts'

/** Whoever administers, as long as nobody has to say who they are. */
const LOCAL: Actor = { name: 'local', by: 'system', address: null }

/** Lets a request administer the server, or throws. */
export type Administration = ReturnType<typeof administration>

/**
 * Who may administer: until there is a sign-in, whoever reaches a listener that only this machine
 * can reach, and is not another web page in somebody's browser.
 *
 * Fails with `forbidden`.
 */
export const administration = (publicOrigin: string | undefined) =>
  createMiddleware<AppEnv>(async (c, next) => {
    if (!c.env.via.loopback) {
      throw new Failure(
        'forbidden',
        'The administration answers on loopback and unix endpoints only, as long as there is no ' +
          'sign-in.',
      )
    }
    guardOrigin(c, publicOrigin)
    c.set('actor', LOCAL)
    await next()
  })
