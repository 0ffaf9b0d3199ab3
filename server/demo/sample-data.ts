// The contents of a demo: four databases, and fifteen endpoints of every kind and state.

import type { PolicyInput } from '../contract/endpoints/policy.ts'
import type { Json } from '../contract/json/json.ts'

type JsonFields = Readonly<Record<string, Json>>

/** A collection of the demo, in the form `database/collection`, with its documents. */
export type SampleCollection = readonly [path: string, documents: readonly JsonFields[]]

const AUTHORS = ['ada', 'otto', 'edith', 'vera'] as const
const PRODUCTS = ['Lamp', 'Chair', 'Desk', 'Shelf', 'Clock', 'Kettle', 'Mirror', 'Basket'] as const
const COLORS = ['oak', 'white', 'black', 'blue', 'green', 'red'] as const
const STATES = ['paid', 'packed', 'sent', 'delivered', 'returned'] as const
const TOPICS = ['release', 'performance', 'security', 'guide', 'interview'] as const
const PLACES = ['berlin', 'lisbon', 'oslo', 'turin'] as const

const pick = <T>(values: readonly T[], at: number): T => values[at % values.length] as T

const make = (count: number, toDocument: (at: number) => JsonFields): JsonFields[] =>
  Array.from({ length: count }, (_, at) => toDocument(at + 1))

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()

/** Returns the documents of the demo: 2,550 in four databases. */
export const sampleCollections = (): readonly SampleCollection[] => [
  [
    'shop/products',
    make(400, (at) => ({
      id: `p-${at}`,
      name: `${pick(PRODUCTS, at)} in ${pick(COLORS, Math.floor(at / PRODUCTS.length))}`,
      price: 9.5 + ((at * 37) % 400),
      stock: (at * 13) % 90,
      listed: at % 11 !== 0,
    })),
  ],
  [
    'shop/orders',
    make(900, (at) => ({
      id: `o-${at}`,
      product: `p-${1 + ((at * 7) % 400)}`,
      quantity: 1 + (at % 4),
      state: pick(STATES, at),
      ordered: daysAgo(at / 30),
    })),
  ],
  [
    'blog/articles',
    make(60, (at) => ({
      id: `a-${at}`,
      title: `${pick(['Notes on', 'More about', 'A look at'], at)} ${pick(TOPICS, at)}, part ${at}`,
      author: pick(AUTHORS, at),
      tags: [pick(TOPICS, at), pick(TOPICS, at + 2)],
      published: daysAgo(at * 2),
    })),
  ],
  [
    'blog/comments',
    make(240, (at) => ({
      id: `c-${at}`,
      article: `a-${1 + (at % 60)}`,
      author: pick(AUTHORS, at * 3),
      text: `Thank you for part ${1 + (at % 60)}.`,
    })),
  ],
  [
    'sensors/readings',
    make(800, (at) => ({
      id: `r-${at}`,
      place: pick(PLACES, at),
      celsius: 12 + ((at * 17) % 140) / 10,
      at: daysAgo(at / 96),
    })),
  ],
  [
    'support/tickets',
    make(150, (at) => ({
      id: `t-${at}`,
      subject: `${pick(PRODUCTS, at)} arrived ${pick(['late', 'broken', 'twice', 'early'], at)}`,
      open: at % 3 === 0,
      assignee: at % 3 === 0 ? null : pick(AUTHORS, at),
    })),
  ],
]

/** Databases of the demo, in order of their creation. */
export const SAMPLE_DATABASES = ['shop', 'blog', 'sensors', 'support'] as const

/** The name of a certificate that the local authority issues. */
export const SAMPLE_CERTIFICATE = 'this-machine'

/** An endpoint of the demo. The address has the next free port if it is not given. */
export interface SampleEndpoint {
  readonly address?: string
  readonly scheme?: 'ssl'
  readonly databases: readonly string[]
  readonly policy?: PolicyInput
  /** Whether another program uses its port, so that the endpoint fails. */
  readonly isTaken?: boolean
}

/** Returns the endpoints of the demo after the first one, which serves all databases. */
export const sampleEndpoints = (socket: string): readonly SampleEndpoint[] => [
  { databases: ['shop'] },
  {
    databases: ['shop'],
    policy: {
      note: 'Catalogue for the web shop',
      readOnly: true,
      administration: false,
      anonymous: { read: ['products'] },
      cors: { origins: ['https://shop.example'] },
      rateLimit: { requestsPerSecond: 200, by: 'client' },
    },
  },
  {
    databases: ['blog'],
    policy: {
      note: 'Public blog',
      readOnly: true,
      anonymous: { read: true },
      administration: false,
    },
  },
  { databases: ['blog', 'shop'] },
  { databases: ['sensors'], policy: { note: 'Gateways in the field', maxBodyBytes: 16_384 } },
  {
    databases: ['sensors'],
    policy: {
      note: 'Dashboard',
      readOnly: true,
      rateLimit: { requestsPerSecond: 20, by: 'token' },
    },
  },
  { databases: ['support'], policy: { allow: ['127.0.0.0/8', '10.0.0.0/8', '::1'] } },
  {
    databases: ['support'],
    policy: { note: 'Partner, until Friday', closesIn: '52h', allow: ['203.0.113.0/24'] },
  },
  { databases: ['shop', 'archive'] },
  {
    scheme: 'ssl',
    databases: ['support', 'shop', 'blog'],
    policy: { tls: { certificates: [SAMPLE_CERTIFICATE] } },
  },
  { databases: ['blog'], policy: { note: 'Staging', enabled: false } },
  { databases: ['sensors'], isTaken: true },
  { databases: [], policy: { note: 'Second way to the console', maxConnections: 50 } },
  { address: `unix://${socket}`, databases: ['sensors'] },
]
