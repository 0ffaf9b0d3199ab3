import type { Socket } from 'node:net'
import pg from 'pg'

/** A statement with its parameters. */
export interface MessageStatement {
  /** Prepares the statement under this name, which is unique for its text. Its rows are arrays. */
  readonly name?: string
  readonly text: string
  readonly values: readonly unknown[]
}

/** Collects the rows of a statement. */
interface Result extends pg.QueryResult {
  addFields(fields: readonly pg.FieldDef[]): void
  parseRow(values: readonly (string | null)[]): pg.QueryResultRow
  addRow(row: pg.QueryResultRow): void
  addCommandComplete(message: unknown): void
}

/** The type parsers of a client. */
type Types = Pick<pg.CustomTypesConfig, 'getTypeParser'>

/** Exports of `pg` for implementations of `Submittable`, which its types omit. */
const { Result, utils } = pg as unknown as {
  readonly Result: new (rowMode: string, types: Types) => Result
  readonly utils: { prepareValue(value: unknown): Buffer | string | null }
}

/** The columns of a prepared statement, and the functions that parse their values. */
interface Columns {
  readonly fields: pg.FieldDef[]
  readonly parsers: readonly ((text: string) => unknown)[]
}

/** Collects the rows of a prepared statement as arrays. */
class PreparedResult extends Result {
  columns: Columns | undefined

  override parseRow(values: readonly (string | null)[]): unknown[] {
    const { columns } = this
    return values.map((value, at) => (value === null ? null : columns?.parsers[at]?.(value)))
  }
}

/**
 * The columns of the prepared statements of a connection, by name. They never change: PostgreSQL
 * rejects a statement whose columns would. So PostgreSQL describes a statement only once.
 */
const described = new WeakMap<Connection, Map<string, Columns>>()

interface Connection {
  readonly stream: Pick<Socket, 'cork' | 'uncork'>
  /** The texts of the prepared statements, by name. */
  readonly parsedStatements: Readonly<Record<string, string>>
  parse(statement: { readonly name: string | undefined; readonly text: string }): void
  bind(parameters: {
    readonly statement: string | undefined
    readonly values: readonly (Buffer | string | null)[]
  }): void
  describe(portal: { readonly type: 'P' }): void
  execute(): void
  sync(): void
  sendCopyFail(reason: string): void
}

/**
 * Statements that run in order, in one round trip. One `Sync` follows them, so PostgreSQL skips
 * those after an error: a `commit` at the end has no effect if a statement before it fails.
 *
 * The methods are called by `client.query`. Its callback receives the results in order.
 */
export class Message implements pg.Submittable {
  /** Set by `client.query`. */
  callback: ((error: unknown, results?: readonly pg.QueryResult[]) => void) | undefined
  readonly #statements: readonly MessageStatement[]
  readonly #results: readonly Result[]
  readonly #types: Types
  #described: Map<string, Columns> | undefined
  /** Index of the statement whose response is being received. */
  #at = 0
  #error: unknown

  /** @param types the type parsers of the client. */
  constructor(statements: readonly MessageStatement[], types: Types) {
    this.#statements = statements
    this.#types = types
    this.#results = statements.map(({ name }) =>
      name === undefined ? new Result('', types) : new PreparedResult('', types),
    )
  }

  /** Name of the statement whose response is being received; `pg` then registers its text. */
  get name(): string | undefined {
    return this.#statements[this.#at]?.name
  }

  get text(): string | undefined {
    return this.#statements[this.#at]?.text
  }

  /** Sends the statements. Returns an error if the parameters are invalid; nothing is sent then. */
  submit(to: unknown): unknown {
    const connection = to as Connection
    let prepared: (Omit<MessageStatement, 'values'> & {
      readonly values: (Buffer | string | null)[]
    })[]
    try {
      prepared = this.#statements.map(({ values, ...statement }) => ({
        ...statement,
        values: values.map(utils.prepareValue),
      }))
    } catch (error) {
      return error
    }
    this.#described = described.get(connection) ?? new Map()
    described.set(connection, this.#described)
    connection.stream.cork()
    for (const [at, { name, text, values }] of prepared.entries()) {
      const isPrepared = name !== undefined && name in connection.parsedStatements
      if (!isPrepared) connection.parse({ name, text })
      connection.bind({ statement: name, values })
      const columns = isPrepared ? this.#described.get(name) : undefined
      if (columns === undefined) connection.describe({ type: 'P' })
      else this.#use(columns, at)
      connection.execute()
    }
    connection.sync()
    connection.stream.uncork()
    return null
  }

  handleRowDescription({ fields }: { readonly fields: pg.FieldDef[] }): void {
    const { name } = this
    if (name === undefined) {
      this.#result.addFields(fields)
      return
    }
    const parsers = fields.map(({ dataTypeID }) => this.#types.getTypeParser(dataTypeID, 'text'))
    const columns = { fields, parsers }
    this.#described?.set(name, columns)
    this.#use(columns, this.#at)
  }

  handleDataRow({ fields: values }: { readonly fields: readonly (string | null)[] }): void {
    try {
      this.#result.addRow(this.#result.parseRow(values))
    } catch (error) {
      this.#error ??= error
    }
  }

  handleCommandComplete(message: unknown): void {
    this.#result.addCommandComplete(message)
    this.#at++
  }

  handleReadyForQuery(): void {
    if (this.#error === undefined) this.callback?.(null, this.#results)
    else this.callback?.(this.#error)
  }

  handleError(error: unknown): void {
    this.callback?.(error)
  }

  handleEmptyQuery(): void {
    this.#at++
  }

  handleCopyInResponse(connection: unknown): void {
    const { sendCopyFail } = connection as Connection
    sendCopyFail.call(connection, 'not supported')
  }

  handleCopyData(): void {}

  handlePortalSuspended(): void {}

  /** Parses the rows of a prepared statement by its columns. */
  #use(columns: Columns, at: number): void {
    const result = this.#results[at] as PreparedResult
    result.columns = columns
    result.fields = columns.fields
  }

  get #result(): Result {
    return this.#results[this.#at] as Result
  }
}
