import { describe, expect, it } from 'vitest'
import { createEventHub } from './hub.ts'

const event = (endpoint: string) => ({ type: 'listener', endpoint }) as const

describe('createEventHub', () => {
  it('returns all events after the last one received', () => {
    const hub = createEventHub()
    const start = hub.lastId
    hub.publish(event('a'))
    const middle = hub.lastId
    hub.publish(event('b'))
    expect(hub.after(start).map(({ event }) => event)).toEqual([event('a'), event('b')])
    expect(hub.after(middle)).toEqual([{ id: hub.lastId, event: event('b') }])
    expect(hub.after(hub.lastId)).toEqual([])
  })

  it('tells a client to reload if missed events are no longer stored', () => {
    const hub = createEventHub(2)
    const start = hub.lastId
    for (const name of ['a', 'b', 'c']) hub.publish(event(name))
    expect(hub.after(start)).toEqual([{ id: hub.lastId, event: { type: 'reset' } }])
    const [reset] = hub.after(start)
    expect(hub.after(reset?.id ?? '')).toEqual([])
  })

  it.each(['', 'nonsense', '00000000-0', '-1', 'x-1'])(
    'tells a client with the unknown id %j to reload',
    (id) => {
      expect(
        createEventHub()
          .after(id)
          .map(({ event }) => event),
      ).toEqual([{ type: 'reset' }])
    },
  )

  it('does not accept an id of another run', () => {
    const before = createEventHub()
    before.publish(event('a'))
    const after = createEventHub()
    after.publish(event('b'))
    expect(after.after(before.lastId).map(({ event }) => event)).toEqual([{ type: 'reset' }])
  })

  it('does not accept an id of the future', () => {
    const hub = createEventHub()
    const ahead = hub.lastId.replace(/[0-9]+$/, '5')
    expect(hub.after(ahead).map(({ event }) => event)).toEqual([{ type: 'reset' }])
  })

  it('calls back until it is unsubscribed', () => {
    const hub = createEventHub()
    let calls = 0
    const unsubscribe = hub.subscribe(() => calls++)
    hub.publish(event('a'))
    unsubscribe()
    hub.publish(event('b'))
    expect(calls).toBe(1)
  })
})
