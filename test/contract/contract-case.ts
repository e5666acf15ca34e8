import type { WireRequest } from './wire-request.ts'

/** What earlier answers of the same case gave: a code, a token. */
export type Kept = Readonly<Record<string, string>>

/** What an answer must be. */
export interface Expected {
  /** One, or any of several where the RFC leaves a choice. */
  readonly status: number | readonly number[]
  /** In lower case. `undefined`: it must not be there. */
  readonly headers?: Readonly<Record<string, string | RegExp | undefined>>
  /** The body, byte for byte. */
  readonly body?: string
  /** The body as JSON, member by member; matchers of Vitest where a value differs from run to run. */
  readonly json?: unknown
  /** More than a comparison can say; it throws. */
  check?(body: string, kept: Kept): void
}

export interface Step {
  readonly send: WireRequest | ((kept: Kept) => WireRequest)
  readonly expect: Expected
  /** Members of the JSON to keep, under the name that later steps use. */
  readonly keep?: Readonly<Record<string, string>>
}

/** Requests and their answers, the same on every runtime. */
export interface ContractCase {
  readonly name: string
  /** It is about HTTP itself, so that no `Request` in the process can say it. */
  readonly wireOnly?: true
  readonly steps: readonly Step[]
}
