import { describe, expect, test } from 'vitest'
import type { EndpointTraffic, NodeTraffic } from '../../../../server/contract/endpoints/traffic.ts'
import {
  formatFigure,
  formatMinute,
  formatTraffic,
  seriesOf,
  type TrafficKind,
  trimUnknownStart,
} from './traffic-series.ts'

const until = Date.UTC(2026, 0, 1, 12, 0, 0)

const node = (over: Partial<NodeTraffic>): NodeTraffic => {
  const zeros = (over.requests ?? over.connections ?? []).map((n) => n && 0)
  return {
    node: 'a',
    requests: zeros,
    errors: zeros,
    bytesIn: zeros,
    bytesOut: zeros,
    connections: zeros,
    ...over,
  }
}

const traffic = (...nodes: NodeTraffic[]): EndpointTraffic => ({
  endpoint: 'tcp://127.0.0.1:8530',
  until: new Date(until).toISOString(),
  sampleSeconds: 5,
  nodes,
})

describe('seriesOf', () => {
  test('returns rates per second and the start of each sample', () => {
    const { times, figures } = seriesOf(traffic(node({ requests: [null, 10, 0] })), 'requests')
    expect(times).toEqual([until / 1_000 - 15, until / 1_000 - 10, until / 1_000 - 5])
    expect(figures[0]?.values).toEqual([null, 2, 0])
  })

  test('sums the nodes that have data', () => {
    const both = traffic(
      node({ connections: [null, 1, 2] }),
      node({ connections: [null, null, 3] }),
    )
    expect(seriesOf(both, 'connections').figures[0]?.values).toEqual([null, 1, 5])
  })
})

describe('trimUnknownStart', () => {
  const drawn = (...requests: (number | null)[]) =>
    requests.length -
    trimUnknownStart(seriesOf(traffic(node({ requests })), 'requests')).times.length
  const unknown = (length: number) => Array.from({ length }, () => null)
  test('starts at the first known sample', () => {
    expect(drawn(...unknown(500), 1, ...Array.from({ length: 219 }, () => 0))).toBe(500)
    expect(drawn(0, ...unknown(718), 1)).toBe(0)
  })
  test('keeps at least ten minutes', () => {
    expect(drawn(...unknown(719), 1)).toBe(600)
    expect(drawn(...unknown(720))).toBe(600)
    expect(drawn(1, 2)).toBe(0)
  })
})

describe('the summary of the chart', () => {
  const rest = Array.from({ length: 20 }, () => 0)
  const hour = Array.from({ length: 720 }, (_, at) => (at === 719 ? 62 : at === 0 ? 5 : 0))
  const minute = formatMinute(until / 1_000 - 5)
  test.each<[string, TrafficKind, Partial<NodeTraffic>, string]>([
    [
      'nothing known',
      'requests',
      { requests: [null, null] },
      'No data yet. The first figures arrive within five seconds.',
    ],
    [
      'an idle start',
      'requests',
      { requests: [null, 0, 0] },
      'No requests in the last 10 seconds.',
    ],
    [
      'idle minutes',
      'requests',
      { requests: [null, ...rest] },
      'No requests in the last 2 minutes.',
    ],
    [
      'one request',
      'requests',
      { requests: [null, 1] },
      `1 request in the last 5 seconds, none rejected or failed; at most 0.2 a second, at ${minute}.`,
    ],
    [
      'an hour',
      'requests',
      { requests: hour, errors: hour.map((n) => (n === 5 ? 1 : 0)) },
      `67 requests in the last hour, 1 rejected or failed; at most 12 a second, at ${minute}.`,
    ],
    [
      'bytes',
      'bytes',
      { requests: [0, 1], bytesIn: [0, 900], bytesOut: [0, 1_250] },
      '900 B received and 1.3 kB sent in the last 10 seconds.',
    ],
    ['no bytes', 'bytes', { requests: [0] }, 'No data received or sent in the last 5 seconds.'],
    ['nobody', 'connections', { connections: [0] }, 'No connections in the last 5 seconds.'],
    [
      'somebody',
      'connections',
      { connections: [0, 3] },
      `At most 3 connections in the last 10 seconds, at ${minute}.`,
    ],
  ])('%s, %s', (_, kind, part, sentence) => {
    expect(formatTraffic(traffic(node(part)), kind)).toBe(sentence)
  })
})

test('an unknown figure is a dash and zero is 0', () => {
  expect(formatFigure('requests', null)).toBe('–')
  expect(formatFigure('requests', 0)).toBe('0')
  expect(formatFigure('requests', 2.44)).toBe('2.4')
  expect(formatFigure('requests', 1_204.4)).toBe('1,204')
})
