import { assertMembers } from './check.ts'
import type { CommonOptions } from './context.ts'
import type { Reason } from './refusal.ts'
import type { Formats } from './validate-token.ts'

/** A refusal, for logs. */
export interface Refusal {
  readonly reason: Reason
  readonly status: number
  /** The error of a fetch or of a function of the host that caused the refusal. */
  readonly cause?: unknown
}

/** The options of {@link createResourceServer}. */
export interface ResourceServerOptions extends CommonOptions, Formats {
  /** The claim that contains the scopes. Default: `scope`. */
  readonly scopeClaim?: string | undefined
  /** The `realm` of challenges. Default: none. */
  readonly realm?: string | undefined
  /** Receives every refusal. Its errors are ignored. */
  readonly onRefusal?: ((refusal: Refusal) => void) | undefined
}

const optionNames = [
  'issuer',
  'audience',
  'jwt',
  'introspection',
  'scopeClaim',
  'realm',
  'clockTolerance',
  'timeout',
  'fetch',
  'onRefusal',
  'now',
]

/** @throws TypeError for unknown options and a realm that would break the challenges */
export function assertOptions(options: ResourceServerOptions): void {
  assertMembers(options, optionNames, 'The options')
  if (options.realm === undefined || /^[ !#-[\]-~]+$/u.test(options.realm)) return
  throw new TypeError('realm must be printable ASCII without quotation marks and backslashes')
}
