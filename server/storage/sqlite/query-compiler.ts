import { type LimitNode, SqliteQueryCompiler } from 'kysely'

/** Compiles `limit` like `limit-rows.ts`, so that a prepared statement keeps its plan. */
export class StableQueryCompiler extends SqliteQueryCompiler {
  protected override visitLimit(node: LimitNode): void {
    this.append('limit cast(')
    this.visitNode(node.limit)
    this.append(' as integer)')
  }
}
