import { isDeepStrictEqual } from 'node:util'
import type { StoreLocation } from '../../../storage/open.ts'
import { pick, type Random } from '../settings.testing.ts'
import { createAccess } from './access.testing.ts'
import { backUp } from './backup.testing.ts'
import { runReadingCommand } from './commands.testing.ts'
import { changeIndex, changeSchema } from './constraints.testing.ts'
import { createDatabase, dropDatabase, readDatabases } from './databases.testing.ts'
import { changeDocument, changeMatching } from './documents.testing.ts'
import { createEndpoints } from './endpoints.testing.ts'
import { createMany, importDatabase, importMany } from './imports.testing.ts'
import { runJob } from './jobs.testing.ts'
import {
  type Call,
  type CommandOperation,
  type Model,
  NAMES,
  type Operation,
} from './model.testing.ts'
import { queryDocuments } from './queries.testing.ts'

/** One of this many operations on the store is a backup. */
const BACKUP_IN = 30

/** The operations on a server, and the state that they change. */
export interface Operations {
  /** The state at the start. */
  readonly initial: Model
  /** Returns an operation that the server can carry out in the given state. */
  choose(model: Model, random: Random, value: number): Promise<Operation | CommandOperation>
  /** Reads the state of the server. */
  read(): Promise<Model>
  /** Returns whether a node has applied the databases and endpoints of the model. */
  isCurrent(model: Model): Promise<boolean>
  /** Checks the credentials of all people and tokens. */
  checkCredentials(model: Model): Promise<void>
  /** The audit rows of sessions that were ended. */
  readonly endedSessions: readonly string[]
  /** Ends what an interrupted operation has left in this process. */
  cleanUp(): void
}

/**
 * Creates the {@link Operations} of a server with an empty store.
 *
 * @param folder of the sockets of endpoints, and of backups
 * @param admins the endpoints of each node
 * @param port of one of them
 * @param token of the operator
 */
export async function createOperations(
  location: StoreLocation,
  folder: string,
  admins: readonly string[],
  port: number,
  token: string,
  call: Call,
): Promise<Operations> {
  const access = await createAccess(location, port, call)
  const endpoints = await createEndpoints(folder, admins, token, call)
  return {
    initial: { databases: {}, endpoints: {}, people: access.people, tokens: {} },
    async choose(model, random, value) {
      switch (random(22)) {
        case 0:
        case 1:
          return endpoints.change(model, random)
        case 2:
          return access.changeRole(model, random)
        case 3:
        case 4:
          return access.changeToken(model, random, value)
        case 5:
          return access.endSession(model, random)
        case 6:
          return random(3) > 0
            ? runReadingCommand(model, random, admins)
            : access.renewOperatorKey(model)
      }
      if (random(BACKUP_IN) === 0) return backUp(model, location, folder, admins)
      const name = pick(random, NAMES)
      if (model.databases[name] === undefined) return createDatabase(model, name)
      switch (random(17)) {
        case 0:
          return dropDatabase(model, name)
        case 1:
          return changeIndex(model, name, random, value, call)
        case 2:
          return changeSchema(model, name, random, value, call)
        case 3:
          return changeMatching(model, name, random, value)
        case 4:
        case 5:
          return runJob(model, name, random, value, call)
        case 6:
          return pick(random, [createMany, importMany])(model, name, random, value)
        case 7:
          return importDatabase(model, name, random, value, call)
        case 8:
        case 9:
          return queryDocuments(model, name, random, value, call)
        default:
          return changeDocument(model, name, random, value, call)
      }
    },
    read: async () => ({
      databases: await readDatabases(call),
      endpoints: await endpoints.read(),
      ...(await access.read()),
    }),
    async isCurrent({ databases, endpoints: expected }) {
      const list: { name: string }[] = (await call('GET', '/_api/database')).json
      const names = list.map(({ name }) => name).filter((name) => name !== '_system')
      return (
        isDeepStrictEqual(names.sort(), Object.keys(databases).sort()) &&
        isDeepStrictEqual(await endpoints.read(), expected)
      )
    },
    checkCredentials: (model) => access.check(model),
    endedSessions: access.endedSessions,
    cleanUp: endpoints.cleanUp,
  }
}
