import type { JsonWebKey } from 'node:crypto'
import type { Dialect } from '../operations.ts'
import type { ServerProcess } from '../run/server-process.ts'
import type { Setting } from '../setting.ts'
import type { CompanyOperation } from './figures.ts'

/** A running server of the comparison. */
export interface CompanyProcess extends ServerProcess {
  /** How its requests differ from ours. */
  readonly dialect?: Dialect
  /** The ports of operations that it does not serve at `port`. */
  readonly ports?: Partial<Readonly<Record<CompanyOperation, number>>>
}

/** A server of the comparison. */
export interface CompanyServer {
  readonly name: string
  readonly version: string
  /** Operations that it does not support. */
  readonly lacks?: readonly CompanyOperation[]
  /** Operations that need a configuration of their own, and with it a start of their own. */
  readonly apart?: readonly CompanyOperation[]
  /** Warm-up as a multiple of that of the others, for a compiler that needs it. Default: 1. */
  readonly warmup?: number
  /** The path of its public keys. By default it signs with the key of the setting. */
  readonly jwks?: string
  /** Starts it, on the core of the servers. */
  readonly launch: (setting: Setting) => Promise<CompanyProcess>
  /** Returns the bytes of what is installed. */
  readonly disk: () => number
}

/** The public keys that a server publishes. */
export interface PublishedKeys {
  readonly keys: readonly (JsonWebKey & { readonly kid?: string })[]
}
