import type { WireRequest } from './wire-request.ts'

/** Values kept from earlier responses of the same case, such as a code or a token. */
export type Kept = Readonly<Record<string, string>>

/** The expected response. */
export interface Expected {
  /** A list accepts any of its members: the RFC allows a choice. */
  readonly status: number | readonly number[]
  /** By lower-case name. `undefined`: the header must be absent. */
  readonly headers?: Readonly<Record<string, string | RegExp | undefined>>
  /** The body, byte for byte. */
  readonly body?: string
  /** The body as JSON, with Vitest matchers for values that differ between runs. */
  readonly json?: unknown
  /** Makes further assertions; throws if one fails. */
  check?(body: string, kept: Kept): void
}

export interface Step {
  readonly send: WireRequest | ((kept: Kept) => WireRequest)
  readonly expect: Expected
  /** Members of the JSON body to keep for later steps, by the name under which they are kept. */
  readonly keep?: Readonly<Record<string, string>>
}

/** A sequence of requests with the responses expected on every runtime. */
export interface ContractCase {
  readonly name: string
  /** Tests HTTP itself, so a `Request` in the same process cannot express it. */
  readonly wireOnly?: true
  readonly steps: readonly Step[]
}
