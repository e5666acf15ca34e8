import type { OperationName } from '../operations.ts'

/** The measured operations, with their names in the table. */
export const companyOperations = {
  'client-credentials-opaque': 'client credentials, opaque',
  'client-credentials-es256': 'client credentials, JWT',
  introspection: 'introspection',
  userinfo: 'userinfo',
  refresh: 'refresh',
  'sign-in': 'authorization code',
} as const satisfies Partial<Record<OperationName, string>>

export type CompanyOperation = keyof typeof companyOperations

export const companyOperationNames = Object.keys(companyOperations) as readonly CompanyOperation[]

/** The medians of one operation. */
export interface Cost {
  /** CPU time of the process tree per request, in microseconds. */
  readonly cpu: number
  readonly requestsPerSecond: number
}

/** How many different tokens concurrent redemptions of one credential returned, in each race. */
export interface Races {
  readonly code: readonly number[]
  readonly refresh: readonly number[]
}

/** What was measured of one server. */
export interface CompanyFigures {
  readonly name: string
  readonly version: string
  readonly costs: Partial<Readonly<Record<CompanyOperation, Cost>>>
  /** Milliseconds from the start of the process to its first token. */
  readonly firstToken: number
  /** Resident bytes of the process tree before the load and after it. */
  readonly idleMemory: number
  readonly loadedMemory: number
  /** Bytes on disk. */
  readonly disk: number
  readonly races: Races
}

/** The content of `results.json`. */
export interface CompanyResults {
  readonly date: string
  readonly commit: string
  readonly command: string
  readonly machine: string
  /** Load averages. */
  readonly loadBefore: number
  readonly loadAfter: number
  readonly servers: readonly CompanyFigures[]
  /** Whether the tokens are of one user, or of different ones. */
  readonly owners: 'one' | 'different'
  /** Servers that were not measured, and why. */
  readonly leftOut: readonly string[]
}
