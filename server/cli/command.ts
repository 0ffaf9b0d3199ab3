import type { Config } from './config.ts'
import type { Invocation } from './program.ts'

/** A command with the configuration that it runs with. */
export interface CommandContext extends Omit<Invocation, 'settings'> {
  readonly config: Config
  /** Folder of the checkout or of the installed package. */
  readonly root: string
  readonly version: string
}

/** Carries out a command. Returns the lines to print. */
export type RunCommand = (context: CommandContext) => Promise<readonly string[]>
