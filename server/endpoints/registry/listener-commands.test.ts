import { expect, test } from 'vitest'
import { Failure } from '../../failure.ts'
import type { Listener } from '../listeners/listener.ts'
import { createListenerCommands } from './listener-commands.ts'
import type { ListenerSet } from './listener-set.ts'
import type { Peers } from './placement/peers.ts'

const ADDRESS = 'tcp://127.0.0.1:8530'

/** Returns commands to a failed listener, and the steps that they take. */
function createCommands(retry: () => Promise<void>) {
  const steps: string[] = []
  const listener = { name: ADDRESS, state: 'failed' } as Listener
  const commands = createListenerCommands(
    { get: () => listener } as Pick<ListenerSet, 'get'> as ListenerSet,
    async () => {
      await retry()
      steps.push('retried')
    },
    {
      async sendCommand() {
        steps.push('sent')
        return 1
      },
    } as Pick<Peers, 'sendCommand'> as Peers,
  )
  return { commands, steps }
}

test('a retry opens the listener of this node before another one on this host can take its port', async () => {
  const { commands, steps } = createCommands(() => new Promise(setImmediate))
  await commands.retry(ADDRESS)
  expect(steps).toEqual(['retried', 'sent'])
})

test('a retry that fails on this node is sent to the others too', async () => {
  const failure = new Failure('conflict', 'The port is taken.')
  const { commands, steps } = createCommands(() => Promise.reject(failure))
  await expect(commands.retry(ADDRESS)).rejects.toBe(failure)
  expect(steps).toEqual(['sent'])
})
