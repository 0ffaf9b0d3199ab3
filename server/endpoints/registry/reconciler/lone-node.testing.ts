import { createRecorder } from '../../../audit/record.ts'
import { createTestCertificates } from '../../../certificates/certificates.testing.ts'
import type { Store } from '../../../storage/store.ts'
import { createHttpEngine } from '../../listeners/http-engine.ts'
import type { Listener } from '../../listeners/listener.ts'
import type { Peers } from '../placement/peers.ts'
import { createEndpointRegistry, type EndpointRegistry } from '../registry.ts'

/** Peers of a node that is alone, on a database that others may change. */
const noPeers: Peers = {
  node: 'a',
  any: false,
  listenOnThisHost: () => false,
  report: () => {},
  forget: () => {},
  sendCommand: async () => 0,
  requireOtherAdminAccess: async () => {},
}

/** Returns the registry of a node without peers. `isShared`: other nodes may join its database. */
export const createLoneRegistry = (store: Store, isShared: boolean): EndpointRegistry =>
  createEndpointRegistry({
    store,
    record: createRecorder(),
    engine: createHttpEngine<Listener>(),
    certificates: createTestCertificates(),
    publish: () => {},
    grace: 0,
    ...(isShared && { peers: noPeers }),
  })
